"""The answer in sentences: which data plane, by how much, and how sure that is."""

from collections.abc import Iterable, Sequence
from typing import Final

from nfvbed.compare.chains import Chain
from nfvbed.compare.commands import deciding_command
from nfvbed.compare.comparison import Comparison
from nfvbed.compare.differences.ranking import Leader, Standing, leaders
from nfvbed.compare.differences.scope import Scope
from nfvbed.compare.verdict import Bound, Verdict
from nfvbed.records import QualityWarning, Record
from nfvbed.report import wording

TESTS_ALONE: Final = "Tests without a maximum receive rate: their results are shown as they are, and are not ranked."
EMULATED: Final = "No rate can be given: the guests were emulated; only their frame counts hold."
OF_EMULATED_GUESTS: Final = "Guests were emulated: of those results only the frame counts hold."


MOST_NAMED: Final = 2
"""So many of those that stand alike, or traffic points without an answer, are named in the headline."""
OPEN_TO_THE_FIRST: Final = {
    Standing.OVERLAPS: "ranges overlap",
    Standing.MAY_BE_HIGHER: "may be higher",
    Standing.FEW_ROUNDS: "too few rounds",
}
"""Why a survey does not tell others from the highest."""


class Answer(Record):
    """The first thing that is read."""

    headline: str
    points: tuple[Leader, ...]
    sentences: tuple[str, ...]
    """One for each point, in the same order."""
    decide: tuple[str, ...] = ()
    """The command for each point of a survey that would decide what its ranges leave open; empty where nothing is open.
    """


def answer(comparison: Comparison) -> Answer:
    """Return the comparison in words; nothing is claimed that was not judged."""
    points = leaders(comparison.rows, comparison.rules, comparison.rigs)
    measured = len({row.variant for row in comparison.rows if row.mrr is not None})
    emulated = any(row.emulated for row in comparison.rows)
    survey = comparison.purpose == "survey"
    hosts = len({row.host_hash for row in comparison.rows if row.mrr is not None})
    headline = _order(points) if survey and points and measured > 1 else _headline(points, measured, hosts)
    if emulated and not points:
        headline = EMULATED
    if not points and comparison.tests:
        headline = TESTS_ALONE
        if any(QualityWarning.EMULATED_ACCELERATOR in test.warnings for test in comparison.tests):
            headline = f"{TESTS_ALONE} {OF_EMULATED_GUESTS}"
    if measured == 1 and comparison.chains:
        headline = _chains(comparison.chains)
    return Answer(
        headline=headline,
        points=points,
        sentences=tuple(sentence(point) for point in points),
        decide=tuple(command_for(comparison, point) for point in points) if survey else (),
    )


def command_for(comparison: Comparison, point: Leader) -> str:
    """Return the command that compares the first of a point with those that are open against it; empty: none is."""
    names = dict(zip(comparison.runs, comparison.experiments, strict=False))
    experiment = names.get(point.row.run, "")
    variants = [point.row.variant, *dict.fromkeys(row.variant for row in point.close)]
    if not experiment or len(variants) < 2:
        return ""
    place = point.topology, point.frame_size
    return deciding_command(experiment, variants, place, ("chains=null",), comparison.rules.looks[-1])


def _order(points: Sequence[Leader]) -> str:
    """Answer a survey: at each point the highest rate, with those that are not told from it."""
    by_path: dict[str, list[Leader]] = {}
    for point in points:
        by_path.setdefault(wording.path(point.topology, point.vnf), []).append(point)
    named = {_with_close(point) for point in points}
    if len(named) == 1 and len(points) > 1:
        return f"Highest rates, at every traffic point measured: {named.pop()}."
    parts = [f"{path} {_first_of(found)}" for path, found in by_path.items()]
    return f"Highest rates: {'; '.join(parts)}."


def _first_of(points: Sequence[Leader]) -> str:
    """Return who is first at a path's points, by frame size where it is not the same at all of them."""
    named = [(wording.frame_size(point.frame_size), _with_close(point)) for point in points]
    if len({text for _, text in named}) == 1:
        return named[0][1]
    return ", ".join(f"{size} {text}" for size, text in named)


def _with_close(point: Leader) -> str:
    said = [f"{words}: {_first_names(names)}" for words, names in _open(point)]
    return f"{point.row.variant} ({'; '.join(said)})" if said else point.row.variant


def _open(point: Leader) -> Iterable[tuple[str, list[str]]]:
    """Yield why others are not told from the first, each with their names."""
    for standing, words in OPEN_TO_THE_FIRST.items():
        names = list(dict.fromkeys(row.variant for row in point.standing(standing)))
        if names:
            yield words, names


def _first_names(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")


def _headline(points: Sequence[Leader], measured: int, hosts: int) -> str:
    if not points:
        return "Nothing was measured."
    points = [point for point in points if not point.alone] or points
    variants = {point.row.variant for point in points}
    if all(point.runner_up is None for point in points):
        what = "one data plane" if measured == 1 else "no two data planes that can be compared"
        return f"No comparison: {f'rates of {hosts} hosts' if hosts > 1 else what}."
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
    return f"{chains[0].variant} holds {wording.held(chains[0].hold)} through a chain of {', of '.join(parts)}."


def _rest(points: Sequence[Leader], clear: Sequence[Leader]) -> str:
    """Return what is left beside the points with a clear leader."""
    left = [point for point in points if point not in clear]
    if not left:
        return "it depends on the traffic"
    if len(left) > MOST_NAMED:
        return f"{len(left)} of {len(points)} traffic points have no clear answer"
    return f"not decided: {'; '.join(wording.row_point(point.row) for point in left)}"


def _span(points: Sequence[Leader]) -> str:
    """Return the range of ratios to the next best, for each path on its own: their scopes differ."""
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
    """Return who leads at one traffic point and how sure it is."""
    where = wording.row_point(point.row)
    if point.row.mrr is None:
        return f"{where}: not measured."
    rate = f"{wording.mpps(point.row.mrr.median_pps)} Mpps"
    if point.row.limited:
        rate = f"at least {rate}"
    head = f"{where}: {point.row.variant} forwards {rate}"
    if point.runner_up is None or point.judgement is None:
        return f"{head}; nothing here can be compared with it."
    if point.surveyed:
        said = "; ".join(f"{words}: {', '.join(names)}" for words, names in _open(point))
        return f"{head}; {said or 'no range overlaps its own'}."
    return f"{head}, {_against(point)}."


def _against(point: Leader) -> str:
    judged, other = point.judgement, point.runner_up
    if judged is None or other is None:
        return ""
    if judged.verdict is Verdict.SAME:
        return f"the same as {other.variant} ({judged.reason})"
    if judged.verdict is Verdict.DEPENDS_ON_PLACEMENT:
        return f"but against {other.variant} it depends on the placement of cores ({judged.reason})"
    if judged.verdict is not Verdict.HIGHER or judged.ratio is None:
        return f"not decided against {other.variant} ({judged.reason})"
    least = "at least " if judged.bound is Bound.AT_LEAST else ""
    interval = judged.interval
    sure = f"; {wording.level(interval)} {interval.low:.2f}–{interval.high:.2f}" if interval else ""
    ground = {Scope.CONTROLLED: "only the variant differs", Scope.SYSTEM: "whole systems compared", None: ""}.get(
        point.scope, ""
    )
    if point.scope is Scope.CONTROLLED and point.differences:
        ground = "through the same VNF"
    return f"{least}{_times(judged.ratio)} that of {other.variant} ({ground}{sure})"
