"""Variants in the order in which they came: each against the one before it, and what changed beside it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from nfvbed.compare.differences.descriptions import differences
from nfvbed.compare.differences.differences import Difference
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.report import wording
from nfvbed.report.context import ReportContext
from nfvbed.report.page.values import Table, plain_table
from nfvbed.spec.options import name_of

HEADINGS: Final = ("Step", "Point", "Before, Mpps", "After, Mpps", "Verdict", "Ratio", "Interval, level")
CHANGED: Final = ("Step", "Packages and versions", "What changed by itself")
_VERSIONS: Final = "versions"


@dataclass(frozen=True)
class SuccessiveSection:
    """The section."""

    steps: Table
    changed: Table


def successive_section(context: ReportContext) -> SuccessiveSection | None:
    """Return the verdict on each step with all that changed with it; None where no order is known."""
    comparison = context.comparison
    rows = {(row.run, row.cell): row for row in comparison.rows}
    both = [
        (found, rows[found.baseline_run, found.baseline_cell], rows[found.run, found.cell])
        for found in comparison.successive
    ]
    if not both:
        return None
    title = (
        "Each variant against the one before it, in rounds that both have. A step is of all that changed with it, and "
        "of no part of it alone."
    )
    steps = plain_table(title, HEADINGS, [_step(*entry) for entry in both])
    changes = {_name(found): _changed(old, new, context.variants) for found, old, new in both}
    return SuccessiveSection(
        steps, plain_table("What changed with each step.", CHANGED, [(name, *said) for name, said in changes.items()])
    )


def _name(found: Difference) -> str:
    return f"{found.baseline_variant} → {found.variant}"


def _step(found: Difference, old: CellSummary, new: CellSummary) -> tuple[str, ...]:
    judged = found.judgement
    interval = judged.interval
    span = f"{wording.ratio_interval(judged)}, {wording.level(interval)}" if interval else wording.NOTHING
    return (
        _name(found),
        wording.point(found.topology, found.vnf, found.frame_size),
        _rate(old),
        _rate(new),
        wording.verdict_words(judged),
        wording.times(judged),
        span,
    )


def _rate(row: CellSummary) -> str:
    return wording.NOTHING if row.mrr is None else wording.mpps(row.mrr.median_pps)


def _changed(old: CellSummary, new: CellSummary, configurations: Mapping[str, Mapping[str, Any]]) -> tuple[str, str]:
    before, after = (configurations.get(row.config_hash, {}) for row in (old, new))
    versions = [dict(side.get(_VERSIONS) or {}) for side in (before, after)]
    plane = str(((after.get("variant") or {}).get("options") or {}).get("dataplane", ""))
    defaults = (model.changes_of(versions[0], versions[1]) for model in CATALOGUE.options if name_of(model) == plane)
    return _listed(differences(versions[0], versions[1])), _listed(text for found in defaults for text in found)


def _listed(texts: Iterable[str]) -> str:
    return "; ".join(text.replace(" -> ", " → ") for text in texts) or wording.NOTHING
