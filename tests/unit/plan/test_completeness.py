"""When it is enough: rounds of the MRR, and repetitions of other tests in one common placement class."""

import random
from collections.abc import Sequence

import pytest

from nfvbed.plan.completeness import CompletedTest, CompletedTrial, Completeness, completeness
from nfvbed.plan.estimate import Overheads, length_s, shortest
from nfvbed.plan.plan import Plan, expand
from nfvbed.records import CoreDistance, PortKind, Preset
from nfvbed.records.results import ResultKind
from nfvbed.spec.experiment import Experiment
from tests.unit.plan.test_expand import plan_of, variant

NEAR = CoreDistance(before=30, after=30)
FAR = CoreDistance(before=150, after=150)
CHANGED = CoreDistance(before=30, after=150)


def classify(distances: Sequence[CoreDistance | None]) -> list[str]:
    return [
        "single" if d is None else {30.0: "near", 150.0: "far"}[d.before] if d.before == d.after else "mixed"
        for d in distances
    ]


def done(plan: Plan, rounds: Sequence[tuple[int, CoreDistance | None]], only: str = "") -> list[CompletedTrial]:
    return [
        CompletedTrial(number, trial.cell, trial.preset, distance)
        for number, distance in rounds
        for trial in plan.round(number)
        if only in trial.cell
        for _ in range(plan.trials_of(trial.preset))
    ]


def curves(cells: Sequence[str], rounds: Sequence[tuple[int, CoreDistance | None]]) -> list[CompletedTest]:
    return [
        CompletedTest(number, cell, "loss-curve", ResultKind.LOSS_CURVE, "", (distance,))
        for number, distance in rounds
        for cell in cells
    ]


def stand(
    plan: Plan, trials: Sequence[CompletedTrial], without: Sequence[str] = (), tests: Sequence[CompletedTest] = ()
) -> Completeness:
    return completeness(plan, trials, classify, without, tests)


def survey(names: tuple[str, ...], needed: int = 2, **experiment: object) -> Plan:
    values = {"name": "e", "title": "e", "variants": names, "frame_sizes": (64,), "purpose": "survey"}
    values |= {"ceilings": False, "repetitions": {"needed": needed}, "trials": {"mrr_trials": 1}}
    return expand(Experiment.model_validate({**values, **experiment}), [variant(name) for name in names])


def test_nothing_measured_yet() -> None:
    found = stand(survey(("a", "b")), [])
    assert not found.enough
    assert found.placement == "single"
    assert {cell: lack.text for cell, lack in found.missing.items()} == dict.fromkeys(
        ("a/p2p/64", "b/p2p/64"), "0 of 2 rounds"
    )
    assert found.rounds_missing == 2


def test_a_survey_counts_rounds_whatever_their_class() -> None:
    plan = survey(("a", "b"))
    assert not stand(plan, done(plan, [(1, NEAR)])).enough
    found = stand(plan, done(plan, [(1, NEAR), (2, CHANGED)]))
    assert found.enough
    assert (found.classes, found.mixed, found.pairs) == (("near",), len(plan.round(2)), {})


def test_a_visit_has_all_its_trials_at_maximum_load_and_the_paced_one_is_not_waited_for() -> None:
    plan = survey(("a",), needed=1, trials={"mrr_trials": 3})
    trials = [trial for trial in done(plan, [(1, NEAR)]) if trial.preset is Preset.MRR]
    assert len(trials) == 3
    assert stand(plan, trials).enough
    assert stand(plan, trials[:2]).missing["a/p2p/64"].text == "0 of 1 rounds"


def test_a_comparison_counts_the_rounds_that_two_share() -> None:
    plan = plan_of(("a", "b"), ceilings=False, mrr_trials=3)
    seven = [(number, NEAR) for number in range(1, 8)]
    found = stand(plan, [*done(plan, [*seven, (8, FAR)], "a/"), *done(plan, seven, "b/")])
    assert {lack.text for lack in found.missing.values()} == {"7 of 8 pairs"}
    assert set(found.pairs.values()) == {7}
    assert not found.lacking, "where variants are compared the traffic points say what is open"
    assert stand(plan, done(plan, [*seven, (9, FAR)])).enough


def test_a_variant_whose_partners_failed_is_measured_as_in_a_survey() -> None:
    plan = plan_of(("a", "b"), ceilings=False, needed=1)
    found = stand(plan, done(plan, [(1, NEAR)], "a/"), ["b/p2p/64", "b/p2p/1518"])
    assert found.enough
    assert not found.pairs


def test_the_repetitions_of_a_test_must_be_in_one_class() -> None:
    plan = survey(("a", "b"), tests=({"kind": "mrr"}, {"kind": "loss-curve"}))
    trials = done(plan, [(1, NEAR), (2, FAR), (3, NEAR)])
    trials = [trial for trial in trials if trial.preset is Preset.MRR]
    cells = ["a/p2p/64", "b/p2p/64"]
    found = stand(plan, trials, (), curves(cells, [(1, NEAR), (2, FAR), (3, CHANGED)]))
    assert {lack.text for lack in found.missing.values()} == {"1 of 2 repetitions of loss-curve in class near"}
    assert all(lack.of_class for lack in found.missing.values()), "there are enough, but not in one class"
    assert found.lacking == {"loss-curve"}
    assert stand(plan, trials, (), curves(cells, [(1, NEAR), (2, FAR), (3, FAR)])).placement == "far"
    assert stand(plan, trials, (), curves(cells, [(1, NEAR), (2, FAR), (3, FAR)])).enough
    apart = [*curves(cells[:1], [(1, NEAR), (2, NEAR)]), *curves(cells[1:], [(1, FAR), (2, FAR)])]
    assert not stand(plan, trials, (), apart).enough, "the class must be common"


def test_a_test_without_a_distance_counts_for_every_class() -> None:
    plan = survey(("a",), needed=1, tests=({"kind": "mrr"}, {"kind": "loss-curve"}))
    trials = [trial for trial in done(plan, [(1, FAR)]) if trial.preset is Preset.MRR]
    assert stand(plan, trials, (), curves(["a/p2p/64"], [(1, None)])).enough


def test_ceilings_are_complete_after_their_rounds_and_never_missing() -> None:
    plan = plan_of(("a",), needed=5)
    ceilings = frozenset(cell.id for cell in plan.cells if ":" in cell.id)
    two = done(plan, [(1, NEAR), (2, CHANGED)])
    assert stand(plan, two).complete == frozenset()
    assert not ceilings & stand(plan, two).missing.keys()
    assert stand(plan, [*two, *done(plan, [(3, FAR)])]).complete == ceilings


def test_the_order_of_trials_does_not_matter() -> None:
    plan = plan_of(("a", "b"), needed=2)
    trials = done(plan, [(1, NEAR), (2, FAR), (3, NEAR)])
    trials = trials[:-1]
    expected = stand(plan, trials)
    for seed in range(5):
        random.Random(seed).shuffle(trials)
        assert stand(plan, trials) == expected


def test_the_estimate_counts_traffic_and_deployments() -> None:
    plan = plan_of(("a",), ceilings=False, needed=2, mrr_trials=3)
    trials = shortest(plan)
    assert len(trials) == 2 * 2 * 2
    traffic = 4 * (0.2 + 3 * 0.3) + 4 * 1.0
    expected = traffic + 2 * 10 + 4 * (3 + 1) * 1
    assert length_s(plan, trials, Overheads(deployment_s=10, trial_s=1)) == pytest.approx(expected)


def test_the_estimate_counts_connections_that_are_opened_and_read_where_a_variant_tracks_them() -> None:
    variants = [variant(f"ovn-{acl}", PortKind.VHOST_USER, dataplane="ovn", acl=acl) for acl in ("none", "stateful")]
    base = {"name": "e", "title": "e", "ceilings": False, "purpose": "survey", "frame_sizes": (64,)}
    test = {"kind": "flow-scaling", "counts": (1, 99_999), "trials": 3}
    told = {}
    for one in variants:
        for form in ("mirrored", "unreplied"):
            values = {**base, "variants": (one.name,), "tests": [test], "traffic": {"sessions": form}}
            plan = expand(Experiment.model_validate(values), [one])
            told[one.name, form] = length_s(plan, plan.round(1), Overheads())
    usual = told.pop(("ovn-none", "mirrored"))
    assert told.pop(("ovn-stateful", "mirrored")) == pytest.approx(usual + 7.8 + 3 * 3 * 1.2)
    assert set(told.values()) == {usual}


def test_the_shortest_run_has_the_rounds_of_the_first_look_and_ceilings_in_the_first_ones() -> None:
    plan = plan_of(("a", "b"), needed=2)
    rounds = {cell.id: [t.round for t in shortest(plan) if t.cell == cell.id] for cell in plan.cells}
    assert rounds["loopback:simulated/p2p/64"] == [1, 2, 3]
    assert rounds["a/p2p/64"] == [number for number in range(1, 9) for _ in range(3)]
