"""The delay of a trial at a given load, as a published claim asks for it."""

from collections.abc import Mapping
from typing import Final

from nfvbed.compare.rows.latency import due_latency, merge_latency
from nfvbed.records import Record, TrialRecord
from nfvbed.records.results import LoadPoint, LoadsPayload
from nfvbed.spec.published import DELAY_VARIATION, Measure

FRACTION: Final = "fraction"


class DelayFigure(Record):
    """A delay, or the reason why there is none."""

    ns: int = 0
    """Delay in ns; 0: none."""
    reason: str = ""


def delay_of(
    payload: LoadsPayload, trials: Mapping[int, TrialRecord], measure: Measure, more: Mapping[str, str | int | float]
) -> DelayFigure:
    """Return the delay that a measure is of.

    Args:
        trials: those of the test's cell by sequence, with their histograms.
        more: parameters beside the measure's.
    """
    wanted = {**measure.parameters, **more}.get(FRACTION)
    point = next((one for one in payload.points if one.fraction == wanted), None)
    if point is None:
        return DelayFigure(reason=f"no trial at {wanted or 'a load that is the same for all variants'}")
    trial = trials.get(point.sequence)
    return _figure(point, [text for text in (trial.latency_hdr if trial else ()) if text], measure.quantity)


def _figure(point: LoadPoint, encoded: list[str], quantity: str) -> DelayFigure:
    seen, due = merge_latency(encoded), due_latency(encoded, point.intended_frames)
    if seen is None or due is None:
        return DelayFigure(reason=f"no delay was measured at {point.intended_load_pps:,} frames/s")
    if due.p99_ns is None:
        missing = f"{100 * (1 - due.came / due.frames):.2g} % of the frames at {point.intended_load_pps:,} frames/s"
        return DelayFigure(reason=f"{missing} never came, and its P99 would be of those that did")
    found = {"P50": seen.p50_ns, "P99": seen.p99_ns, DELAY_VARIATION: seen.delay_variation_ns}
    return DelayFigure(ns=found[quantity])
