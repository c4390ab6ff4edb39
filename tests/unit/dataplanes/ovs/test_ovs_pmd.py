"""What poll-mode threads have counted, as released Open vSwitches write it (tests/unit/dataplanes/ovs/captured)."""

import re
from pathlib import Path

import pytest

from nfvbed.dataplanes.ovs import pmd
from nfvbed.dataplanes.ovs.pmd import parse_performance, parse_statistics, statistics_of_performance
from nfvbed.dataplanes.ovs.telemetry import thread_row
from nfvbed.errors import InternalError
from tests.unit.dataplanes.ovs.releases import CAPTURED, VERSIONS, answer

WITH_STATISTICS = VERSIONS[:3]
"""They have pmd-stats-show as a command of its own."""


@pytest.fixture(name="switch")
def _switch(monkeypatch):
    """Let a release answer; what it was asked is in the list."""
    asked = []

    def of(version, **instead):
        def command(socket, name, *arguments):
            asked.append(name)
            name = name.rpartition("/")[2]
            return instead.get(name.replace("-", "_")) or answer(version, name)

        monkeypatch.setattr(pmd.unixctl, "command", command)
        return asked

    return of


def test_statistics_of_a_loaded_thread():
    (thread,) = parse_statistics((CAPTURED / "pmd-stats-show.txt").read_text())
    assert (thread.core, thread.numa) == (0, 0)
    assert thread.packets == 3_107_456
    assert thread.simple_match_hits == 3_107_360
    assert thread.megaflow_hits == 62
    assert (thread.upcalls, thread.failed_upcalls) == (2, 0)
    assert thread.idle_cycles == 71_786_257_134
    assert thread.busy_cycles == 1_024_184_546
    assert thread.rounding_cycles is None


def test_cycles_below_zero_are_read_as_such():
    """As Open vSwitch 3.1 wrote them on two cores that ten programs shared."""
    text = (CAPTURED / "pmd-stats-show.txt").read_text().replace("1024184546", "18446744070566413339")
    (thread,) = parse_statistics(text)
    assert thread.busy_cycles == -3_143_138_277


@pytest.mark.parametrize("version", WITH_STATISTICS)
def test_exact_counts_where_a_command_gives_them(switch, version):
    asked = switch(version)
    (thread,) = pmd.read_statistics(Path("socket"))
    assert asked == ["list-commands", pmd.STATISTICS]
    assert pmd.source_of((thread,)) == pmd.SOURCE
    assert thread.rounding_cycles is None
    assert thread.packets > 10_000_000


def test_4_0_is_asked_for_performance_and_says_how_far_it_rounds(switch):
    asked = switch("4.0.0")
    (thread,) = pmd.read_statistics(Path("socket"))
    assert asked == ["list-commands", pmd.PERFORMANCE]
    assert pmd.source_of((thread,)) == pmd.ROUNDED_SOURCE
    assert (thread.packets, thread.recirculations) == (109_437_476, 0)
    assert (thread.simple_match_hits, thread.megaflow_hits) == (109_437_059, 33)
    assert (thread.upcalls, thread.failed_upcalls) == (3, 381)
    assert thread.busy_cycles + thread.idle_cycles == 34_855_596_490
    # 92.2 % of all cycles, and 294 for each packet.
    assert abs(thread.busy_cycles - 0.922 * 34_855_596_490) <= 0.0005 * 34_855_596_490
    assert abs(thread.busy_cycles / thread.packets - 294) <= 0.5
    assert 0 < thread.rounding_cycles <= 0.0005 * 34_855_596_490 + 1


@pytest.mark.parametrize("version", WITH_STATISTICS)
def test_what_is_rounded_holds_what_is_exact(version):
    """Both commands ran within milliseconds: the cycles of a packet differ by less than the rounding and that."""
    (exact,) = parse_statistics(answer(version, "pmd-stats-show"))
    (rounded,) = statistics_of_performance(answer(version, "pmd-perf-show"))
    open_by = rounded.rounding_cycles / rounded.packets
    assert abs(rounded.busy_cycles / rounded.packets - exact.busy_cycles / exact.packets) <= open_by + 0.005 * (
        exact.busy_cycles / exact.packets
    )
    names = ("emc_hits", "smc_hits", "simple_match_hits", "megaflow_hits", "packets")
    for name in names:
        assert getattr(exact, name) <= getattr(rounded, name) <= getattr(exact, name) * 1.01 + 1


@pytest.mark.parametrize("version", VERSIONS)
def test_an_idle_thread_has_counted_nothing_and_no_busy_cycle(switch, version):
    performance = answer(version, "pmd-perf-show-idle")
    switch(version, pmd_stats_show=answer(version, "pmd-stats-show-idle"), pmd_perf_show=performance)
    (thread,) = pmd.read_statistics(Path("socket"))
    assert (thread.packets, thread.busy_cycles, thread.failed_upcalls) == (0, 0, 0)
    assert thread.idle_cycles > 1_000_000_000
    assert not thread.rounding_cycles
    (loop,) = parse_performance(performance)
    assert (loop.rx_packets, loop.tx_batches, loop.busy_iterations) == (0, 0, 0)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_main_thread_is_left_out(version):
    """In these recordings it had packets."""
    shown = answer(version, "pmd-perf-show" if version == "4.0.0" else "pmd-stats-show")
    assert re.search(r"main thread:\s+(?:packets received|Rx packets):\s+[1-9]", shown)
    assert [thread.core for thread in parse_performance(answer(version, "pmd-perf-show"))] == [0]
    read = statistics_of_performance if version == "4.0.0" else parse_statistics
    assert [thread.core for thread in read(shown)] == [0]


@pytest.mark.parametrize("version", VERSIONS)
def test_two_threads(version):
    text = answer(version, "pmd-perf-show")
    both = statistics_of_performance(text.replace("core_id 0", "core_id 5") + text)
    assert [thread.core for thread in both] == [5, 0]


def test_a_thread_that_was_cleared_this_millisecond_is_asked_again(switch, monkeypatch):
    """Open vSwitch 4.0 then writes its name alone: no counts, which are not zeros."""
    nothing = "\nTime: 14:24:27.646\nMeasurement duration: 0.000 s\n\npmd thread numa_id 0 core_id 0:\n\n\n"
    answers = iter([answer("4.0.0", "list-commands"), nothing, answer("4.0.0", "pmd-perf-show")])
    monkeypatch.setattr(pmd.unixctl, "command", lambda socket, name: next(answers))
    assert pmd.read_statistics(Path("socket"))[0].packets == 109_437_476
    with pytest.raises(InternalError):
        statistics_of_performance(nothing)


def test_counts_that_contradict_each_other_are_read_again(switch, monkeypatch):
    """Open vSwitch reads them one by one, and the thread goes on: here with ten times its packets before its cycles."""
    good = answer("4.0.0", "pmd-perf-show")
    torn = good.replace("109437476", "1094374760")
    assert torn != good
    with pytest.raises(InternalError, match="contradicts itself"):
        statistics_of_performance(torn)
    answers = iter([answer("4.0.0", "list-commands"), torn, good])
    monkeypatch.setattr(pmd.unixctl, "command", lambda socket, name: next(answers))
    assert pmd.read_statistics(Path("socket"))[0].packets == 109_437_476
    # One that always does is another form than is known.
    monkeypatch.setattr(pmd.unixctl, "command", lambda socket, name: "  list-commands" if "list" in name else torn)
    with pytest.raises(InternalError, match="contradicts itself"):
        pmd.read_statistics(Path("socket"))


def test_a_thread_that_has_not_run_has_no_cycles():
    text = (CAPTURED / "pmd-stats-show.txt").read_text()
    (thread,) = parse_statistics("\n".join(line for line in text.splitlines() if "cycles" not in line))
    assert (thread.idle_cycles, thread.busy_cycles) == (0, 0)


@pytest.mark.parametrize(
    ("read", "name", "line"),
    [
        (parse_statistics, "pmd-stats-show", "packets received"),
        (statistics_of_performance, "pmd-perf-show", "EMC hits"),
        (statistics_of_performance, "pmd-perf-show", "Used TSC cycles"),
        (statistics_of_performance, "pmd-perf-show", "of used cycles"),
        (statistics_of_performance, "pmd-perf-show", "cycles/pkt"),
        (parse_performance, "pmd-perf-show", "busy iterations"),
    ],
)
def test_a_figure_that_is_missing_is_no_zero(read, name, line):
    with pytest.raises(InternalError, match="lacks|no line"):
        read(answer("3.5.0", name).replace(line, "something"))


def test_figures_that_contradict_each_other_are_an_error():
    with pytest.raises(InternalError, match="contradicts"):
        statistics_of_performance(answer("4.0.0", "pmd-perf-show").replace("294 cycles/pkt", "100 cycles/pkt"))


def test_no_threads():
    assert parse_statistics("main thread:\n  packets received: 0\n") == ()


def test_roundings_of_two_readings_add_up():
    (last,) = statistics_of_performance(answer("4.0.0", "pmd-perf-show"))
    (first,) = statistics_of_performance(answer("4.0.0", "pmd-stats-show"))
    between = last.since(first)
    assert (between.core, between.packets) == (0, 120_096)
    assert between.rounding_cycles == last.rounding_cycles + first.rounding_cycles


def test_a_row_says_what_its_figures_leave_open():
    text = answer("4.0.0", "pmd-perf-show")
    (statistics,), (loop,) = statistics_of_performance(text), parse_performance(text)
    row = thread_row(statistics, loop)
    assert row.parameters["source"] == pmd.ROUNDED_SOURCE
    busy, cycles = row.quantities
    assert busy.low < 92.2 < busy.high
    assert cycles.low <= cycles.value <= cycles.high
    assert cycles.high - cycles.low < 1


def test_performance_of_a_loaded_thread():
    (thread,) = parse_performance((CAPTURED / "pmd-perf-show.txt").read_text())
    assert thread.iterations == 400_055_599
    assert thread.busy_iterations == 54_989
    assert (thread.rx_packets, thread.tx_packets, thread.tx_batches) == (3_173_568, 3_173_568, 99_174)


def test_performance_of_an_idle_thread():
    (thread,) = parse_performance((CAPTURED / "pmd-perf-show-idle.txt").read_text())
    assert (thread.rx_packets, thread.tx_batches, thread.lost_upcalls) == (0, 0, 0)
