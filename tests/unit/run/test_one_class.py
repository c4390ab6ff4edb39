"""Tests of several trials stay in one placement class where it flips: what left it is measured again, within bounds."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from nfvbed.compare.rows.placement import classify
from nfvbed.plan.completeness import Classify
from nfvbed.records import Status
from nfvbed.records.results import TablePayload
from nfvbed.run.kinds.celltest import AGAIN, PlacementClassFilter
from nfvbed.run.tools import Tools
from nfvbed.store import Store
from tests.unit.run.simulated_runs import only_run, runner, study, variant

FLIPS = {"far_capacity_pps": 1e6, "capacity_pps": 5e6, "noise": 0.0}


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "x.sqlite") as opened:
        yield opened


@dataclass
class _Bench:
    """Stands for a test cell_test: trials whose classes are known beforehand."""

    to_come: list[str]
    wanted: str | None = None
    seen: list[str] = field(default_factory=list)
    blind: int = 0
    """So many trials have to be there until classes are distinguished."""

    @property
    def context(self) -> SimpleNamespace:
        return SimpleNamespace(ledger=SimpleNamespace(trials=tuple(self.seen)))

    def known(self) -> SimpleNamespace:
        return SimpleNamespace(wanted=self.wanted)

    def labels(self) -> list[str]:
        return list(self.seen) if len(self.seen) >= self.blind else ["single"] * len(self.seen)

    def measure(self, trials: int = 1) -> str:
        took = [self.to_come.pop(0) for _ in range(trials)]
        self.seen += took
        return "+".join(took)


def test_what_consists_of_several_trials_is_of_a_class_when_all_are() -> None:
    cell_test = _Bench(["near", "near", "far", "near", "mixed", "near", "near", "near"])
    one_class = PlacementClassFilter(cell_test)
    assert one_class.take(lambda: cell_test.measure(2)) == "near+near"
    assert one_class.take(lambda: cell_test.measure(2)) == "near+near"
    assert cell_test.seen == ["near", "near", "far", "near", "mixed", "near", "near", "near"]


def test_repetitions_share_what_may_be_measured_again() -> None:
    cell_test = _Bench(["near", "far", "far", "far", "near", "far", "far", "far"])
    one_class = PlacementClassFilter(cell_test, again=4)
    assert [one_class.take(cell_test.measure) for _ in range(2)] == ["near", "near"]
    assert [one_class.take(cell_test.measure), one_class.fits] == ["far", False]
    assert [one_class.take(cell_test.measure), len(cell_test.to_come)] == ["far", 0]


def test_the_class_of_the_first_is_kept_where_it_shows_later() -> None:
    cell_test = _Bench(["near", "far", "far", "near"], blind=2)
    one_class = PlacementClassFilter(cell_test)
    assert [one_class.take(cell_test.measure) for _ in range(2)] == ["near", "near"]


def test_to_restart_is_put_off_only_while_it_costs_more_than_to_wait() -> None:
    kept = AGAIN + 2
    cell_test = _Bench(["near"] * kept + ["far"] * 100)
    one_class = PlacementClassFilter(cell_test, again=50, restart=True)
    assert [one_class.take(cell_test.measure) for _ in range(kept)] == ["near"] * kept
    assert [one_class.take(cell_test.measure), one_class.fits] == ["far", False]
    assert len(cell_test.seen) == kept + kept + 1


def test_a_class_that_comes_back_in_time_is_waited_for() -> None:
    cell_test = _Bench(["near", *["far"] * AGAIN, "near", *["far"] * AGAIN, "near"])
    one_class = PlacementClassFilter(cell_test, again=50, restart=True)
    assert [one_class.take(cell_test.measure) for _ in range(3)] == ["near"] * 3


def test_the_runs_class_is_waited_for_as_long_as_may_be() -> None:
    cell_test = _Bench([*["far"] * 10, "near"], wanted="near")
    assert PlacementClassFilter(cell_test, again=10, restart=True).take(cell_test.measure) == "near"


def classes_of_burst_searches(store: Store, classify_trials: Classify) -> tuple[str, int]:
    """Search three times for bursts, each of which passes; give the result's class and the number of trials."""
    test = {"kind": "back-to-back", "max_frames": 1_000, "repetitions": 3}
    spec = study([variant(noise=0.0)], tests=(test,), repetitions={"needed": 1, "max_rounds": 1})
    run = runner(store, tools=Tools(classify=classify_trials)).start(spec)
    (result,) = store.results(run.id)
    return result.placement_class, len(store.trials(run.id))


def test_a_burst_that_left_its_class_is_sent_again_alone(store: Store) -> None:
    label, trials = classes_of_burst_searches(store, lambda all_: [("near", "mixed")[n == 2] for n in range(len(all_))])
    assert (label, trials) == ("near", 1 + 3 + 1)


def test_where_the_first_class_is_gone_the_test_restarts(store: Store) -> None:
    label, trials = classes_of_burst_searches(store, lambda all_: [("near", "far")[n < 2] for n in range(len(all_))])
    begun_in_vain = 1 + 1 + (1 + AGAIN)
    assert (label, trials) == ("near", begun_in_vain + 1 + 3)


@pytest.mark.parametrize(
    ("test", "options"),
    [
        ({"kind": "back-to-back", "max_frames": 1_000_000, "repetitions": 20}, {"state_change_per_s": 0.3}),
        ({"kind": "system-recovery", "overload_s": 1, "relief_s": 1, "repetitions": 6}, {"state_change_per_s": 0.15}),
        ({"kind": "reset", "load_pps": 1000, "duration_s": 2, "repetitions": 6}, {"state_change_per_s": 0.15}),
    ],
)
def test_repetitions_are_of_one_class(store: Store, test: dict[str, object], options: dict[str, float]) -> None:
    spec = study(
        [variant(**FLIPS, **options)], tests=({"kind": "mrr"}, test), repetitions={"needed": 3, "max_rounds": 20}
    )
    run = runner(store, tools=Tools(classify=classify)).start(spec)
    assert run.status is Status.OK
    trials = store.trials(only_run(store).id)
    labels = dict(zip((t.sequence for t in trials), classify([t.core_distance_ns for t in trials]), strict=True))
    again = 0
    results = [result for result in store.results(run.id) if result.placement_class in ("near", "far")]
    for result in results:
        shown = TablePayload.model_validate(result.payload).sequences
        assert {labels[sequence] for sequence in shown} == {result.placement_class}
        again += sum(result.holds(trial.sequence) for trial in trials) - len(set(shown))
    assert again > 0
    assert len(results) >= 3


@pytest.mark.parametrize(
    ("test", "options"),
    [
        ({"kind": "address-learning", "max_load_pps": 1_000_000}, {"learning_rate_pps": 123_456}),
        ({"kind": "address-caching", "max_addresses": 4_000}, {"mac_table_size": 3_000}),
    ],
)
def test_the_bounds_of_addresses_are_of_one_class(
    store: Store, test: dict[str, object], options: dict[str, float]
) -> None:
    system = variant(state_change_per_s=1.0, noise=0.0, **options)
    spec = study([system], tests=({"kind": "mrr"}, test), repetitions={"needed": 2, "max_rounds": 20})
    run = runner(store, tools=Tools(classify=classify)).start(spec)
    assert run.status is Status.OK
    rows = [row for found in store.results(run.id) for row in TablePayload.model_validate(found.payload).rows]
    assert all(row.sequence is not None and len(row.sequences) == 1 for row in rows)
