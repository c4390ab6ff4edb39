"""The columns of every kind of test in VSPERF's form: rates, latency, loss, times, and nfvbed's own."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Final

from nfvbed.compare.rows.latency import mean_latency_ns, merge_latency
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.records import DirectionCounts, TrialRecord
from nfvbed.report.csv.export import Value, written_once
from nfvbed.units import NS_PER_S, layer2_bits_per_s
from nfvbed.vsperf.conf.columns import OWN_PREFIX
from nfvbed.vsperf.conf.testids import KIND_OF, TestKind

OWN: Final = tuple(
    OWN_PREFIX + name
    for name in (
        "run", "cell", "variant", "preset", "simulated", "status", "reason", "trials", "rx_low_fps", "rx_high_fps",
        "placement_class", "limits", "warnings", "excludes", "conformance", "deviations",
    )
)  # fmt: skip
TYPE_OF: Final[Mapping[TestKind, str]] = {kind: name for name, kind in KIND_OF.items()} | {
    TestKind.GIVEN_LOAD: "rfc2544_continuous"
}
"""VSPERF's traffic type of a native test; trials at maximum load and paced ones are no search."""
Span = tuple[datetime, datetime]
"""From when to when, UTC."""


def rates(row: CellSummary, trials: Sequence[TrialRecord]) -> dict[str, Value]:
    """Return medians of rates; latency over all frames of all trials, both directions."""
    sent = float(median(trial.offered_load_pps for trial in trials))
    received = float(median(trial.forwarded_rate_pps for trial in trials))
    fields = sent_and_received(row, sent, received)
    return fields | frame_loss([way for trial in trials for way in trial.directions]) | _latency(trials)


def sent_and_received(row: CellSummary, sent_pps: float, received_pps: float) -> dict[str, Value]:
    """Return two rates in frames/s and, at layer 2, in Mbit/s."""
    return {
        "tx_rate_fps": sent_pps,
        "throughput_rx_fps": received_pps,
        "tx_rate_mbps": layer2_bits_per_s(sent_pps, row.frame_size) / 1e6,
        "throughput_rx_mbps": layer2_bits_per_s(received_pps, row.frame_size) / 1e6,
    }


def frame_loss(directions: Sequence[DirectionCounts]) -> dict[str, Value]:
    """Return the lost part of what was sent; nothing where nothing was sent."""
    sent = sum(way.sent for way in directions)
    return {"frame_loss_percent": 100 * sum(way.lost for way in directions) / sent} if sent else {}


def _latency(trials: Sequence[TrialRecord]) -> dict[str, Value]:
    """Return latency over all frames of all trials, both directions; nothing where no frame was stamped."""
    histograms = [text for trial in trials for text in trial.latency_hdr if text]
    found = merge_latency(histograms)
    if found is None:
        return {}
    return {
        "min_latency_ns": found.min_ns,
        "max_latency_ns": found.max_ns,
        "avg_latency_ns": mean_latency_ns(histograms),
    }


def times(spans: Iterable[Span]) -> dict[str, Value]:
    """Return begin and end in UTC; VSPERF writes local time of its host, without naming the zone."""
    starts, ends = zip(*spans, strict=True)
    first, last = min(starts), max(ends)
    seconds = int((last - first).total_seconds())
    return {
        "test_execution_time": f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}",
        "start_time": f"{first:%Y-%m-%d %H:%M:%S}",
        "stop_time": f"{last:%Y-%m-%d %H:%M:%S}",
    }


def span_of_trial(trial: TrialRecord) -> Span:
    """Return the time in which a trial's frames were sent."""
    start = _moment(trial.started_at)
    return start, start + timedelta(seconds=trial.duration_ns / NS_PER_S)


def span_of_test(test: MeasuredTest) -> Span:
    """Return the time of a test, with the pauses between its trials."""
    return _moment(test.result.started_at), _moment(test.result.ended_at)


def _moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def own(row: CellSummary, **reported: Value) -> dict[str, Value]:
    """Return nfvbed's own columns of a line.

    Args:
        reported: the other columns, by their names without the prefix.
    """
    values = {"run": row.run, "cell": row.cell, "variant": row.variant} | reported
    return {OWN_PREFIX + name: value for name, value in values.items()}


def own_of_test(row: CellSummary, test: MeasuredTest, trials: int, **reported: Value) -> dict[str, Value]:
    """Return nfvbed's own columns of a test that does not consist of trials at maximum load.

    Args:
        test: its label stands for the preset.
        trials: number of trials in the line.
        reported: the line's other columns, by their names without the prefix.
    """
    usual: dict[str, Value] = {
        "preset": test.result.test,
        "simulated": int(test.result.simulated or row.simulated),
        "status": test.result.status.value,
        "reason": test.result.reason,
        "trials": trials,
        "placement_class": test.placement_class,
        "warnings": written_once(test.warnings),
    }
    return own(row, **(usual | reported))
