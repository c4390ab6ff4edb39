"""What can be chosen on the page of a comparison, and what is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from nfvbed.compare.chains import ShareReference
from nfvbed.dashboard.results.parameters import ComparisonQuery
from nfvbed.dashboard.results.source import MOST_SETTINGS, Source
from nfvbed.records import RunRecord
from nfvbed.records.annotations import Marks
from nfvbed.records.selection import MEASURED
from nfvbed.report import wording
from nfvbed.report.page.comparison import Grouping
from nfvbed.spec.experiment import BEST
from nfvbed.store.summaries import Part

OFFERED: Final = 6
"""Newest runs among which one chooses."""
KNOWN: Final = 200
"""Newest runs that a field completes."""


PATHS: Final = {ShareReference.ONE_VNF: "one VNF", ShareReference.P2P: "no VNF (p2p)"}


@dataclass(frozen=True)
class Option:
    """An option of a form's field."""

    value: str
    text: str
    chosen: bool


@dataclass(frozen=True)
class Form:
    """All that can be chosen."""

    runs: tuple[Option, ...]
    known: tuple[tuple[str, str], ...]
    """Labels and ids of newest runs, each with what it is of."""
    variants: tuple[Option, ...]
    baselines: tuple[Option, ...]
    groupings: tuple[Option, ...]
    share: str
    """Part of a rate that a chain is asked to hold."""
    paths: tuple[Option, ...]
    """Paths whose rate that is a part of."""
    most: int


def form_of(
    source: Source,
    asked: ComparisonQuery,
    shown: tuple[str, ...],
    compared: Sequence[RunRecord] = (),
    measured: tuple[str, ...] = (),
) -> Form:
    """Return the form with what was asked for.

    Args:
        asked: what the URL asks for.
        shown: variants of the comparison; empty where there is none yet.
        compared: its runs, which are not looked for again.
        measured: the variants of these runs.
    """
    newest_known, _ = source.store.runs_page(Part(limit=KNOWN), MEASURED)
    newest = newest_known[:OFFERED]
    ids = tuple(run.id for run in compared) or (source.named(asked.runs) if asked.runs or newest else ())
    marks = source.store.marks()
    newest_ids = {run.id for run in newest}
    known_by_id = {run.id: run for run in (*newest, *compared)}
    listed = [*newest, *(known_by_id.get(run) or source.run(run) for run in ids if run not in newest_ids)]
    known = measured or source.variants_of(ids)
    return Form(
        runs=tuple(Option(run.id, run_text(run, marks.get(run.id, Marks())), run.id in ids) for run in listed),
        known=_completions(newest_known, marks),
        variants=tuple(Option(name, name, name in shown) for name in known),
        baselines=(
            Option("", "the experiment's", asked.baseline is None),
            Option(BEST, "the best of each traffic point", asked.baseline == BEST),
            *(Option(name, name, asked.baseline == name) for name in known),
        ),
        groupings=tuple(Option(by.value, by.value.replace("-", " "), by is asked.by) for by in Grouping),
        share=f"{asked.hold.share:g}",
        paths=tuple(Option(of.value, text, of is asked.hold.of) for of, text in PATHS.items()),
        most=MOST_SETTINGS,
    )


def known_runs(source: Source) -> tuple[tuple[str, str], ...]:
    """Return what a field of a run completes: labels or ids of the newest runs, each with what it is of."""
    newest, _ = source.store.runs_page(Part(limit=KNOWN), MEASURED)
    return _completions(newest, source.store.marks())


def _completions(runs: Sequence[RunRecord], marks: Mapping[str, Marks]) -> tuple[tuple[str, str], ...]:
    return tuple((marks.get(run.id, Marks()).label or run.id, run_text(run, Marks())) for run in runs)


def run_text(run: RunRecord, marks: Marks) -> str:
    """Return when a run began, what it is of, and how it is named."""
    named = ", ".join(part for part in (marks.label, wording.short_run(run.id), "hidden" * marks.hidden) if part)
    return f"{run.started_at[:16].replace('T', ' ')} {run.experiment} ({named})"
