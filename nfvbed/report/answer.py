"""The answer in sentences: which data plane, by how much, and how sure that is."""

from collections.abc import Sequence
from typing import Final

from nfvbed.compare.chains import Chain
from nfvbed.compare.comparison import Comparison
from nfvbed.compare.ranking import Leader, leaders
from nfvbed.compare.scope import Scope
from nfvbed.compare.verdict import Bound, Verdict
from nfvbed.records import Record
from nfvbed.report import wording

EMULATED: Final = "No rate can be given: the guests were emulated; only their frame counts hold."


class Answer(Record):
    """The first thing that is read."""

    headline: str
    points: tuple[Leader, ...]
    sentences: tuple[str, ...]
    """One for each point, in the same order."""


def answer(comparison: Comparison) -> Answer:
    """Put the comparison in words; nothing is claimed that was not judged."""
    points = leaders(comparison.rows, comparison.rules, comparison.rigs)
    measured = len({row.variant for row in comparison.rows if row.mrr is not None})
    emulated = any(row.emulated for row in comparison.rows)
    headline = _headline(points, measured) if points or not emulated else EMULATED
    if measured == 1 and comparison.chains:
        headline = _chains(comparison.chains)
    return Answer(headline=headline, points=points, sentences=tuple(sentence(point) for point in points))


def _headline(points: Sequence[Leader], measured: int) -> str:
    if not points:
        return "Nothing was measured."
    points = [point for point in points if not point.alone] or points
    variants = {point.row.variant for point in points}
    if all(point.runner_up is None for point in points):
        what = "one data plane" if measured == 1 else "no two data planes that can be compared"
        return f"No comparison: {what}."
    if len(variants) == 1 and all(point.clear for point in points):
        everywhere = "at every traffic point measured" if len(points) > 1 else "at the traffic point measured"
        return f"{points[0].row.variant} forwards most, {everywhere}: {_span(points)}."
    clear = [point for point in points if point.clear]
    if not clear:
        return "No data plane is clearly ahead."
    several = len({(point.topology, point.vnf) for point in points}) > 1
    places = [
        f"{wording.path(point.topology, point.vnf) + ' ' if several else ''}{wording.frame_size(point.frame_size)}"
        for point in clear
    ]
    winners = [point.row.variant for point in clear]
    if len(set(winners)) == 1:
        return f"{winners[0]} is clearly ahead at {', '.join(places)}; {_rest(points, clear)}."
    parts = [f"{winner} at {place}" for winner, place in zip(winners, places, strict=True)]
    return f"No single winner: {', '.join(parts)} clearly ahead; {_rest(points, clear)}."


def _chains(chains: Sequence[Chain]) -> str:
    """Answer with the longest chains, where nothing is compared."""
    parts = [
        f"{chain.longest} VNF{'s' if chain.longest > 1 else ''} ({chain.vnf}, {wording.frame_size(chain.frame_size)})"
        for chain in chains
    ]
    return f"{chains[0].variant} holds half of its one-VNF rate through a chain of {', of '.join(parts)}."


def _rest(points: Sequence[Leader], clear: Sequence[Leader]) -> str:
    """Say what is left beside the points with a clear leader."""
    open_points = len(points) - len(clear)
    return (
        f"{open_points} of {len(points)} traffic points have no clear answer"
        if open_points
        else "it depends on the traffic"
    )


def _span(points: Sequence[Leader]) -> str:
    """Give the range of ratios to the next best, for each path on its own: their scopes differ."""
    paths = dict.fromkeys((point.topology, point.vnf) for point in points)
    if len(paths) == 1:
        return f"{_ratios(points)} the rate of {_runner_up(points)}"
    spans = [
        f"{_ratios([point for point in points if (point.topology, point.vnf) == path])} in {wording.path(*path)}"
        for path in paths
    ]
    return f"against {_runner_up(points)} {', '.join(spans)}"


def _runner_up(points: Sequence[Leader]) -> str:
    runners = {point.runner_up.variant for point in points if point.runner_up}
    return runners.pop() if len(runners) == 1 else "the next best"


def _ratios(points: Sequence[Leader]) -> str:
    judged = [point.judgement for point in points if point.judgement and point.judgement.ratio]
    ratios = sorted(entry.ratio for entry in judged if entry.ratio)
    least = "at least " if any(entry.bound is Bound.AT_LEAST for entry in judged) else ""
    low, high = _times(ratios[0]), _times(ratios[-1])
    size = low if low == high else f"{low.removesuffix(' times')} to {high}"
    return f"{least}{size}"


def _times(ratio: float) -> str:
    return f"{ratio:.1f} times" if ratio >= 2 else f"{ratio:.2f} times"


def sentence(point: Leader) -> str:
    """Say who leads at one traffic point and how sure it is."""
    where = wording.row_point(point.row)
    if point.row.mrr is None:
        return f"{where}: not measured."
    rate = f"{wording.mpps(point.row.mrr.median_pps)} Mpps"
    if point.row.limited:
        rate = f"at least {rate}"
    head = f"{where}: {point.row.variant} forwards {rate}"
    if point.runner_up is None or point.judgement is None:
        return f"{head}; there is nothing to compare it with."
    return f"{head}, {_against(point)}."


def _against(point: Leader) -> str:
    judged, other = point.judgement, point.runner_up
    if judged is None or other is None:
        return ""
    if judged.verdict is Verdict.SAME:
        return f"the same as {other.variant} ({judged.reason})"
    if judged.verdict is not Verdict.HIGHER or judged.ratio is None:
        return f"not decided against {other.variant} ({judged.reason})"
    least = "at least " if judged.bound is Bound.AT_LEAST else ""
    interval = judged.interval
    sure = f"; {interval.level:.0%} interval {interval.low:.2f}–{interval.high:.2f}" if interval else ""
    ground = {Scope.CONTROLLED: "only the variant differs", Scope.SYSTEM: "whole systems compared", None: ""}.get(
        point.scope, ""
    )
    if point.scope is Scope.CONTROLLED and point.differences:
        ground = "through the same VNF"
    return f"{least}{_times(judged.ratio)} that of {other.variant} ({ground}{sure})"
