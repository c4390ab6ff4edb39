"""When the intervals of a soak began: by the clock, and never before the traffic of those before it was over."""

from nfvbed.compare.rows.soak import interval_starts_s
from nfvbed.records import TrialRecord
from nfvbed.records.results import LoadPoint
from nfvbed.units import NS_PER_S
from tests.sample_records import Scenario, build

CLOCK = "2026-01-02T03:10:{}+00:00"


def point(sequence: int) -> LoadPoint:
    return LoadPoint(
        sequence=sequence,
        intended_load_pps=1000,
        offered_load_pps=1000,
        forwarded_rate_pps=1000,
        intended_frames=10_000,
        lost_frames=0,
        unsent_frames=0,
        duration_ns=10 * NS_PER_S,
    )


def starts(*seconds: str | None) -> tuple[float, ...]:
    trial: TrialRecord = build(Scenario()).trials[0]
    trials = {
        sequence: trial.model_copy(update={"started_at": CLOCK.format(second)})
        for sequence, second in enumerate(seconds, 1)
        if second is not None
    }
    return interval_starts_s([point(sequence) for sequence in range(1, len(seconds) + 1)], trials)


def test_the_clock_counts_the_moments_between_intervals():
    assert starts("00.000", "10.750", "21.500") == (0, 10.75, 21.5)


def test_without_time_that_passes_the_traffic_counts():
    assert starts("00.000", "00.010", "00.020") == (0, 10, 20)


def test_a_clock_that_is_set_back_turns_no_time():
    assert starts("20.000", "31.000", "05.000") == (0, 11, 21)


def test_a_trial_that_is_missing_leaves_no_hole():
    assert starts("00.000", None, "21.500") == (0, 10, 21.5)
    assert starts(None, None) == (0, 10)
