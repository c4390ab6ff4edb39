"""The text of the PMD commands, captured from Open vSwitch 3.1.0."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.ovs.pmd import parse_performance, parse_statistics
from nfvbed.errors import InternalError

CAPTURED = Path(__file__).parent / "captured"


def test_statistics_of_a_loaded_thread():
    (thread,) = parse_statistics((CAPTURED / "pmd-stats-show.txt").read_text())
    assert (thread.core, thread.numa) == (0, 0)
    assert thread.packets == 3_107_456
    assert thread.simple_match_hits == 3_107_360
    assert thread.megaflow_hits == 62
    assert (thread.upcalls, thread.failed_upcalls) == (2, 0)
    assert thread.idle_cycles == 71_786_257_134
    assert thread.busy_cycles == 1_024_184_546


def test_two_threads_and_the_main_thread_is_left_out():
    one = (CAPTURED / "pmd-stats-show.txt").read_text()
    threads = parse_statistics(one.replace("core_id 0", "core_id 5") + one)
    assert [thread.core for thread in threads] == [5, 0]


def test_a_thread_that_has_not_run_has_no_cycles():
    text = (CAPTURED / "pmd-stats-show.txt").read_text()
    (thread,) = parse_statistics("\n".join(line for line in text.splitlines() if "cycles" not in line))
    assert (thread.idle_cycles, thread.busy_cycles) == (0, 0)


def test_a_count_that_is_missing_is_no_zero():
    text = (CAPTURED / "pmd-stats-show.txt").read_text().replace("packets received", "packets seen")
    with pytest.raises(InternalError, match="lacks packets"):
        parse_statistics(text)


def test_no_threads():
    assert parse_statistics("main thread:\n  packets received: 0\n") == ()


def test_performance_of_a_loaded_thread():
    (thread,) = parse_performance((CAPTURED / "pmd-perf-show.txt").read_text())
    assert thread.iterations == 400_055_599
    assert thread.busy_iterations == 54_989
    assert (thread.rx_packets, thread.tx_packets, thread.tx_batches) == (3_173_568, 3_173_568, 99_174)


def test_performance_of_an_idle_thread():
    (thread,) = parse_performance((CAPTURED / "pmd-perf-show-idle.txt").read_text())
    assert (thread.rx_packets, thread.tx_batches, thread.lost_upcalls) == (0, 0, 0)
