"""A run of visits: compared by pairs of rounds, looked at after rounds that are fixed, surveyed without waiting."""

from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from statistics import median

import pytest

from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.plan.plan import expand
from nfvbed.plan.stored import stored_study
from nfvbed.records import Preset, RenewedPart, Status
from nfvbed.records.trafficpoint import TrafficPoint
from nfvbed.run.ledger import PLAN_FORMAT
from nfvbed.run.looks import Look, decided
from nfvbed.run.observer import Observer, RoundEnd
from nfvbed.run.tools import Tools
from nfvbed.spec.rules import Study
from nfvbed.store import Store
from tests.unit.run.simulated_runs import (
    Crash,
    CrashingStore,
    classify_all_alike,
    copy_of,
    keys,
    only_run,
    runner,
    study,
    variant,
)

FAST, SLOW = variant("sim-a", capacity_pps=5e6), variant("sim-b", capacity_pps=3e6)
EARLY = {"needed": 1, "looks": (2, 3), "max_rounds": 12}


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "x.sqlite") as store:
        yield store


def comparison(*variants: object, **experiment: object) -> Study:
    values = {"purpose": "compare", "repetitions": {}, **experiment}
    return study(variants or (FAST, SLOW), **values)


def rounds_of(store: Store, run: str) -> dict[str, int]:
    return {cell.id: max(t.round for t in store.trials(run, cell.id)) for cell in store.cells(run)}


def deciding(*sizes: object) -> Tools:
    def decide(look: Look) -> Collection[TrafficPoint]:
        return [point for point in look.points if point[2] in sizes]

    return Tools(classify=classify_all_alike, decide=decide)


class Ends(Observer):
    def __init__(self) -> None:
        self.all: list[RoundEnd] = []

    def round_ended(self, end: RoundEnd) -> None:
        self.all.append(end)


def test_decided_points_stop_and_the_others_go_on_to_the_last_look(store: Store) -> None:
    ends = Ends()
    run = runner(store, tools=deciding(64), observer=ends).start(comparison(frame_sizes=(64, 1518)))
    assert run.status is Status.OK
    assert rounds_of(store, run.id) == {
        "sim-a/p2p/64": 8,
        "sim-b/p2p/64": 8,
        "sim-a/p2p/1518": 12,
        "sim-b/p2p/1518": 12,
    }
    assert [(end.number, end.decided, end.ends) for end in ends.all[6:9]] == [
        (7, 0, False),
        (8, 1, False),
        (9, 1, False),
    ]
    assert (ends.all[-1].number, ends.all[-1].of, ends.all[-1].points, ends.all[-1].ends) == (12, (8, 12), 2, True)


def test_a_run_ends_when_all_points_are_decided(store: Store) -> None:
    run = runner(store, tools=deciding(64)).start(comparison())
    assert (run.status, set(rounds_of(store, run.id).values())) == (Status.OK, {8})


def test_what_stays_undecided_is_ok_and_never_has_more_than_the_last_look(store: Store) -> None:
    same = (variant("sim-a", noise=0.2), variant("sim-b", noise=0.2, seed=2))
    many = comparison(*same, repetitions={"max_rounds": 40})
    run = runner(store, tools=deciding()).start(many)
    assert (run.status, set(rounds_of(store, run.id).values())) == (Status.OK, {12})
    assert {cell.status for cell in store.cells(run.id)} == {Status.OK}


def test_the_rule_itself_decides_a_factor_after_eight_rounds(store: Store) -> None:
    run = runner(store, tools=Tools()).start(comparison())
    assert (run.status, set(rounds_of(store, run.id).values())) == (Status.OK, {8})


def test_with_many_comparisons_there_is_the_last_look_alone(store: Store) -> None:
    five = [variant(f"sim-{name}", capacity_pps=(2 + place) * 1e6) for place, name in enumerate("abcde")]
    run = runner(store, tools=Tools()).start(comparison(*five))
    assert (run.status, set(rounds_of(store, run.id).values())) == (Status.OK, {12})


def test_the_rule_asks_for_every_comparison_of_a_point(store: Store) -> None:
    three = (FAST, SLOW, variant("sim-c", capacity_pps=5e6, noise=0.2, seed=3))
    run = runner(store, tools=deciding(64)).start(comparison(*three))
    spec = comparison(*three)
    plan = expand(spec.experiment, spec.variants)
    points = {point: [plan.cell_by_id[cell] for cell in cells] for point, cells in plan.compared.items()}
    trials = store.trials(run.id)
    assert decided(Look(spec.experiment, points, trials)) == frozenset(), "sim-c is like the baseline"
    two = {point: cells[:2] for point, cells in points.items()}
    assert decided(Look(spec.experiment, two, trials)) == points.keys()
    best = spec.experiment.model_copy(update={"baseline": "best"})
    assert decided(Look(best, two, trials)) == points.keys()


def test_a_visit_has_its_trials_in_order_and_says_what_it_renewed(store: Store) -> None:
    run = runner(store, tools=deciding(64)).start(comparison(trials={"mrr_trials": 3}, repetitions=EARLY))
    visits: dict[tuple[int, str], list[Preset]] = {}
    for trial in store.trials(run.id):
        visits.setdefault((trial.round, trial.cell), []).append(trial.preset)
    assert list(visits) == [(1, "sim-a/p2p/64"), (1, "sim-b/p2p/64"), (2, "sim-b/p2p/64"), (2, "sim-a/p2p/64")]
    assert set(map(tuple, visits.values())) == {(Preset.MRR,) * 3 + (Preset.PACED, Preset.COMMON)}
    assert {trial.renewed for trial in store.trials(run.id)} == {RenewedPart.DEPLOYMENT}


def test_the_common_load_is_a_part_of_the_lowest_rate_so_far(store: Store) -> None:
    run = runner(store, tools=deciding(64)).start(comparison(repetitions=EARLY))
    rates: dict[str, list[int]] = {}
    for trial in store.trials(run.id):
        if trial.preset is Preset.MRR:
            rates.setdefault(trial.cell, []).append(trial.forwarded_rate_pps)
        if trial.preset is Preset.COMMON:
            lowest = min(median(of_one) for of_one in rates.values())
            assert trial.intended_load_pps == pytest.approx(lowest / 2, abs=2)
        if trial.preset is Preset.PACED:
            assert trial.intended_load_pps == pytest.approx(median(rates[trial.cell]) / 2, abs=2)
    loads = [t.intended_load_pps for t in store.trials(run.id, "sim-a/p2p/64") if t.preset is Preset.COMMON]
    assert loads[0] > 2.2e6 and loads[1] < 1.7e6, "before its partner was visited it is its own"


def test_too_few_pairs_are_blocked_and_say_so(store: Store) -> None:
    now = iter(float(value) for value in range(0, 100_000, 5))
    tools = Tools(classify=classify_all_alike, clock=lambda: next(now))
    run = runner(store, tools=tools).start(comparison(repetitions={"time_limit_s": 100}))
    assert run.status is Status.BLOCKED
    assert {cell.status for cell in store.cells(run.id)} == {Status.BLOCKED}
    assert run.reason.startswith("time limit: ")
    assert run.reason.endswith(" of 8 pairs after 100 s")
    assert runner(store, tools=deciding(64)).resume(run).status is Status.OK


def test_a_budget_bounds_the_rounds_after_the_first_look_only(store: Store) -> None:
    now = iter(float(value) for value in range(0, 100_000, 2))
    tools = Tools(classify=classify_all_alike, clock=lambda: next(now), decide=lambda _: ())
    run = runner(store, tools=tools).start(comparison(repetitions={"budget_s": 150, "time_limit_s": 10_000}))
    rounds = Counter(cell for cell, _ in {(t.cell, t.round) for t in store.trials(run.id)})
    assert run.status is Status.OK, "the eight rounds took longer than the budget, and were measured all the same"
    assert rounds["sim-a/p2p/64"] == rounds["sim-b/p2p/64"] == 8


def test_a_survey_ends_ok_after_its_rounds_however_the_host_changes(store: Store) -> None:
    options = {"state_change_per_s": 1.0, "far_capacity_pps": 1e6, "noise": 0.1}
    variants = [variant("sim-a", **options), variant("sim-b", **options)]
    spec = study(variants, ceilings=True, repetitions={"needed": 3, "max_rounds": 60}, trials={"mrr_trials": 3})
    run = runner(store, tools=Tools()).start(spec)
    assert (run.status, run.reason) == (Status.OK, "")
    assert set(rounds_of(store, run.id).values()) == {3}
    assert Preset.COMMON not in {trial.preset for trial in store.trials(run.id)}


@pytest.mark.parametrize("at", range(9, 27, 3))
def test_a_visit_that_was_cut_short_is_completed(tmp_path: Path, at: int) -> None:
    spec = comparison(trials={"mrr_trials": 3}, repetitions=EARLY)
    with Store.open(tmp_path / "whole.sqlite") as store:
        whole = Counter(keys(store.trials(runner(store, tools=deciding(64)).start(spec).id)))
    with CrashingStore.open(tmp_path / "x.sqlite") as crashing:
        assert isinstance(crashing, CrashingStore)
        crashing.count, crashing.crash_at = 0, at
        with pytest.raises(Crash):
            runner(crashing, tools=deciding(64)).start(spec)
    with Store.open(tmp_path / "x.sqlite") as store:
        before = store.trials(only_run(store).id)
        assert runner(store, tools=deciding(64)).resume(only_run(store)).status is Status.OK
        trials = store.trials(only_run(store).id)
        assert trials[: len(before)] == before
        assert Counter(keys(trials)) == whole


def test_a_resumed_run_stops_the_points_that_were_decided(tmp_path: Path) -> None:
    spec = comparison(frame_sizes=(64, 1518))
    with CrashingStore.open(tmp_path / "x.sqlite") as crashing:
        assert isinstance(crashing, CrashingStore)
        crashing.count, crashing.crash_at = 0, 245
        with pytest.raises(Crash):
            runner(crashing, tools=deciding(64)).start(spec)
    with Store.open(tmp_path / "x.sqlite") as store:
        assert max(trial.round for trial in store.trials(only_run(store).id)) > 8, "it crashes after the first look"
        run = runner(store, tools=deciding(64)).resume(only_run(store))
        assert rounds_of(store, run.id)["sim-a/p2p/64"] == 8
        assert rounds_of(store, run.id)["sim-a/p2p/1518"] == 12


def old_plan(store: Store, run_plan: str) -> dict[str, object]:
    """What a plan was before format 3."""
    plan = dict(store.get_blob(run_plan))
    experiment = dict(plan["experiment"])
    del experiment["purpose"]
    experiment["trials"] = {k: v for k, v in experiment["trials"].items() if k != "mrr_trials"}
    experiment["repetitions"] = {k: v for k, v in experiment["repetitions"].items() if k != "looks"}
    return {**plan, "experiment": experiment, "format": 2}


def test_an_older_plan_means_what_it_meant(tmp_path: Path) -> None:
    """One trial in each repetition, as many repetitions as were asked for, and no looks."""
    with Store.open(tmp_path / "template.sqlite") as store:
        run = runner(store).start(study((FAST, SLOW), repetitions={"needed": 2, "max_rounds": 3}))
        assert store.get_blob(run.plan_hash)["format"] == PLAN_FORMAT == 3
        plan = old_plan(store, run.plan_hash)
    again, runnable = stored_study(plan, VariantModel)
    assert runnable == ("sim-a", "sim-b")
    assert (again.experiment.purpose, again.experiment.trials.mrr_trials) == ("survey", 1)
    assert again.experiment.repetitions.needed == 2


def test_a_run_of_an_older_plan_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = study((FAST, SLOW), repetitions={"needed": 2, "max_rounds": 3})
    path = copy_of_an_older_run(tmp_path, spec, monkeypatch)
    with Store.open(path) as store:
        run = only_run(store)
        before = store.trials(run.id)
        assert "purpose" not in store.get_blob(run.plan_hash)["experiment"]
        assert runner(store).resume(run).status is Status.OK
        trials = store.trials(run.id)
        assert trials[: len(before)] == before
        assert set(Counter(keys(trials)).values()) == {1}
        assert {trial.round for trial in trials} == {1, 2}


def copy_of_an_older_run(tmp_path: Path, spec: Study, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a run with a plan as it was, and stop in its middle."""
    with CrashingStore.open(tmp_path / "old.sqlite") as store:
        assert isinstance(store, CrashingStore)
        put = store.put_blob

        def as_it_was(kind: str, value: object) -> str:
            digest = put(kind, value)
            return put("plan", old_plan(store, digest)) if kind == "plan" else digest

        monkeypatch.setattr(store, "put_blob", as_it_was)
        store.count, store.crash_at = 0, 18
        with pytest.raises(Crash):
            runner(store).start(spec)
    return copy_of(tmp_path / "old.sqlite", tmp_path / "x.sqlite")
