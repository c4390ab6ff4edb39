"""What pages and API show, out of the store; comparisons are kept while nothing is added to their runs."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from nfvbed.compare.chains import ShareRequirement
from nfvbed.compare.comparison import Comparison, compare
from nfvbed.compare.explain import Explanation, explain
from nfvbed.compare.rows.choice import AUTO
from nfvbed.compare.verdict import Rules
from nfvbed.dashboard.problems import NotThereError
from nfvbed.dashboard.results.shared import SharedReadings
from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.errors import UnknownNameError, UsageError
from nfvbed.records import Record, RunRecord
from nfvbed.records.annotations import LATEST
from nfvbed.records.selection import MEASURED
from nfvbed.report.answer import answer
from nfvbed.report.context import ReportContext
from nfvbed.report.figures.catalogue import drawings
from nfvbed.report.figures.theme import Drawing
from nfvbed.report.landing import LOOKED_AT, LandingRun, land, why_unanswered
from nfvbed.report.load import LoadedRuns, context_of, described, load, make_options
from nfvbed.spec.experiment import BEST
from nfvbed.store import Store
from nfvbed.store.summaries import Extent, Part

MOST_SETTINGS: Final = 8
"""Variants times runs that are compared at once: a figure has as many colours."""
MOST_TRIALS: Final = 50_000
"""Trials of the runs of one comparison; they are in memory together."""
KEPT: Final = 12
"""Comparisons that are kept."""
FRESH_S: Final = 3.0
"""How long a row that was taken apart answers who asks again."""
EXPLAINED: Final = 2
"""Rows that are kept, with the trials of their runs."""
ANSWERS_KEPT: Final = 1000
"""Runs of which it is kept whether they have an answer."""


class Choice(Record):
    """What is compared, as the URL says it."""

    runs: tuple[str, ...]
    """Ids."""
    variants: tuple[str, ...] = ()
    baseline: str | None = None
    hold: ShareRequirement = ShareRequirement()
    """What chains are asked to hold."""
    latency: bool = True
    """Whether latency is shown: only then histograms are read, those of the variants shown."""


@dataclass(frozen=True)
class ComparisonView:
    """A comparison with what a page shows beside it. The trials that it was made from are not kept: they are many."""

    comparison: Comparison
    context: ReportContext

    @cached_property
    def headline(self) -> str:
        """Its answer in a sentence."""
        return answer(self.comparison).headline

    @cached_property
    def drawn(self) -> dict[str, Drawing]:
        """Its figures; each is drawn when it is asked for."""
        return drawings(self.comparison)


class Source:
    """Reads the store for one server; may be called from several threads."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._kept: OrderedDict[tuple[Choice, tuple[Extent, ...]], ComparisonView] = OrderedDict()
        self._answers: dict[tuple[RunRecord, Extent], str] = {}
        self._one_at_a_time = threading.Lock()
        self._explained: SharedReadings[tuple[Explanation, LoadedRuns]] = SharedReadings(
            "this row", FRESH_S, most=EXPLAINED
        )

    def run(self, name: str) -> RunRecord:
        """Return a run by its id, its first or last digits, its label, or `latest`: the newest measured one.

        Raises:
            NotThereError: there is no such run, or several are named so.
        """
        try:
            return self.store.run(name, MEASURED)
        except (UnknownNameError, UsageError) as error:
            raise NotThereError(error.what, where=name, observed=error.observed, fix=error.fix) from error

    def landing(self) -> LandingRun | None:
        """Return the run that is shown where none is asked for; None where none was measured."""
        return land(self.store.runs_page(Part(limit=LOOKED_AT), MEASURED)[0], self._why_unanswered)

    def newer(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return what is newer than the run that is shown where none is asked for; nothing where one is."""
        found = None if names else self.landing()
        return found.notes if found else ()

    def named(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the ids of runs, each once; where none is named, the id of the run that is shown by default.

        Raises:
            NotThereError: there is no such run, or none was measured.
        """
        found = None if names else self.landing()
        wanted = (found.run.id,) if found else names or (LATEST,)
        return tuple(dict.fromkeys(self.run(name).id for name in wanted))

    def variants_of(self, runs: tuple[str, ...]) -> tuple[str, ...]:
        """Return the variants of runs, in the order in which they were measured."""
        return tuple(dict.fromkeys(name for run in runs for name in self.store.variants(run)))

    def chosen(self, runs: tuple[str, ...], variants: tuple[str, ...], baseline: str | None) -> Choice:
        """Return a choice resolved: names of runs to ids, no run to the default one, no variants to all of them.

        Raises:
            NotThereError: there is no such run.
            UsageError: there are too many settings.
        """
        ids = self.named(runs)
        of_runs = {run: self.store.variants(run) for run in ids}
        known = tuple(dict.fromkeys(name for names in of_runs.values() for name in names))
        shown = variants or known
        if baseline in known and baseline not in shown:
            shown = (*shown, baseline)
        settings = [(run, name) for run, names in of_runs.items() for name in names if name in shown]
        if len(settings) > MOST_SETTINGS:
            raise UsageError(
                f"at most {MOST_SETTINGS} settings are compared at once",
                observed=f"{len(settings)}, of {len(shown)} variants in {len(ids)} run{'' if len(ids) == 1 else 's'}",
                fix="choose fewer variants, or fewer runs",
            )
        return Choice(runs=ids, variants=shown, baseline=baseline)

    def compared(self, choice: Choice) -> ComparisonView:
        """Return a comparison; asking for the same one again costs nothing until a run grows.

        Raises:
            NotThereError: a variant or baseline that no run has.
            UsageError: there are too many trials.
        """
        key = (choice, tuple(self.store.extent(run) for run in choice.runs))
        with self._one_at_a_time:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            found = self._compare(choice, key[1])
            self._kept[key] = found
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return found

    def run_alone(self, run: RunRecord) -> ComparisonView:
        """Compare the variants of one run, all of them, without latency."""
        return self.compared(Choice(runs=(run.id,), latency=False))

    def explained(self, run: RunRecord, cell: str) -> tuple[Explanation, LoadedRuns]:
        """Return the explanation of a row, with its runs; histograms are read for its variant alone.

        Raises:
            NotThereError: the run has no such cell.
        """
        extent = self.store.extent(run.id)
        require_few((extent,))
        return self._explained.read((run.id, cell, extent), lambda: self._explain(run, cell))

    def _explain(self, run: RunRecord, cell: str) -> tuple[Explanation, LoadedRuns]:
        names = {found.variant for found in self.store.cells(run.id) if found.id.endswith(cell)}
        loaded = load(self.store, (run.id,), VariantModel, latency_of=names)
        try:
            return explain(loaded.data, cell, make_options(loaded, _options())), loaded
        except (UnknownNameError, UsageError) as error:
            raise NotThereError(error.what, where=f"run {run.id}", observed=error.observed, fix=error.fix) from error

    def described(self, digest: str) -> dict[str, Any]:
        """Return a stored description; empty where there is none."""
        return described(self.store, digest)

    def _why_unanswered(self, run: RunRecord) -> str:
        """Return why an ended run has no answer; what was found is kept while nothing is added to it."""
        key = run, self.store.extent(run.id)
        if key not in self._answers:
            if len(self._answers) >= ANSWERS_KEPT:
                self._answers.clear()
            self._answers[key] = why_unanswered(run, lambda: self.run_alone(run).comparison)
        return self._answers[key]

    def _compare(self, choice: Choice, extents: tuple[Extent, ...]) -> ComparisonView:
        require_few(extents)
        latency_of = choice.variants if choice.latency else ()
        loaded = load(self.store, choice.runs, VariantModel, latency_of)
        options = make_options(loaded, _options(choice.baseline, choice.variants))
        options = options.model_copy(update={"hold": choice.hold})
        if choice.baseline is None and choice.variants and options.baseline not in (*choice.variants, BEST):
            options = options.model_copy(update={"baseline": None})  # The experiment's, which is not shown.
        try:
            comparison = compare(loaded.data, options)
        except (UnknownNameError, UsageError) as error:
            raise NotThereError(error.what, where=error.where, observed=error.observed, fix=error.fix) from error
        return ComparisonView(comparison, context_of(loaded, comparison))


def _options(baseline: str | None = None, variants: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "baseline": baseline,
        "placement_class": AUTO,
        "needed": None,
        "margin": Rules().margin,
        "variants": variants,
    }


def require_few(extents: tuple[Extent, ...]) -> None:
    """Raise where runs have more trials than a page compares.

    Raises:
        UsageError: they have.
    """
    trials = sum(extent.trials for extent in extents)
    if trials > MOST_TRIALS:
        raise UsageError(
            f"more than {MOST_TRIALS:,} trials are not compared on a page",
            observed=f"{trials:,} trials",
            fix="choose fewer runs, or use `nfvbed compare`",
        )
