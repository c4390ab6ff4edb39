"""The order of a plan: interleaved, grouped by deployment, fair over the rounds."""

from collections import Counter

from nfvbed.compare import verdict
from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.plan.order import partners, rotated
from nfvbed.plan.plan import Plan, expand, pending
from nfvbed.plan.points import MANY_COMPARISONS
from nfvbed.records import CellRole, PortKind, Preset
from nfvbed.spec.experiment import Experiment
from nfvbed.spec.variant import Variant


def variant(
    name: str, kind: PortKind = PortKind.SIMULATED, topologies: tuple[str, ...] = ("p2p",), **options: object
) -> Variant:
    values = {"name": name, "title": name, "port_kind": kind, "topologies": topologies}
    return VariantModel.model_validate({**values, "options": options or {"dataplane": "simulated"}})


def plan_of(
    names: tuple[str, ...], ceilings: bool = True, needed: int = 5, purpose: str = "compare", mrr_trials: int = 1
) -> Plan:
    values = {"name": "e", "title": "e", "variants": names, "ceilings": ceilings, "frame_sizes": (64, 1518)}
    values |= {"purpose": purpose, "trials": {"mrr_trials": mrr_trials}}
    experiment = Experiment.model_validate({**values, "repetitions": {"needed": needed, "max_rounds": 12}})
    return expand(experiment, [variant(name) for name in names])


def test_cells_are_named_and_ceilings_come_first() -> None:
    plan = plan_of(("a", "b"))
    assert [cell.id for cell in plan.cells] == [
        "loopback:simulated/p2p/64",
        "loopback:simulated/p2p/1518",
        "reference:simulated/p2p/64",
        "reference:simulated/p2p/1518",
        "a/p2p/64",
        "a/p2p/1518",
        "b/p2p/64",
        "b/p2p/1518",
    ]
    roles = [plan.cell_by_id[trial.cell].role for trial in plan.round(1)]
    assert roles == [CellRole.LOOPBACK] * 2 + [CellRole.REFERENCE] * 2 + [CellRole.SUBJECT] * 12


def test_each_port_kind_has_its_ceilings() -> None:
    experiment = Experiment(name="e", title="e", variants=("a", "b", "c", "d", "e"), frame_sizes=(64,))
    kinds = (PortKind.MEMIF, PortKind.VHOST_USER, PortKind.MEMIF, PortKind.VETH, PortKind.VETH)
    plan = expand(experiment, [variant(name, kind) for name, kind in zip("abcde", kinds, strict=True)])
    ceilings = {cell.id: cell.variant for cell in plan.cells if cell.role is not CellRole.SUBJECT}
    assert ceilings == {
        "loopback:memif/p2p/64": "a",
        "reference:memif/p2p/64": "a",
        "loopback:vhost-user/p2p/64": "b",
        "loopback:veth/p2p/64": "d",
    }, "ports bound a comparison only of two that have the same kind and pass them as testpmd does"


def test_ports_that_are_set_otherwise_have_ceilings_of_their_own() -> None:
    experiment = Experiment(name="e", title="e", variants=("a", "b", "c", "d"), frame_sizes=(64,))
    variants = [
        variant("a", PortKind.VETH, dataplane="linux-bridge"),
        variant("b", PortKind.VETH, dataplane="linux-bridge", core_use="inline"),
        variant("c", PortKind.VETH, dataplane="linux-bridge", offloads=False),
        variant("d", PortKind.VHOST_USER, dataplane="ovs-dpdk", rx_queue_size=256),
    ]
    plan = expand(experiment, variants)
    loopbacks = {cell.id: cell.variant for cell in plan.cells if cell.role is CellRole.LOOPBACK}
    assert loopbacks == {
        "loopback:veth/p2p/64": "a",
        "loopback:veth-inline/p2p/64": "b",
        "loopback:veth-no-offloads/p2p/64": "c",
        "loopback:vhost-user-ring-256/p2p/64": "d",
    }


def test_sequences_count_up_and_keys_are_unique() -> None:
    plan = plan_of(("a", "b"))
    assert [trial.sequence for trial in plan.trials] == list(range(1, len(plan.trials) + 1))
    assert len({trial.key for trial in plan.trials}) == len(plan.trials)
    assert [trial.round for trial in plan.trials] == sorted(trial.round for trial in plan.trials)


def test_a_variant_is_deployed_once_a_round() -> None:
    plan = plan_of(("a", "b", "c"))
    for number in range(1, 13):
        keys = [key for key, _ in plan.by_deployment(plan.round(number))]
        assert len(keys) == len(set(keys)) == 5, "loopback, reference and three variants"


def test_a_visit_is_at_maximum_load_then_at_its_own_and_the_common_one() -> None:
    trials = [trial for trial in plan_of(("a", "b")).round(3) if not trial.cell.startswith(("loop", "ref"))]
    for visit in zip(trials[::3], trials[1::3], trials[2::3], strict=True):
        assert [trial.preset for trial in visit] == [Preset.MRR, Preset.PACED, Preset.COMMON]
        assert len({trial.cell for trial in visit}) == 1


def test_a_survey_and_a_variant_alone_have_no_common_load() -> None:
    for plan in (plan_of(("a", "b"), purpose="survey"), plan_of(("a",))):
        assert {trial.preset for trial in plan.trials} == {Preset.MRR, Preset.PACED}
        assert not plan.compared
        assert plan.needed("a/p2p/64") == 5
    plan = plan_of(("a", "b"), needed=3)
    assert (plan.needed("a/p2p/64"), plan.rounds) == (8, (8, 12))
    assert plan.needed("loopback:simulated/p2p/64") == 3, "as needed_ceilings says"


def test_no_variant_is_always_first() -> None:
    for names in (("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d")):
        plan = plan_of(names, ceilings=False)
        first = Counter(plan.by_deployment(plan.round(number))[0][0].variant for number in range(1, 13))
        assert set(first.values()) == {12 // len(names)}


def test_many_comparisons_have_the_last_look_alone() -> None:
    few, many = plan_of(("a", "b", "c", "d")), plan_of(("a", "b", "c", "d", "e"))
    assert (few.rounds, many.rounds) == ((8, 12), (12, 12))
    assert (few.expected("a/p2p/64"), many.expected("a/p2p/64")) == (8, 12)
    assert many.needed("a/p2p/64") == 8, "fewer are blocked, these are not"
    assert MANY_COMPARISONS == verdict.MANY_COMPARISONS


def test_two_variants_go_ab_then_ba_and_more_rotate() -> None:
    assert ["".join(partners("ab", number)) for number in range(1, 5)] == ["ab", "ba", "ab", "ba"]
    assert ["".join(partners("abc", number)) for number in range(1, 5)] == ["abc", "bca", "cab", "cba"]
    assert partners("", 1) == rotated("", 1) == ()


def test_a_missing_topology_is_not_applicable() -> None:
    experiment = Experiment(name="e", title="e", variants=("a", "b"), frame_sizes=(64,), ceilings=False)
    plan = expand(experiment, [variant("a"), variant("b", topologies=())])
    assert [cell.id for cell in plan.cells] == ["a/p2p/64"]
    assert [(cell.id, reason) for cell, reason in plan.absent] == [
        ("b/p2p/64", "variant b has no topology p2p; it has none")
    ]


def test_pending_keeps_the_order() -> None:
    plan = plan_of(("a",), ceilings=False)
    trials = plan.round(1)
    assert pending(trials, []) == trials
    assert pending(trials, [trials[1].key, (99, "x", Preset.MRR)]) == (trials[0], *trials[2:])


def test_the_same_experiment_gives_the_same_plan() -> None:
    assert plan_of(("a", "b")) == plan_of(("a", "b"))
