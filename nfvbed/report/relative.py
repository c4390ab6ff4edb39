"""Relative throughput: what a search found over what one of testpmd in the switch's place did, in the same round.

The two are neighbours, and which comes first turns from round to round. What the host does to both at once, its clock,
its placement, its guests, is in neither of the ratio's sides alone.
"""

from collections.abc import Iterable, Mapping
from statistics import quantiles

from nfvbed.compare.samples.statistics import Interval, median, median_interval
from nfvbed.records import Record, Status
from nfvbed.records.results import ResultKind, ResultRecord
from nfvbed.search.result import GoalResult, SearchResult

Key = tuple[str, str, str]
"""Cell, test and goal."""


class RoundsRatio(Record):
    """The ratio for one goal of one cell in one round."""

    cell: str
    test: str
    goal: str
    round: int
    reference: str
    """The cell of testpmd."""
    search: str
    """Label of the search."""
    ratio: float | None
    """None: one of both has no regular result, or they are of different placement classes."""


class RelativeThroughput(Record):
    """The ratio for one goal of one cell.

    It is over the rounds in which both searches have regular results in one placement class.
    """

    reference: str
    """The cell of testpmd."""
    search: str
    """Label of the searches."""
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
        """The interval of the median; below six pairs, the range of the pairs."""
        return median_interval(self.ratios)

    @property
    def interquartile_share(self) -> float | None:
        """Distance of the quartiles over the median; None below four pairs."""
        if len(self.ratios) < 4:
            return None
        low, _, high = quantiles(self.ratios, n=4, method="inclusive")
        return (high - low) / median(self.ratios)


def relative_throughputs(results: Iterable[ResultRecord]) -> Mapping[Key, RelativeThroughput]:
    """Return the ratios of the paired searches of one run, over all its rounds.

    Args:
        results: those of all its cells.
    """
    by_key: dict[Key, list[RoundsRatio]] = {}
    for one in rounds_ratios(results):
        by_key.setdefault((one.cell, one.test, one.goal), []).append(one)
    return {
        key: RelativeThroughput(
            reference=rounds[0].reference,
            search=rounds[0].search,
            ratios=tuple(one.ratio for one in rounds if one.ratio is not None),
            unpaired=sum(one.ratio is None for one in rounds),
        )
        for key, rounds in by_key.items()
    }


def rounds_ratios(results: Iterable[ResultRecord]) -> Iterable[RoundsRatio]:
    """Yield the ratio of each pair of searches of one run, round by round.

    Args:
        results: those of all its cells.
    """
    ended = [entry for entry in results if (entry.kind, entry.status) == (ResultKind.SEARCH, Status.OK)]
    searches = {(entry.cell, entry.test, entry.round): entry for entry in ended if entry.payload}
    found = {key: SearchResult.model_validate(entry.payload) for key, entry in searches.items()}
    for (cell, test, number), own in found.items():
        if own.relative_to is None:
            continue
        partner = found.get((own.relative_to, test, number))
        alike = partner is not None and _class(searches, cell, test, number) == _class(
            searches, own.relative_to, test, number
        )
        for goal in own.goals:
            name = goal.goal.name
            ratio = _ratio(goal, partner.of(name)) if partner is not None and alike else None
            yield RoundsRatio(
                cell=cell,
                test=test,
                goal=name,
                round=number,
                reference=own.relative_to,
                search=own.search.label,
                ratio=ratio,
            )


def _class(searches: Mapping[tuple[str, str, int], ResultRecord], cell: str, test: str, number: int) -> str:
    return searches[cell, test, number].placement_class


def _ratio(own: GoalResult, partner: GoalResult) -> float | None:
    ours, theirs = own.conditional_throughput_pps, partner.conditional_throughput_pps
    if not own.regular or not partner.regular or not ours or not theirs:
        return None
    return ours / theirs
