"""Counters of threads: what is there is counted on this machine, what is not says why."""

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfvbed.errors import UnsupportedError
from nfvbed.measure.telemetry import perf

NOBODY = 2**22 + 1


@pytest.fixture
def counted() -> Iterator[perf.PerfCounters]:
    # A container's seccomp, or perf_event_paranoid without root, refuses them; `make test` as root has them.
    if perf.probe((perf.CONTEXT_SWITCHES,)).refused:
        pytest.skip(f"not even the kernel's own counts: {perf.probe((perf.CONTEXT_SWITCHES,)).reason}")
    with perf.PerfCounters([os.getpid()], [perf.CONTEXT_SWITCHES]) as counters:
        yield counters


def test_what_happens_while_it_counts_is_counted(counted: perf.PerfCounters):
    time.sleep(0.002)
    assert counted.read() == {(os.getpid(), "context switches"): 0}
    counted.start()
    for _ in range(5):
        time.sleep(0.001)
    counted.stop()
    first = counted.read()[os.getpid(), "context switches"]
    time.sleep(0.002)
    assert first is not None
    assert first >= 5
    assert counted.read()[os.getpid(), "context switches"] == first


def test_an_event_that_no_machine_has_is_refused_with_a_reason_and_a_fix():
    support = perf.probe((perf.PerfEvent("nonsense", 2**31, 0),))
    assert support.events == ()
    assert "nonsense" in support.reason
    assert support.fix


def test_a_machine_without_a_pmu_says_so_and_one_with_it_counts():
    support = perf.probe()
    refused = [name for names in support.refused for name in names.split(", ")]
    able = [event.name for event in support.events]
    assert sorted(able + refused) == sorted(event.name for event in perf.HARDWARE_EVENTS), "each is in one of them"
    if not any(Path("/sys/bus/event_source/devices").glob("cpu*")):
        assert able == [], "nothing counts them here"
        assert "no PMU" in support.reason or "permitted" in support.reason
    elif perf.INSTRUCTIONS in support.events:
        with perf.PerfCounters([os.getpid()], [perf.INSTRUCTIONS]) as counters:
            counters.start()
            sum(range(100_000))
            counters.stop()
            assert (counters.read()[os.getpid(), "instructions"] or 0) > 100_000


@pytest.mark.parametrize(
    ("number", "words", "fix"),
    [(errno.ENOENT, "no PMU counts it", "with a PMU"), (errno.EACCES, "Permission denied", "perf_event_paranoid")],
)
def test_events_that_the_kernel_refuses_are_not_taken_for_able(monkeypatch, number, words, fix):
    def only_instructions(event: perf.PerfEvent, tid: int) -> int:
        if event is perf.INSTRUCTIONS:
            return os.open("/dev/null", os.O_RDONLY)
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(perf, "_open", only_instructions)
    support = perf.probe()
    assert support.events == (perf.INSTRUCTIONS,)
    assert list(support.refused) == ["cycles, dTLB misses, iTLB misses, LLC misses"], "reported once"
    assert words in support.reason
    assert fix in support.fix


def test_a_thread_that_is_gone_is_named(counted: perf.PerfCounters):
    with pytest.raises(UnsupportedError, match="has ended"):
        perf.PerfCounters([NOBODY], [perf.CONTEXT_SWITCHES])


def test_counters_that_took_turns_are_scaled():
    assert perf._scaled(perf._READING.pack(100, 1000, 250)) == 400
    assert perf._scaled(perf._READING.pack(0, 1000, 0)) is None
    assert perf._scaled(perf._READING.pack(0, 0, 0)) == 0
