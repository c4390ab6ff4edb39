"""CPU time by role and by kind: what is known by kind adds up to the cores, and what is not stays whole."""

from functools import cache
from typing import Any

import pytest

from nfvbed.compare.rows.cost import cpu_use
from nfvbed.records import NOT_SEPARABLE, CpuTime, Role, TrialRecord
from tests.sample_records import OVS, Scenario, build


@cache
def built():
    return build(Scenario(systems=(OVS,))).trials[0].model_copy(update={"duration_ns": 1000})


def time(role: Role, **ns: Any) -> CpuTime:
    return CpuTime(role=role, core=0, **{"system_ns": 0, "softirq_ns": 0, **ns}, source="made up")


def trial(*times: CpuTime) -> TrialRecord:
    return built().model_copy(update={"cpu": times})


def test_kinds_add_up_to_the_cores_of_their_role():
    switch = time(Role.SWITCH, user_ns=0, system_ns=300, softirq_ns=500, busy_ns=800)
    found = cpu_use([trial(switch, time(Role.GENERATOR, user_ns=990, system_ns=10, busy_ns=1000))])
    assert found.switch == pytest.approx(0.8) and found.vnf is None
    assert found.splits[Role.SWITCH].model_dump() == pytest.approx(
        {"user": 0, "guest": 0, "system": 0.3, "softirq": 0.5}
    )
    assert found.splits[Role.GENERATOR].user == pytest.approx(0.99)
    assert Role.VNF not in found.splits


def test_softirq_that_is_no_part_of_what_was_busy_is_not_added():
    poller = time(Role.SWITCH, user_ns=1000, softirq_ns=40, busy_ns=1000)
    assert cpu_use([trial(poller)]).splits[Role.SWITCH].softirq == 0


def test_the_time_of_guests_is_taken_off_the_users():
    found = cpu_use([trial(time(Role.VNF, user_ns=700, system_ns=100, guest_ns=650, busy_ns=800))])
    assert found.splits[Role.VNF].model_dump() == pytest.approx(
        {"user": 0.05, "guest": 0.65, "system": 0.1, "softirq": 0}
    )


def test_cores_are_the_median_and_kinds_those_of_all_trials_together():
    found = cpu_use([trial(time(Role.SWITCH, user_ns=n, system_ns=n, busy_ns=2 * n)) for n in (100, 200, 450)])
    assert found.switch == pytest.approx(0.4)
    assert found.splits[Role.SWITCH].user == found.splits[Role.SWITCH].system == pytest.approx(0.2)


@pytest.mark.parametrize("unknown", ["user_ns", "system_ns", "guest_ns"])
def test_a_role_of_which_one_trial_is_not_known_by_kind_is_whole(unknown: str):
    known = {"user_ns": 500, "busy_ns": 500}
    found = cpu_use([trial(time(Role.VNF, **known)), trial(time(Role.VNF, **known | {unknown: NOT_SEPARABLE}))])
    assert found.vnf == pytest.approx(0.5) and not found.splits


def test_what_cannot_be_separated_has_no_kinds():
    none = dict.fromkeys(("user_ns", "system_ns", "softirq_ns", "busy_ns"), NOT_SEPARABLE)
    found = cpu_use([trial(time(Role.SWITCH, **none))])
    assert found.switch == NOT_SEPARABLE and not found.splits


def test_a_role_that_did_nothing_has_no_kinds():
    found = cpu_use([trial(time(Role.SWITCH, user_ns=0, busy_ns=0))])
    assert found.switch == 0 and not found.splits
