"""Bursts, recovery and resets on the simulated system: the tests find the buffer and the times that are known."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from nfvbed.records import DirectionCounts, Status, TrialRecord
from nfvbed.records.results import MeasuredRow, ResultKind, ResultRecord, TablePayload
from nfvbed.run.kinds.bursts import is_torn, row_of_burst
from nfvbed.run.kinds.resets import recovery_of
from nfvbed.spec.testkinds.resets import SystemRecoveryTest
from nfvbed.store import Store
from nfvbed.traffic.timeline import Bin, Timeline
from tests.unit.run.simulated_runs import only_run, runner, study, variant

MRR = {"kind": "mrr"}
BURSTS = {"kind": "back-to-back", "max_frames": 100_000, "resolution_frames": 1, "repetitions": 3}
RECOVERY = {"kind": "system-recovery", "overload_s": 1, "relief_s": 2}
RESET = {"kind": "reset", "fraction": 0.5, "duration_s": 5, "repetitions": 2}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with Store.open(tmp_path / "x.sqlite") as opened:
        yield opened


def outcome(store: Store, test: dict[str, object], **options: object) -> ResultRecord:
    spec = study([variant(**options)], tests=(MRR, test), repetitions={"needed": 1, "max_rounds": 1})
    runner(store).start(spec)
    (result,) = store.results(only_run(store).id)
    return result


def rows(result: ResultRecord) -> tuple[MeasuredRow, ...]:
    assert result.status is Status.OK, result.reason
    return TablePayload.model_validate(result.payload).rows


def quantity(row: MeasuredRow, name: str):
    return next(found for found in row.quantities if found.name == name)


@pytest.mark.parametrize("buffer_frames", [100, 1024, 30_000])
def test_bursts_find_the_buffer(store: Store, buffer_frames: int) -> None:
    mean, *single = rows(outcome(store, BURSTS, noise=0.0, buffer_frames=buffer_frames))
    # Bursts come at four times the capacity: three quarters of them have to be held.
    assert quantity(mean, "longest burst").value == pytest.approx(buffer_frames / 0.75, abs=2)
    assert quantity(mean, "corrected burst").value == pytest.approx(buffer_frames, rel=0.01, abs=2)
    assert quantity(mean, "corrected buffer time").value == pytest.approx(buffer_frames / 20e6, rel=0.01, abs=1e-7)
    assert quantity(mean, "standard deviation").value == 0
    assert mean.reason == ""
    assert len(single) == 3


def test_noise_shows_as_spread_and_hardly_moves_the_mean(store: Store) -> None:
    mean, *single = rows(outcome(store, {**BURSTS, "repetitions": 8}, noise=0.02, buffer_frames=2000))
    assert quantity(mean, "corrected burst").value == pytest.approx(2000, rel=0.04)
    found = quantity(mean, "longest burst")
    assert found.low < found.value < found.high
    assert quantity(mean, "standard deviation").value > 0
    assert min(quantity(row, "longest burst").value for row in single) == found.low


def test_a_system_that_holds_the_generator_back_gives_a_lower_bound(store: Store) -> None:
    mean, *_ = rows(outcome(store, BURSTS))
    assert quantity(mean, "longest burst").value == 100_000
    assert quantity(mean, "corrected burst").value is None
    assert "lower bound" in mean.reason


@pytest.mark.parametrize("buffer_frames", [50, 1000])
def test_one_burst_loses_what_the_buffer_does_not_hold(store: Store, buffer_frames: int) -> None:
    result = outcome(store, {"kind": "burst", "frames": 400}, noise=0.0, buffer_frames=buffer_frames)
    (row,) = rows(result)
    counts = {found.name: found.value for found in row.quantities}
    # Bursts come at four times the capacity: three quarters of each direction's have to be held.
    lost = 2 * max(0, 300 - buffer_frames)
    assert counts["lost"] == pytest.approx(lost, abs=4)
    assert (counts["sent"], counts["not sent"], counts["sent"] - counts["received"]) == (800, 0, counts["lost"])
    assert counts["loss"] == pytest.approx(lost / 8, abs=0.5)
    assert (result.first_sequence, row.reason) == (row.sequence, "")


def test_what_could_not_be_sent_of_a_burst_is_reported(store: Store) -> None:
    record = burst_of(store)
    (way, *_) = record.directions
    late = record.model_copy(
        update={"directions": (way.model_copy(update={"sent": 390, "received": 380, "lost": 10}),)}
    )
    row = row_of_burst(late, 400)
    assert {found.name: found.value for found in row.quantities}["not sent"] == 10
    assert row.reason == "10 frames of it could not be sent"


def burst_of(store: Store) -> TrialRecord:
    outcome(store, {"kind": "burst", "frames": 400})
    return next(trial for trial in store.trials(only_run(store).id) if trial.preset is ResultKind.BURST)


def test_no_burst_passes_a_buffer_of_none(store: Store) -> None:
    mean, *_ = rows(outcome(store, BURSTS, buffer_frames=0))
    assert quantity(mean, "longest burst").value == 0
    assert "not even the shortest burst" in mean.reason


@pytest.mark.parametrize("congestion_s", [0.0, 0.0125, 0.8])
def test_recovery_takes_the_known_time(store: Store, congestion_s: float) -> None:
    (row,) = rows(outcome(store, RECOVERY, noise=0.0, congestion_s=congestion_s))
    found = quantity(row, "recovery time")
    assert found.low <= congestion_s <= found.high
    assert found.high - found.low == pytest.approx(0.001)
    assert quantity(row, "first 10 ms without loss").value == pytest.approx(congestion_s, abs=0.001)
    # 110 % of 5 Mpps for one second, of which a tenth is too much.
    assert quantity(row, "missing in the overload").value == pytest.approx(500_000, rel=0.02)
    assert quantity(row, "missing after it").value == pytest.approx(2.5e6 * congestion_s / 2, rel=0.01)


def test_a_system_that_does_not_recover_gives_a_lower_bound(store: Store) -> None:
    (row,) = rows(outcome(store, RECOVERY, noise=0.0, congestion_s=10.0))
    assert quantity(row, "recovery time").value == pytest.approx(2.0)
    assert "lower bound" in row.reason


def test_an_overload_that_is_none_gives_no_time(store: Store) -> None:
    (row,) = rows(outcome(store, {**RECOVERY, "overload": 0.9}, noise=0.0, congestion_s=1.0))
    assert quantity(row, "recovery time").value is None
    assert row.reason == "no frame was missing in the overload"


@pytest.mark.parametrize("outage_s", [0.003, 0.25, 2.0])
def test_a_reset_takes_the_known_time_by_frames_and_by_stamps(store: Store, outage_s: float) -> None:
    result = outcome(store, RESET, noise=0.0, outage_s=outage_s)
    for row in rows(result):
        assert row.label == "simulated"
        assert quantity(row, "outage by frame loss").value == pytest.approx(outage_s, abs=1e-6)
        assert quantity(row, "outage by time stamps").value == pytest.approx(outage_s, abs=2e-6)
        assert quantity(row, "configured again").value is None
    assert len(rows(result)) == 2


def test_a_switch_that_does_not_come_back_has_no_time(store: Store) -> None:
    row, *_ = rows(outcome(store, RESET, noise=0.0, outage_s=60.0))
    assert quantity(row, "outage by time stamps").value is None
    assert "no frame came again" in row.reason


def test_recovery_is_that_of_the_slower_direction_and_bins_before_the_change_do_not_count() -> None:
    spec = SystemRecoveryTest(kind="system-recovery", overload_s=1, relief_s=1)
    lines = tuple(
        Timeline(bin_ns=1_000_000, bins=tuple(Bin(number, 10, 0, 9) for number in numbers))
        for numbers in ((1, 999), (500, 1003))
    )
    time, reason = recovery_of(spec, lines)
    assert (time.low, time.high, reason) == (pytest.approx(0.003), pytest.approx(0.004), "")


def test_counts_of_the_simulation_fit_each_other(store: Store) -> None:
    outcome(store, RESET, outage_s=0.1)
    ways: list[DirectionCounts] = [way for trial in store.trials(only_run(store).id) for way in trial.directions]
    assert all(way.intended == way.sent + way.unsent and way.sent == way.received + way.lost for way in ways)


@pytest.mark.parametrize(
    ("test", "says"),
    [
        ({**BURSTS, "min_frames": 100_000}, "must be below max_frames"),
        ({**RECOVERY, "relief": 1.1}, "must be below overload"),
        ({**RECOVERY, "overload_s": 200}, "more than 130000 bins"),
        ({**RESET, "load_pps": 5}, "either load_pps or fraction"),
        ({**RESET, "before_s": 5}, "must be below duration_s"),
    ],
)
def test_what_does_not_fit_is_refused(test: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        study([variant()], tests=(MRR, test))


@pytest.mark.parametrize(("duration_ns", "torn"), [(200_000, False), (240_000, False), (300_000, True)])
def test_a_burst_that_took_much_longer_than_its_frames_is_torn(duration_ns: int, torn: bool, store: Store) -> None:
    outcome(store, {**BURSTS, "repetitions": 1})
    trial = store.trials(only_run(store).id)[-1]
    way = trial.directions[0].model_copy(update={"sent": 2000})
    assert is_torn(trial.model_copy(update={"directions": (way,), "duration_ns": duration_ns}), 10_000_000) is torn
