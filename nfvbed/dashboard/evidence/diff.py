"""Before and after out of a store, and the runs among which a side is searched; the same again costs nothing."""

from typing import Final

from nfvbed.compare.diff import Diff
from nfvbed.dashboard.problems import NotThereError
from nfvbed.dashboard.results.form import known_runs, run_text
from nfvbed.dashboard.results.runs import RunsQuery, find_runs
from nfvbed.dashboard.results.shared import SharedReadings
from nfvbed.dashboard.results.source import Source, require_few
from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.errors import UnknownNameError, UsageError
from nfvbed.records import RunRecord
from nfvbed.records.annotations import Marks
from nfvbed.records.selection import MEASURED
from nfvbed.report.diff import read_diff
from nfvbed.report.sides import OF_RUN, find_sides
from nfvbed.store.summaries import Part

OFFERED: Final = 8
"""Runs that are offered for a side."""
KEPT: Final = 24
"""Diffs that are kept."""
FRESH_S: Final = 600.0
"""How long one is kept; one of runs that grew since is made anew at once."""


class Diffs:
    """Reads what changed between two sides; may be asked by several threads."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._made: SharedReadings[Diff] = SharedReadings("this diff", FRESH_S, most=KEPT)

    def read(self, before: str, after: str, margin: float) -> Diff:
        """Return what changed between two sides, named as `nfvbed diff` takes them.

        Raises:
            NotThereError: nothing in the store is named so.
            UsageError: the sides have nothing in common, or too many trials.
        """
        store = self.source.store
        try:
            sides = find_sides(store, (before, after), MEASURED)
        except UnknownNameError as error:
            raise NotThereError(error.what, where=error.where, observed=error.observed, fix=error.fix) from error
        runs = dict.fromkeys(side.run for side in sides)
        extents = tuple(store.extent(run) for run in runs)
        require_few(extents)
        return self._made.read((sides, extents, margin), lambda: read_diff(store, sides, VariantModel, margin))

    def completions(self) -> tuple[tuple[str, str], ...]:
        """Return what a side's field completes, each with what it is: newest runs, and the variants of some."""
        newest, _ = self.source.store.runs_page(Part(limit=OFFERED), MEASURED)
        variants = self.source.variants_of(tuple(run.id for run in newest))
        return *known_runs(self.source), *((name, "in the newest run that has both sides") for name in variants)

    def sides_like(self, text: str, other: str) -> tuple[tuple[str, str], ...]:
        """Return what may be meant by a side that names nothing, each as it is named, with the run that it is of.

        Args:
            text: words of a run, with a variant after a colon or not; empty: runs like the other side's are offered.
            other: the other side.
        """
        words, separator, variant = text.partition(OF_RUN)
        found = self._runs(words) if words else self._runs_beside(other)
        marks = self.source.store.marks()
        return tuple(
            (f"{run.id}{separator}{variant}", run_text(run, marks.get(run.id, Marks()))) for run in found[:OFFERED]
        )

    def _runs(self, words: str) -> list[RunRecord]:
        """Return the runs that have all of these words; none where they are a run's name already."""
        if self._run(words) is not None:
            return []
        return list(find_runs(self.source, RunsQuery(words=words), 1)[0])

    def _runs_beside(self, other: str) -> list[RunRecord]:
        """Return the newest other runs of the same experiment, or of any where the other side is no run."""
        known = self._run(other.partition(OF_RUN)[0])
        asked = RunsQuery(words=known.experiment) if known else RunsQuery()
        runs, _ = find_runs(self.source, asked, 1)
        return [run for run in runs if known is None or (run.experiment == known.experiment and run.id != known.id)]

    def _run(self, name: str) -> RunRecord | None:
        if not name:
            return None
        try:
            return self.source.store.run(name, MEASURED)
        except (UnknownNameError, UsageError):
            return None
