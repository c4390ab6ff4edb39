"""Scaling and learning tests on the simulated system: what they find is what it was asked to be."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nfvbed.records import Status
from nfvbed.records.results import MeasuredRow, ResultRecord, TablePayload
from nfvbed.store import Store
from tests.unit.run.simulated_runs import runner, study, variant

ONCE = {"needed": 1, "max_rounds": 1}


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "x.sqlite") as opened:
        yield opened


def result(store: Store, test: dict[str, object], **options: object) -> ResultRecord:
    system = variant("sim-a", **{"capacity_pps": 5e6, "noise": 0.0, **options})
    tests = ({"kind": "mrr"}, test)
    run = runner(store).start(study([system], tests=tests, repetitions=ONCE))
    (found,) = store.results(run.id)
    return found


def rows(found: ResultRecord) -> tuple[MeasuredRow, ...]:
    assert found.status is Status.OK, found.reason
    return TablePayload.model_validate(found.payload).rows


def value(row: MeasuredRow, name: str) -> float | None:
    return next(quantity.value for quantity in row.quantities if quantity.name == name)


def names(row: MeasuredRow) -> set[str]:
    return {quantity.name for quantity in row.quantities}


def test_the_rate_falls_as_flows_leave_the_cache(store: Store) -> None:
    """Cache of 1,000 flows, a miss costs one crossing more: 10,000 flows miss in 9 of 10 frames."""
    test = {"kind": "flow-scaling", "counts": (1, 1_000, 10_000, 1_000_000)}
    found = rows(result(store, test, flow_cache=1_000, flow_miss_cost=1.0))
    assert [row.label for row in found] == ["1 flow", "1,000 flows", "10,000 flows", "1,000,000 flows"]
    truth = [5e6, 5e6, 5e6 / 1.9, 5e6 / 1.999]
    assert [value(row, "rate") for row in found] == pytest.approx(truth, rel=0.001)
    assert value(found[-1], "against the first row") == pytest.approx(100 / 1.999, rel=0.001)
    assert [row.parameters["flows"] for row in found] == [1, 1_000, 10_000, 1_000_000]
    assert all(row.sequence is not None for row in found)


def test_a_given_load_shows_loss_and_latency_by_flows(store: Store) -> None:
    test = {"kind": "flow-scaling", "counts": (1, 100_000), "fraction": 0.8, "trials": 1}
    found = result(store, test, flow_cache=1_000, flow_miss_cost=1.0)
    few, many = rows(found)
    assert TablePayload.model_validate(found.payload).reference.of == "mrr"
    assert value(few, "missing frames") == 0
    assert value(many, "missing frames") == pytest.approx(100 * (1 - (5e6 / 1.99) / 4e6), rel=0.01)
    assert {"latency P50", "latency P99"} <= names(many)


def test_the_spread_of_a_row_is_that_of_its_trials(store: Store) -> None:
    test = {"kind": "flow-scaling", "counts": (1,), "trials": 5}
    found = result(store, test, noise=0.05)
    (row,) = rows(found)
    rate = next(quantity for quantity in row.quantities if quantity.name == "rate")
    trials = [trial.forwarded_rate_pps for trial in store.trials(found.run) if found.holds(trial.sequence)]
    assert (rate.low, rate.value, rate.high) == (min(trials), sorted(trials)[2], max(trials))


def test_entries_cost_what_they_were_reported_to(store: Store) -> None:
    test = {"kind": "table-scaling", "counts": (1, 1_000, 100_000)}
    found = rows(result(store, test, entry_cost=0.1))
    assert [value(row, "in the table") for row in found] == [2, 1_000, 100_000], "each direction has one at least"
    truth = [5e6 / (1 + 0.1 * 0.30103), 5e6 / 1.3, 5e6 / 1.5]
    assert [value(row, "rate") for row in found] == pytest.approx(truth, rel=0.001)
    assert [row.label for row in found] == ["1 simulated entry", "1,000 simulated entries", "100,000 simulated entries"]


@pytest.mark.parametrize("size", [2, 3, 256, 1_000, 4_096])
def test_as_many_addresses_are_found_as_the_table_holds(store: Store, size: int) -> None:
    (row,) = rows(result(store, {"kind": "address-caching", "max_addresses": 5_000}, mac_table_size=size))
    assert value(row, "addresses held") == size
    assert value(row, "too many") == size + 1
    assert row.reason == ""


def test_frames_that_are_lost_on_their_way_are_no_limit_of_the_table(store: Store) -> None:
    """Addresses are shown again where some were lost, so the number that is found is the table's all the same."""
    test = {"kind": "address-caching", "max_addresses": 5_000}
    found = result(store, test, mac_table_size=4_096, burst_probability_per_s=3)
    (row,) = rows(found)
    assert value(row, "addresses held") == 4_096
    assert any(direction.lost for trial in store.trials(found.run) for direction in trial.directions)


def test_without_a_limit_the_largest_number_is_a_lower_bound(store: Store) -> None:
    (row,) = rows(result(store, {"kind": "address-caching", "max_addresses": 5_000}))
    assert value(row, "addresses held") == 5_000
    assert "lower bound" in row.reason
    assert "too many" not in names(row)


def test_the_rate_of_learning_is_found_within_its_width(store: Store) -> None:
    test = {"kind": "address-learning", "relative_width": 0.01}
    (row,) = rows(result(store, test, learning_rate_pps=123_456))
    held, missed = value(row, "learning rate"), value(row, "too fast")
    assert held <= 123_456 < missed <= held * 1.011


def test_a_rate_that_nothing_limits_is_a_lower_bound(store: Store) -> None:
    (row,) = rows(result(store, {"kind": "address-learning", "max_load_pps": 1_000_000}))
    assert value(row, "learning rate") == pytest.approx(1_000_000)
    assert "lower bound" in row.reason


def test_a_rate_that_the_generator_does_not_keep_is_no_rate_of_learning(store: Store) -> None:
    """The system takes 5 Mpps, so of 10 the generator sends but half in time."""
    (row,) = rows(result(store, {"kind": "address-learning"}))
    assert 4.8e6 < value(row, "learning rate") < 5.01e6
    assert "port refused frames" in row.reason


def test_addresses_that_are_missed_at_any_rate_have_no_rate(store: Store) -> None:
    (row,) = rows(result(store, {"kind": "address-learning"}, mac_table_size=10))
    assert value(row, "learning rate") is None
    assert "even at 10,000" in row.reason
