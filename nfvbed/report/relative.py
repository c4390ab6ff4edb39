"""Relative throughput: what a search found over what one of testpmd in the switch's place did, in the same round.

The two are neighbours, and which comes first turns from round to round. What the host does to both at once, its clock,
its placement, its guests, is in neither of the ratio's sides alone.
"""

from collections.abc import Iterable, Mapping
from statistics import quantiles

from nfvbed.compare.statistics import Interval, median, median_interval
from nfvbed.records import Record, Status
from nfvbed.results import ResultKind, ResultRecord
from nfvbed.search.result import GoalResult, SearchResult

Key = tuple[str, str, str]
"""Cell, test and goal."""


class RelativeThroughput(Record):
    """Of one goal of one cell, over the rounds in which both searches have regular results in one placement class."""

    reference: str
    """The cell of testpmd."""
    ratios: tuple[float, ...]
    """By round."""
    unpaired: int
    """Rounds in which one of the two has none."""

    @property
    def ratio(self) -> float | None:
        """The median; None without a pair."""
        return median(self.ratios) if self.ratios else None

    @property
    def interval(self) -> Interval | None:
        """Of the median; below six pairs their range."""
        return median_interval(self.ratios)

    @property
    def interquartile_share(self) -> float | None:
        """Distance of the quartiles over the median; None below four pairs."""
        if len(self.ratios) < 4:
            return None
        low, _, high = quantiles(self.ratios, n=4, method="inclusive")
        return (high - low) / median(self.ratios)


def relative_throughputs(results: Iterable[ResultRecord]) -> Mapping[Key, RelativeThroughput]:
    """Pair the searches of one run.

    Args:
        results: of all its cells.
    """
    ended = [entry for entry in results if (entry.kind, entry.status) == (ResultKind.SEARCH, Status.OK)]
    searches = {(entry.cell, entry.test, entry.round): entry for entry in ended if entry.payload}
    found = {key: SearchResult.model_validate(entry.payload) for key, entry in searches.items()}
    ratios: dict[Key, list[float]] = {}
    missing: dict[Key, int] = {}
    of: dict[Key, str] = {}
    for (cell, test, number), own in found.items():
        if own.relative_to is None:
            continue
        partner = found.get((own.relative_to, test, number))
        alike = partner is not None and _class(searches, cell, test, number) == _class(
            searches, own.relative_to, test, number
        )
        for goal in own.goals:
            key = cell, test, goal.goal.name
            of[key] = own.relative_to
            ratio = _ratio(goal, partner.of(goal.goal.name)) if partner is not None and alike else None
            if ratio is None:
                missing[key] = missing.get(key, 0) + 1
            else:
                ratios.setdefault(key, []).append(ratio)
    return {
        key: RelativeThroughput(reference=reference, ratios=tuple(ratios.get(key, ())), unpaired=missing.get(key, 0))
        for key, reference in of.items()
    }


def _class(searches: Mapping[tuple[str, str, int], ResultRecord], cell: str, test: str, number: int) -> str:
    return searches[cell, test, number].placement_class


def _ratio(own: GoalResult, partner: GoalResult) -> float | None:
    ours, theirs = own.conditional_throughput_pps, partner.conditional_throughput_pps
    if not own.regular or not partner.regular or not ours or not theirs:
        return None
    return ours / theirs
