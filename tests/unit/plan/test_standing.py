"""When it is enough: every cell has what it needs in one common placement class."""

import random
from collections.abc import Sequence

from test_expand import plan_of

from nfvbed.plan.estimate import Overheads, length_s, shortest
from nfvbed.plan.plan import Plan
from nfvbed.plan.standing import DoneTrial, Standing, standing
from nfvbed.records import CoreDistance

NEAR = CoreDistance(before=30, after=30)
FAR = CoreDistance(before=150, after=150)
CHANGED = CoreDistance(before=30, after=150)


def classify(distances: Sequence[CoreDistance | None]) -> list[str]:
    return [
        "only" if d is None else {30.0: "near", 150.0: "far"}[d.before] if d.before == d.after else "mixed"
        for d in distances
    ]


def done(plan: Plan, rounds: Sequence[tuple[int, CoreDistance | None]], only: str = "") -> list[DoneTrial]:
    return [
        DoneTrial(number, trial.cell, trial.preset, distance)
        for number, distance in rounds
        for trial in plan.round(number)
        if only in trial.cell
    ]


def stand(plan: Plan, trials: Sequence[DoneTrial], without: Sequence[str] = ()) -> Standing:
    return standing(plan, trials, classify, without)


def test_nothing_measured_yet() -> None:
    plan = plan_of(("a",), needed=2)
    found = stand(plan, [])
    assert not found.enough
    assert found.placement == "only"
    assert set(found.missing.values()) == {2}


def test_one_class_is_enough_after_what_is_needed() -> None:
    plan = plan_of(("a", "b"), needed=2)
    assert not stand(plan, done(plan, [(1, NEAR)])).enough
    assert stand(plan, done(plan, [(1, NEAR), (2, NEAR)])).enough


def test_classes_are_not_added_up() -> None:
    plan = plan_of(("a", "b"), needed=2)
    found = stand(plan, done(plan, [(1, NEAR), (2, FAR), (3, CHANGED)]))
    assert not found.enough
    assert found.classes == ("far", "near")
    assert found.mixed == len(plan.round(3))
    assert stand(plan, done(plan, [(1, NEAR), (2, FAR), (3, FAR)])).placement == "far"


def test_the_class_must_be_common() -> None:
    plan = plan_of(("a", "b"), ceilings=False, needed=1)
    found = stand(plan, [*done(plan, [(1, NEAR)], "a/"), *done(plan, [(1, FAR)], "b/")])
    assert not found.enough


def test_a_repetition_has_both_its_trials() -> None:
    plan = plan_of(("a",), ceilings=False, needed=1)
    half = [trial for trial in done(plan, [(1, NEAR)]) if trial.preset.value == "mrr"]
    assert stand(plan, half).missing == {"a/p2p/64": 1, "a/p2p/1518": 1}


def test_a_trial_without_a_distance_counts_for_every_class() -> None:
    plan = plan_of(("a",), needed=1)
    trials = [*done(plan, [(1, None)], "loopback"), *done(plan, [(1, FAR)], "reference"), *done(plan, [(1, FAR)], "a/")]
    assert stand(plan, trials).enough


def test_cells_that_cannot_be_measured_are_not_waited_for() -> None:
    plan = plan_of(("a", "b"), ceilings=False, needed=1)
    trials = done(plan, [(1, NEAR)], "a/")
    assert stand(plan, trials, ["b/p2p/64", "b/p2p/1518"]).enough


def test_a_ceiling_is_complete_when_every_class_has_it() -> None:
    plan = plan_of(("a",), needed=5)
    trials = done(plan, [(number, NEAR) for number in (1, 2, 3)])
    assert stand(plan, trials).complete == frozenset(cell.id for cell in plan.cells if ":" in cell.id)
    assert stand(plan, [*trials, *done(plan, [(4, FAR)])]).complete == frozenset()


def test_the_order_of_trials_does_not_matter() -> None:
    plan = plan_of(("a", "b"), needed=2)
    trials = done(plan, [(1, NEAR), (2, FAR), (3, NEAR)])
    expected = stand(plan, trials)
    for seed in range(5):
        random.Random(seed).shuffle(trials)
        assert stand(plan, trials) == expected


def test_the_estimate_counts_traffic_and_deployments() -> None:
    plan = plan_of(("a",), ceilings=False, needed=2)
    trials = shortest(plan)
    assert len(trials) == 2 * 2 * 2
    traffic = 4 * (0.2 + 0.5) + 4 * 1.0
    assert length_s(plan, trials, Overheads(deployment_s=10, trial_s=1)) == traffic + 2 * 10 + 8 * 1
