"""From what was traced on a core to times."""

from nfvbed.measure.telemetry.tracedtimes import traced_times
from nfvbed.measure.telemetry.tracing import Kind, TraceEvent

RX, TIMER = 3, 1


def begin(time_ns: int, vector: int = RX, tid: int = 7) -> TraceEvent:
    return TraceEvent(time_ns, Kind.BEGIN, vector, tid)


def end(time_ns: int, vector: int = RX, tid: int = 7) -> TraceEvent:
    return TraceEvent(time_ns, Kind.END, vector, tid)


def switch(time_ns: int, tid: int, following: int) -> TraceEvent:
    return TraceEvent(time_ns, Kind.SWITCH, following, tid)


def times(*events: TraceEvent, lost: int = 0):
    return traced_times({0: events}, (0, 1000), lost)


def test_softirqs_by_kind_and_by_thread():
    found = times(begin(10), end(30), begin(40, TIMER), end(45, TIMER), begin(50), end(51))
    core = found.cores[0]
    assert core.by_vector == {"NET_RX": 21, "TIMER": 5}
    assert core.softirq_by_thread == {7: 26}
    assert (core.network_ns, core.softirqs) == (21, 3)
    assert (found.softirq_in_thread(7), found.softirq_in_thread(8)) == (26, 0)
    assert (found.network_ns(frozenset({0})), found.network_ns(frozenset({1}))) == (21, 0)


def test_threads_take_turns_on_the_core():
    found = times(begin(10), end(30), switch(100, 7, 8), switch(400, 8, 0), switch(900, 0, 7))
    assert found.cores[0].on_core == {7: 200, 8: 300, 0: 500}
    assert found.of_thread(7) == 200
    assert found.cores[0].switches == 3


def test_a_thread_that_never_leaves_has_the_whole_window():
    assert times(begin(10), end(20)).cores[0].on_core == {7: 1000}


def test_what_had_begun_before_and_what_had_not_ended_is_cut_at_the_window():
    assert times(end(20), begin(30), end(40), begin(990)).cores[0].by_vector == {"NET_RX": 20 + 10 + 10}


def test_a_kind_that_is_not_known_keeps_its_number():
    assert times(begin(1, 42), end(2, 42)).cores[0].by_vector == {"vector 42": 1}


def test_lost_events_are_reported():
    assert times(lost=3).lost == 3


def test_a_core_of_which_nothing_is_known():
    core = times().cores[0]
    assert (core.network_ns, core.on_core) == (0, {})
