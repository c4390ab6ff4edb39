"""What the screen takes from a comparison: the fields it shows, in one place."""

from collections.abc import Sequence
from typing import Final

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.latency import LatencySummary
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.samples.statistics import Interval
from nfvbed.compare.verdict import Judgement
from nfvbed.report import wording
from nfvbed.report.captions import host_lines
from nfvbed.report.pacedload import loads_differ

RANGE: Final = "range"
"""The heading where no row has samples enough for an interval."""


def is_survey(comparison: Comparison) -> bool:
    """Return whether it shows ranges and no verdicts."""
    return comparison.purpose == "survey"


def in_order(comparison: Comparison) -> bool:
    """Return whether rows are shown in order of their rates, and those without a rate apart from them."""
    return comparison.many or is_survey(comparison)


def interval_name(comparison: Comparison) -> str:
    """Return the name of the intervals of rates: few rounds have a range."""
    found = [row.mrr.interval for row in comparison.rows if row.mrr is not None and row.mrr.interval is not None]
    return _name(found, "95 %")


def ratio_interval_name(comparison: Comparison) -> str:
    """Return the name of the intervals of ratios, with the least level that they attain."""
    found = [entry.judgement.interval for entry in comparison.differences if entry.judgement.interval is not None]
    least = min((interval.level for interval in found if not interval.is_range), default=0.95)
    # Rounded down: an interval never covers less than it is said to.
    return _name(found, f"{int(1000 * least) / 10:.3g} %")


def rate_interval(comparison: Comparison, row: CellSummary) -> str:
    """Return a rate's interval; a range is named where the heading does not say it."""
    found = row.mrr.interval if row.mrr else None
    return _named(found, wording.mpps_span(found), interval_name(comparison)) if found else ""


def ratio_interval(comparison: Comparison, judged: Judgement) -> str:
    """Return a ratio's interval, likewise."""
    found = judged.interval
    return _named(found, wording.ratio_interval(judged), ratio_interval_name(comparison)) if found else ""


def _named(interval: Interval, text: str, heading: str) -> str:
    return f"range {text}" if interval.is_range and heading != RANGE else text


def _name(found: Sequence[Interval], level: str) -> str:
    ranges = [interval.is_range for interval in found]
    if ranges and all(ranges):
        return RANGE
    return level


def latency(row: CellSummary) -> LatencySummary | None:
    """Return the latency that the screen shows."""
    return row.given_load.latency if row.given_load else None


def missing(row: CellSummary) -> float | None:
    """Return the part of the intended frames that is missing."""
    return row.given_load.missing_ratio if row.given_load else None


def is_at_least(row: CellSummary) -> bool:
    """Return whether more may be missing: more frames were counted back than were sent."""
    return row.given_load is not None and row.given_load.surplus > 0


def has_loads(comparison: Comparison) -> bool:
    """Return whether each row names the load of its latency: where points have no line that could, or loads differ."""
    return in_order(comparison) or loads_differ(comparison.rows)


def host_state(comparison: Comparison) -> tuple[str, ...]:
    """Return what the hosts did while they were measured."""
    return host_lines(comparison)
