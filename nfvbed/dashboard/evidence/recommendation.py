"""Recommendations out of a store, of one host of which it has runs; the same question again costs nothing."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from nfvbed.compare.recommendation.needs import Need
from nfvbed.compare.recommendation.recommendation import Measures, Recommendation, RecommendationRequest, recommend
from nfvbed.compare.verdict import Rules
from nfvbed.dashboard.problems import NotThereError
from nfvbed.dashboard.results.source import MOST_TRIALS, Source
from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.records import RunRecord
from nfvbed.records.selection import MEASURED, OmittedRuns
from nfvbed.report.newest import RUNS, examine_runs, newest_by_host, newest_of
from nfvbed.report.page.head import machine
from nfvbed.store.summaries import Extent

KEPT: Final = 12
"""Recommendations that are kept."""
WITH_LATENCY: Final = (Need.LATENCY, Need.JITTER)
"""Needs for which histograms are read."""

Key = tuple[RecommendationRequest, str, tuple[tuple[str, Extent], ...]]


@dataclass(frozen=True)
class ShownRecommendation:
    """A recommendation with what the page shows beside it."""

    found: Recommendation
    machine: str
    """The host in one line."""
    left: int
    """Newest runs of the host that were not looked at, as they are too large together."""


class Recommender:
    """Recommends variants; may be asked by several threads.

    Args:
        measures: is asked about commands before they are proposed.
    """

    def __init__(self, source: Source, measures: Measures) -> None:
        self._source = source
        self._measures = measures
        self._kept: OrderedDict[Key, Recommendation] = OrderedDict()
        self._one_at_a_time = threading.Lock()

    def hosts(self) -> dict[str, str]:
        """Return the hosts of which there are runs, each with its machine in a line; that of the newest run first."""
        newest = newest_by_host(self._source.store.runs(MEASURED))
        return {digest: machine(self._source.described(digest)) for digest in newest}

    def left_out(self) -> OmittedRuns:
        """Count the runs that are not looked at."""
        return self._source.store.left_out()

    def recommended(self, wanted: RecommendationRequest, host: str = "") -> ShownRecommendation:
        """Return a ranking of what a host's newest runs measured.

        Args:
            wanted: the need, and the traffic that is asked for.
            host: the beginning of its hash; empty: the host of the newest run.

        Raises:
            NotThereError: no host's hash begins so, or several do.
        """
        runs = self._source.store.runs(MEASURED)
        digest = _host(list(newest_by_host(runs)), host)
        newest = newest_of(runs, digest, RUNS)
        extents = [(run.id, self._source.store.extent(run.id)) for run in newest]
        taken = _few(newest, extents)
        key = (wanted, digest, tuple(extents[: len(taken)]))
        with self._one_at_a_time:
            if key not in self._kept:
                self._kept[key] = self._recommend(wanted, digest, taken)
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            found = self._kept[key]
        return ShownRecommendation(found, machine(self._source.described(digest)), len(newest) - len(taken))

    def _recommend(self, wanted: RecommendationRequest, digest: str, runs: list[RunRecord]) -> Recommendation:
        latency_of = None if wanted.need in WITH_LATENCY else ()
        return recommend(
            examine_runs(self._source.store, runs, VariantModel, Rules().margin, latency_of),
            wanted,
            digest,
            self._measures,
        )


def _host(known: list[str], begin: str) -> str:
    if not known:
        return ""
    fitting = [digest for digest in known if digest.startswith(begin)] if begin else known[:1]
    if len(fitting) != 1:
        raise NotThereError(
            f"{'several hosts begin' if fitting else 'no host begins'} with {begin!r}",
            where="host",
            observed=f"hosts with runs: {', '.join(digest[:12] for digest in known)}",
            fix="choose one of them",
        )
    return fitting[0]


def _few(runs: list[RunRecord], extents: list[tuple[str, Extent]]) -> list[RunRecord]:
    """Return the newest runs whose trials can be in memory together; at least one."""
    taken, trials = 0, 0
    for _, extent in extents:
        trials += extent.trials
        if taken and trials > MOST_TRIALS:
            break
        taken += 1
    return runs[:taken]
