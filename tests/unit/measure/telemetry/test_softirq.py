"""From begins and ends to times."""

from nfvbed.measure.telemetry.softirq import softirq_times
from nfvbed.measure.telemetry.tracing import SoftirqEvent, Trace

RX, TIMER = 3, 1


def begin(time_ns: int, vector: int = RX, tid: int = 7) -> SoftirqEvent:
    return SoftirqEvent(time_ns, True, vector, tid)


def end(time_ns: int, vector: int = RX, tid: int = 7) -> SoftirqEvent:
    return SoftirqEvent(time_ns, False, vector, tid)


def times(*events: SoftirqEvent, lost: int = 0):
    return softirq_times(Trace({0: events}, lost), (0, 1000))


def test_time_by_kind_and_by_thread():
    found = times(begin(10), end(30), begin(40, TIMER, 0), end(45, TIMER, 0), begin(50), end(51))
    core = found.cores[0]
    assert core.by_vector == {"NET_RX": 21, "TIMER": 5}
    assert core.by_thread == {7: 21, 0: 5}
    assert (core.network_ns, core.total_ns, core.count) == (21, 26, 3)
    assert (found.in_thread(7), found.in_thread(8)) == (21, 0)


def test_what_had_begun_before_and_what_had_not_ended_is_cut_at_the_window():
    core = times(end(20), begin(30), end(40), begin(990)).cores[0]
    assert core.by_vector == {"NET_RX": 20 + 10 + 10}


def test_a_kind_that_is_not_known_keeps_its_number():
    assert times(begin(1, 42), end(2, 42)).cores[0].by_vector == {"vector 42": 1}


def test_lost_events_are_told():
    assert times(lost=3).lost == 3


def test_a_quiet_core():
    assert times().cores[0].total_ns == 0
