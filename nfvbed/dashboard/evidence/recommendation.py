"""Recommendations out of a store, of one host of which it has runs; the same question again costs nothing."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from nfvbed.compare.recommendation.candidates import ExaminedRun
from nfvbed.compare.recommendation.needs import WITH_LATENCY, Need
from nfvbed.compare.recommendation.recommendation import Measures, Recommendation, RecommendationRequest, recommend
from nfvbed.compare.verdict import Rules
from nfvbed.dashboard.problems import NotThereError
from nfvbed.dashboard.results.source import MOST_TRIALS, Source
from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.records import RunRecord
from nfvbed.records.selection import MEASURED, OmittedRuns
from nfvbed.report.newest import RUNS, examine_run, newest_by_host, newest_of
from nfvbed.report.page.head import machine
from nfvbed.store.summaries import Extent

KEPT: Final = 24
"""Recommendations that are kept."""
EXAMINED: Final = 2 * RUNS
"""Runs of which it is kept what recommendations take from them; their trials are not kept."""

Key = tuple[RecommendationRequest, str, tuple[tuple[str, Extent], ...]]


@dataclass(frozen=True)
class RecommendationView:
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
        self._examined: OrderedDict[tuple[RunRecord, Extent, bool], ExaminedRun] = OrderedDict()
        self._one_at_a_time = threading.Lock()

    def newest(self) -> list[RunRecord]:
        """Return the newest runs of each host, as many as are looked at; newest first."""
        return self._source.store.newest_runs(RUNS, MEASURED)

    def hosts(self, runs: Iterable[RunRecord]) -> dict[str, str]:
        """Return the hosts of runs, each with its machine in a line; that of the newest run first."""
        return {digest: machine(self._source.described(digest)) for digest in newest_by_host(runs)}

    def left_out(self) -> OmittedRuns:
        """Count the runs that are not looked at."""
        return self._source.store.left_out()

    def recommended(self, wanted: RecommendationRequest, host: str = "") -> RecommendationView:
        """Return a ranking of what a host's newest runs measured.

        Args:
            wanted: the need, and the traffic that is asked for.
            host: the beginning of its hash; empty: the host of the newest run.

        Raises:
            NotThereError: no host's hash begins so, or several do.
        """
        runs = self.newest()
        digest = host_named(list(newest_by_host(runs)), host)
        newest = newest_of(runs, digest, RUNS)
        extents = [(run.id, self._source.store.extent(run.id)) for run in newest]
        taken = _few(newest, extents)
        key = (wanted, digest, tuple(extents[: len(taken)]))
        with self._one_at_a_time:
            if key not in self._kept:
                read = self._examine(taken, extents, with_latency=wanted.need in WITH_LATENCY)
                self._keep(key, recommend(read, wanted, digest, self._measures))
            self._kept.move_to_end(key)
            found = self._kept[key]
        return RecommendationView(found, machine(self._source.described(digest)), len(newest) - len(taken))

    def of_each_need(
        self, host: str, runs: Iterable[RunRecord], most_trials: int | None = None
    ) -> dict[Need, Recommendation] | None:
        """Return what a host's newest runs recommend for each need, whatever the traffic; they are read once for all.

        Args:
            host: its hash.
            runs: the newest, of all hosts.
            most_trials: with more of them only what is known already is given; None: however many there are.

        Returns:
            None where it is not known, and there are more trials than that.
        """
        newest = newest_of(runs, host, RUNS)
        extents = [(run.id, self._source.store.extent(run.id)) for run in newest]
        taken = _few(newest, extents)
        used = tuple(extents[: len(taken)])
        keys: dict[Need, Key] = {need: (RecommendationRequest(need=need), host, used) for need in Need}
        with self._one_at_a_time:
            if any(key not in self._kept for key in keys.values()):
                if most_trials is not None and sum(extent.trials for _, extent in used) > most_trials:
                    return None
                read = self._examine(taken, extents, with_latency=True)
                for wanted, _, _ in keys.values():
                    self._keep((wanted, host, used), recommend(read, wanted, host, self._measures))
            return {need: self._kept[key] for need, key in keys.items()}

    def _keep(self, key: Key, found: Recommendation) -> None:
        self._kept[key] = found
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def _examine(
        self, runs: Sequence[RunRecord], extents: Sequence[tuple[str, Extent]], *, with_latency: bool
    ) -> tuple[ExaminedRun, ...]:
        """Return runs as they are looked at; of those that were before, and did not grow, nothing is read.

        Args:
            extents: those of the runs, in their order; there may be more.
            with_latency: whether their latency is asked for.
        """
        found = []
        for run, (_, extent) in zip(runs, extents, strict=False):
            keys = [(run, extent, latency) for latency in (True, *(() if with_latency else (False,)))]
            known = next((key for key in keys if key in self._examined), None)
            if known is not None:
                self._examined.move_to_end(known)
                found.append(self._examined[known])
                continue
            latency_of = None if with_latency else ()
            examined = examine_run(self._source.store, run, VariantModel, Rules().margin, latency_of)
            if examined is not None:
                self._examined[run, extent, with_latency] = examined
                found.append(examined)
        while len(self._examined) > EXAMINED:
            self._examined.popitem(last=False)
        return tuple(found)


def host_named(known: Sequence[str], begin: str) -> str:
    """Return the hash of the host that begins so; of the newest run's where nothing is asked for.

    Args:
        known: hashes of the hosts of which there are runs, that of the newest run first.
        begin: of its hash; empty: nothing is asked for.

    Raises:
        NotThereError: no host's hash begins so, or several do.
    """
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
