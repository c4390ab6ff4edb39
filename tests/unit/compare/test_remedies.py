"""Advice depends on what was done: the host's cores, who shared one, the governor, the VNF, how the run ended."""

from functools import cache
from typing import Any

import pytest

from nfvbed.compare.advice.advice import ADVICE, advice_for
from nfvbed.compare.advice.remedies import REMEDIES, MeasuredConditions, advise, done
from nfvbed.compare.comparison import compare
from nfvbed.compare.rows.rowwarnings import WarningCount
from nfvbed.records import QualityWarning, Status
from tests.sample_records import BRIDGE, PVP, Scenario, build


@cache
def row():
    return compare([build(Scenario(systems=(BRIDGE, *PVP[:1]), far_rounds=(), changing=()))]).rows[-1]


ARRANGEMENT = {"switch_cores": [0], "generator_core": 1, "control_cores": [1]}
SHARED = {"kind": "process", "cores": [[1]], "shares_core": [True]}


def host(cores: int, **more: Any) -> dict[str, Any]:
    return {"topology": {"allowed": list(range(cores)), "isolated": [], "nodes": [list(range(cores))]}} | more


def what(
    cores: int = 2, vnf: dict[str, Any] | None = None, status: Status | None = Status.OK, **more: Any
) -> MeasuredConditions:
    return done(row(), host(cores, **more), {"arrangement": ARRANGEMENT, "vnf": vnf or SHARED}, status)


def remedy(kind: QualityWarning, *carriers: MeasuredConditions) -> str:
    return advise(kind, carriers).remedy


def test_shared_cores_on_a_host_with_too_few_and_on_one_with_more():
    few, many = remedy(QualityWarning.CORES_SHARED, what(2)), remedy(QualityWarning.CORES_SHARED, what(16))
    assert "has 2 cores" in few and "wants 4" in few and "larger host" in few
    assert "14 of them without work" in many and "arrangement" in many


def test_unsent_frames_where_a_vnf_sat_on_the_generators_core():
    assert "core 1 and kept it from sending" in remedy(QualityWarning.UNSENT, what())
    own = what(4, {"kind": "process", "cores": [[2]], "shares_core": [False]})
    assert "isolcpus=1" in remedy(QualityWarning.UNSENT, own)
    alone = done(row(), host(2), {"arrangement": ARRANGEMENT}, Status.OK)
    assert "also serves the switch's management" in remedy(QualityWarning.UNSENT, alone)


def test_offloads_by_the_kind_of_vnf():
    process, guest = what(), what(vnf=SHARED | {"kind": "vm"})
    assert "deploy" not in remedy(QualityWarning.OFFLOADS_ON, process)
    assert "all ports of linux-bridge" in remedy(QualityWarning.OFFLOADS_ON, process)
    assert "guest's NICs" in remedy(QualityWarning.OFFLOADS_ON, guest)
    both = remedy(QualityWarning.OFFLOADS_ON, process, guest, process)
    assert both.count("all ports of linux-bridge") == 1 and "guest's NICs" in both


@pytest.mark.parametrize(
    ("governors", "text"),
    [(["powersave"], "governor is powersave"), (["performance"], "turbo off"), ([], "does not let its frequency")],
)
def test_frequency_by_the_governor(governors: list[str], text: str):
    assert text in remedy(QualityWarning.FREQUENCY_CHANGED, what(governor=governors))


def test_stolen_time_in_a_virtual_machine_whose_cores_all_work():
    text = remedy(QualityWarning.CPU_STOLEN, what(2, cpu={"hypervisor": "yes"}))
    assert "all 2 cores" in text and "hypervisor" in text
    assert "isolcpus=0-1 " in remedy(QualityWarning.CPU_STOLEN, what(8))


def test_cores_that_are_isolated_already_stay_so():
    """The kernel's parameter is one list: who names the new cores alone takes it away from the others."""
    topology = {"allowed": list(range(8)), "isolated": [4, 5], "nodes": [list(range(8))]}
    assert "isolcpus=0-1,4-5 nohz_full=0-1,4-5" in remedy(QualityWarning.CPU_STOLEN, what(8, topology=topology))
    own = what(8, {"kind": "process", "cores": [[2]], "shares_core": [False]}, topology=topology)
    assert "isolcpus=1,4-5)" in remedy(QualityWarning.UNSENT, own)


def test_too_few_repetitions_by_how_the_run_ended():
    assert "--resume" in remedy(QualityWarning.TOO_FEW_REPETITIONS, what(status=Status.BLOCKED))
    assert "--resume" not in remedy(QualityWarning.TOO_FEW_REPETITIONS, what())


def test_scatter_that_another_warning_explains():
    stolen = WarningCount(kind=QualityWarning.CPU_STOLEN, trials=1, of=5)
    carrier = what().model_copy(update={"row": row().model_copy(update={"warnings": (stolen,)})})
    assert "carries cpu-stolen" in remedy(QualityWarning.UNSTABLE, carrier)
    assert remedy(QualityWarning.UNSTABLE, what()) == advice_for(QualityWarning.UNSTABLE).remedy


@pytest.mark.parametrize("kind", list(QualityWarning))
def test_where_nothing_is_known_the_advice_is_the_general_one_or_a_whole_sentence(kind: QualityWarning):
    bare = done(row(), {}, {"arrangement": "simulated"}, None)
    assert advise(kind, ()) == ADVICE[kind]
    assert advise(kind, [bare]).meaning == ADVICE[kind].meaning
    assert advise(kind, [bare]).remedy.endswith(".")
    assert advise(kind, [what()]).remedy.endswith(".")
    assert set(REMEDIES) <= set(ADVICE)
