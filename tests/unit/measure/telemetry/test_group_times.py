"""Whose time it was, and of what kind; what is not known has bounds and no value."""

import pytest

from nfvbed.measure.telemetry.times import LEAST_TICKS, Span, Traffic, group_times
from nfvbed.records import Role
from tests.unit.measure.telemetry.telemetry_samples import (
    FRAMES,
    GENERATOR,
    PMD,
    SECOND,
    SWITCH,
    VNF,
    core,
    groups,
    readings,
    thread,
    traced,
    use,
)

TRAFFIC = Traffic(SECOND, FRAMES)
SENDER = {GENERATOR: use(SECOND, user=1000)}


def test_a_bridge_works_in_threads_of_the_kernel_and_its_softirqs():
    seen = traced(core({10: 600_000_000}, 150_000_000, {10: 100_000_000}), core({20: SECOND}))
    found = group_times(
        groups(SWITCH, GENERATOR), readings({SWITCH: use(1, system=1, kernel=True), **SENDER}, seen), TRAFFIC, True
    )["switch"]
    # 100 of the 150 ms of softirq were in the thread's own time, and are counted once.
    assert (found.user, found.system, found.softirq) == (Span(0.0), Span(500_000_000), Span(150_000_000))
    assert (found.total, found.reasons, found.ticks) == (650_000_000, (), None)


def test_a_single_vnf_has_its_threads_also_when_its_process_was_started_again():
    restarted = thread(Role.VNF, 77, 1)
    alone, *_ = [group for group in groups(SWITCH, restarted, vnfs=1) if group.label == "VNF 1"]
    assert alone.threads == (restarted,)
    several = [group for group in groups(SWITCH, restarted, vnfs=2) if group.role is Role.VNF]
    assert [group.threads for group in several] == [(), ()], "whose it is is not known"


def test_ticks_split_user_from_system_with_an_interval():
    seen = traced(core({11: SECOND}), core({20: SECOND}))
    uses = {PMD: use(SECOND, user=900, system=100), **SENDER}
    found = group_times(groups(PMD, GENERATOR), readings(uses, seen), TRAFFIC, True)["switch"]
    assert found.user.value == pytest.approx(0.9 * SECOND)
    assert found.system.value == pytest.approx(0.1 * SECOND)
    assert found.user.low is not None
    assert 0.87 * SECOND < found.user.low < 0.9 * SECOND
    assert (found.ticks, found.reasons) == (1000, ())


def test_too_few_ticks_say_so():
    uses = {PMD: use(SECOND, user=LEAST_TICKS - 1), **SENDER}
    seen = traced(core({11: SECOND}), core({20: SECOND}))
    found = group_times(groups(PMD, GENERATOR), readings(uses, seen), TRAFFIC, True)
    assert any("too few clock ticks" in reason for reason in found["switch"].reasons)
    assert found["generator"].reasons == ()


def test_without_a_tick_there_are_bounds_only():
    seen = traced(core({11: 3_000_000}), core({20: SECOND}))
    found = group_times(groups(PMD, GENERATOR), readings({PMD: use(3_000_000), **SENDER}, seen), TRAFFIC, True)
    assert found["switch"].user == Span(None, 0.0, 3_000_000)
    assert found["switch"].total is None


@pytest.mark.parametrize(("held", "user", "system"), [(True, 400, 200), (False, 300, 300)])
def test_softirqs_are_taken_from_the_time_that_their_ticks_were_counted_in(held: bool, user: int, system: int):
    seen = traced(core({11: 800_000_000}, 200_000_000, {11: 200_000_000}), core({20: SECOND}))
    uses = {PMD: use(800_000_000, user=500, system=500), **SENDER}
    found = group_times(groups(PMD, GENERATOR), readings(uses, seen), TRAFFIC, held)["switch"]
    assert (found.user.value, found.system.value) == (user * 1_000_000, system * 1_000_000)


def test_guest_time_is_no_user_time():
    seen = traced(core({11: SECOND}), core({20: SECOND}))
    uses = {PMD: use(SECOND, user=900, system=100, guest=800), **SENDER}
    found = group_times(groups(PMD, GENERATOR), readings(uses, seen), TRAFFIC, True)["switch"]
    assert found.guest.value == pytest.approx(0.8 * SECOND)
    assert found.user.value == pytest.approx(0.1 * SECOND)


def test_on_a_shared_core_softirq_has_bounds_and_no_value():
    seen = traced(core({11: SECOND}), core({20: SECOND // 2, 30: SECOND // 2}, 7_000))
    uses = {PMD: use(SECOND, user=1000), VNF: use(9, system=1), **SENDER}
    found = group_times(groups(PMD, VNF, GENERATOR, vnfs=1), readings(uses, seen), TRAFFIC, True)
    for label in ("VNF 1", "generator"):
        assert found[label].softirq == Span(None, 0.0, 7_000)
        assert any("not separable" in reason for reason in found[label].reasons)
    assert found["switch"].softirq == Span(0.0)
    # Not what the scheduler says (9 ns), which counts a part for the one that is woken.
    assert found["VNF 1"].system.value == SECOND / 2


def test_a_bridge_inside_of_the_senders_softirq_is_not_known_and_neither_is_the_senders_softirq():
    seen = traced(core({0: SECOND}), core({20: SECOND}, 600_000_000, {20: 600_000_000}))
    found = group_times(groups(GENERATOR), readings(SENDER, seen), TRAFFIC, True)
    assert found["switch"].total is None
    assert found["switch"].user == Span(None)
    assert "the sender of its frames" in found["switch"].reasons[0]
    assert found["generator"].softirq == Span(None, 0.0, 600_000_000)


def test_a_bridge_in_softirqs_of_a_core_of_its_own_is_known():
    seen = traced(core({0: SECOND}, 600_000_000), core({20: SECOND}))
    found = group_times(groups(GENERATOR), readings(SENDER, seen), TRAFFIC, True)["switch"]
    assert (found.softirq, found.total) == (Span(600_000_000), 600_000_000)


def test_a_kernel_vnf_that_others_work_for_hides_the_bridge_as_well():
    seen = traced(core({10: SECOND}), core({20: SECOND}, 500_000_000))
    uses = {SWITCH: use(SECOND, kernel=True), VNF: use(0, kernel=True), **SENDER}
    found = group_times(groups(SWITCH, VNF, GENERATOR, vnfs=1), readings(uses, seen), TRAFFIC, True)
    assert found["VNF 1"].total is None
    assert found["switch"].total is None


def test_a_trace_with_gaps_gives_no_time():
    seen = traced(core({11: 5}, 100), core({20: 5}), lost=3)
    uses = {PMD: use(SECOND, user=1000), **SENDER}
    found = group_times(groups(PMD, GENERATOR), readings(uses, seen), TRAFFIC, True)["switch"]
    assert found.softirq == Span(None, low=100.0)
    assert found.user.value == SECOND
    assert "no place in the trace buffer" in found.reasons[0]


def test_without_a_trace_times_on_a_shared_core_are_only_about_right():
    uses = {PMD: use(SECOND, user=1000), VNF: use(SECOND // 2, system=500), **SENDER}
    found = group_times(groups(PMD, VNF, GENERATOR, vnfs=1), readings(uses), TRAFFIC, True)
    assert any("only about right" in reason for reason in found["VNF 1"].reasons)
    assert not any("only about right" in reason for reason in found["switch"].reasons)
    assert found["switch"].softirq == Span(None)


def test_a_poller_is_counted_in_the_trial_alone():
    seen = traced(core({11: 2 * SECOND}), core({20: SECOND}))
    uses = {PMD: use(2 * SECOND, user=1000), **SENDER}
    found = group_times(groups(PMD, GENERATOR), readings(uses, seen, window_ns=2 * SECOND), TRAFFIC, True)
    assert found["switch"].user.value == SECOND


def test_a_thread_that_ended_leaves_its_group_without_times():
    found = group_times(groups(PMD, GENERATOR), readings(SENDER, traced(core({}), core({20: SECOND}))), TRAFFIC, True)
    assert found["switch"].total is None
    assert "ended" in found["switch"].reasons[0]
