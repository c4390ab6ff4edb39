"""A recommendation in sentences; nothing is claimed that was not judged."""

from collections.abc import Iterable
from string import ascii_uppercase
from typing import Final

from nfvbed.compare.differences.dispersion import SpreadVerdict
from nfvbed.compare.differences.scope import Scope
from nfvbed.compare.recommendation.costs import ON_NICS, HostCost
from nfvbed.compare.recommendation.needs import Measure
from nfvbed.compare.recommendation.rankings import RankedVariant, Ranking
from nfvbed.compare.recommendation.rankreversals import RankReversal
from nfvbed.compare.recommendation.rawethernet import RawEthernetEvidence
from nfvbed.compare.recommendation.recommendation import Proposal, Recommendation, UsedRun
from nfvbed.compare.recommendation.tiers import PairFinding
from nfvbed.compare.verdict import Bound, Judgement, Verdict
from nfvbed.records import PortKind, Status
from nfvbed.records.quality import QualityWarning
from nfvbed.report import wording

NAMED: Final = 4
"""So many of a list are named, the rest is counted."""

CARRIED: Final = {
    RawEthernetEvidence.PROVEN: "proven",
    RawEthernetEvidence.FRAMES: "frames only",
    RawEthernetEvidence.TRAP: "checksum trap",
    RawEthernetEvidence.NOT: "not carried",
}
WHY_TO_RUN: Final = {
    "nothing-measured": "The experiment that would answer:",
    "decide": "This would decide the first place:",
    "not-measured": "This would measure what is available here and has no figure:",
    "sockets": "This would show whether a stack's frames come through:",
}


def value_unit(measure: Measure) -> str:
    """Return the name of the unit that values are written in."""
    return {"frames/s": "Mpps", "ns": "µs", "cores": "cores"}[measure.unit]


def value(number: float, measure: Measure) -> str:
    """Return a figure in the unit of `value_unit`."""
    if measure.unit == "frames/s":
        return wording.mpps(number)
    return wording.microseconds(number) if measure.unit == "ns" else f"{number:.2f}"


def interval(entry: RankedVariant, measure: Measure) -> str:
    """Return the interval of a figure, or the range of so few."""
    found = entry.interval
    if found is None:
        return wording.NOTHING
    return f"{'range ' if found.is_range else ''}{value(found.low, measure)}–{value(found.high, measure)}"


def common_load(ranking: Ranking) -> str:
    """Return the load that the values of all were taken at, in Mpps; empty where there is none, or where it differs."""
    loads = {load_of(entry) for entry in ranking.ranked}
    return loads.pop() if len(loads) == 1 and all(entry.load_pps for entry in ranking.ranked) else ""


def load_of(entry: RankedVariant) -> str:
    """Return the load that a value was taken at, in Mpps; a dash for one at maximum load."""
    return wording.mpps(entry.load_pps) if entry.load_pps else wording.NOTHING


def has_loads(found: Recommendation) -> bool:
    """Return whether each value needs its load beside it: it is at a given load, and that is not the same for all."""
    answer = found.answer
    return found.measure.at_common_load and answer is not None and bool(answer.ranked) and not common_load(answer)


def cores(cost: HostCost) -> str:
    """Return how busy the switch kept its cores, and whether it polls."""
    if cost.cores_at_maximum is None:
        return wording.NOTHING
    text = wording.share(cost.cores_at_maximum)
    if cost.polls is None or not isinstance(cost.cores_at_load, float):
        return text
    return f"{text}, polls" if cost.polls else f"{text}, {cost.cores_at_load:.2f} at {cost.load_fraction or 0:.0%} load"


def hugepages(cost: HostCost) -> str:
    """Return the hugepage memory of the data plane itself."""
    if cost.hugepages_mib is None:
        return wording.NOTHING
    return f"{cost.hugepages_mib} MiB" if cost.hugepages_mib else "none"


def named(names: Iterable[str]) -> str:
    """Join names; of many the first, and how many more."""
    found = list(dict.fromkeys(names))
    rest = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return ", ".join(found[:NAMED]) + rest


def where(ranking: Ranking) -> str:
    """Return the name of a traffic point: path, VNFs, frame size, and flows where they are several."""
    flows = f", {ranking.flows:,} flows" if ranking.flows != 1 else ""
    return f"{wording.point(ranking.topology, ranking.vnf, ranking.frame_size)}{flows}"


def headline(found: Recommendation) -> str:
    """Answer in one sentence."""
    need, answer = f"For {found.need.value}", found.answer
    if not found.enough or answer is None:
        return f"{need}: not enough data ({found.reason})."
    place = f"at {where(answer)}, by {found.measure.name}"
    if answer.is_shared_by_equals:
        return f"{need}: no difference between {named(answer.first)}, {place}."
    if not answer.is_clear:
        return f"{need}: undecided between {named(answer.first)}, {place}."
    if any(pair.by_ranges for pair in answer.pairs if answer.first[0] in (pair.candidate, pair.baseline)):
        return f"{need}: {answer.first[0]}, {place}; by ranges of a survey, without a verdict."
    return f"{need}: {answer.first[0]}, {place}."


def reasons(found: Recommendation) -> list[str]:
    """Return what the order rests on: the verdicts on the first place, their scope, steadiness, and the evidence."""
    answer = found.answer
    if answer is None or not answer.ranked:
        return []
    first = answer.first[0]
    lines = [_against(pair, first, found.measure) for pair in answer.pairs if first in (pair.candidate, pair.baseline)]
    if any(pair.scope.scope is Scope.SYSTEM for pair in answer.pairs):
        lines.append("whole systems are compared: ports, generator engine or VNF differ beside the data plane")
    lines += _steadiness(answer, first)
    if found.measure.at_common_load:
        load = common_load(answer)
        lines += [f"load: {load} Mpps, all directions together"] if load else []
    return [*lines, *_marks(answer), *_evidence(found, answer)]


def _against(pair: PairFinding, first: str, measure: Measure) -> str:
    """Return how the first place does against another one."""
    judged = pair.judgement
    upright = pair.candidate == first
    other = pair.baseline if upright else pair.candidate
    if pair.by_ranges:
        return f"against {other}: {'ahead' if pair.ahead == first else 'behind'} with its whole range; no verdict"
    ratio = _ratio(judged, upright=upright)
    way = "lower is better" if measure.lower_is_better else "higher is better"
    if pair.ahead:
        word = "ahead of" if pair.ahead == first else "behind"
        apart = "; runs have no rounds in common, drift is not cancelled" if judged.unpaired else ""
        return f"{word} {other}:{ratio}, {way}{apart}"
    word = "same as" if judged.verdict is Verdict.SAME or judged.within_margin else "not decided against"
    return f"{word} {other}:{ratio}; {judged.reason}".removesuffix("; ")


def _ratio(judged: Judgement, *, upright: bool) -> str:
    """Return the ratio of the first place to the other one, whichever of them was the candidate."""
    if not judged.ratio:
        return ""
    sign = {Bound.AT_LEAST: "≥ ", Bound.AT_MOST: "≤ "}.get(judged.bound, "")
    if not upright:
        sign = {"≥ ": "≤ ", "≤ ": "≥ "}.get(sign, "")
    middle = f" {sign}×{wording.factor(judged.ratio if upright else 1 / judged.ratio)}"
    found = judged.interval
    if found is None or found.low <= 0:
        return middle
    low, high = (found.low, found.high) if upright else (1 / found.high, 1 / found.low)
    return f"{middle} ({wording.level(found)} {wording.factor(low)}–{wording.factor(high)})"


def _steadiness(answer: Ranking, first: str) -> list[str]:
    words = {SpreadVerdict.STEADIER: "steadier", SpreadVerdict.LESS_STEADY: "less steady"}
    found: dict[str, list[str]] = {}
    for entry in answer.spreads:
        verdict = entry.judgement.verdict
        if first not in (entry.candidate, entry.baseline) or verdict not in words:
            continue
        if entry.candidate != first:
            verdict = {
                SpreadVerdict.STEADIER: SpreadVerdict.LESS_STEADY,
                SpreadVerdict.LESS_STEADY: SpreadVerdict.STEADIER,
            }[verdict]
        found.setdefault(words[verdict], []).append(entry.baseline if entry.candidate == first else entry.candidate)
    return [f"{first} is {word} than {named(names)}" for word, names in found.items()]


def marks_of(ranking: Ranking) -> dict[QualityWarning, str]:
    """Return a letter for each limit and warning that any of the ranked carries, in the order of the enum."""
    carried = {kind for entry in ranking.ranked for kind in (*entry.limits, *entry.warnings)}
    return dict(zip((kind for kind in QualityWarning if kind in carried), ascii_uppercase, strict=False))


def _marks(answer: Ranking) -> list[str]:
    """Return limits and warnings, those of the same variants together."""
    by_kind: dict[str, list[str]] = {}
    for entry in answer.ranked:
        for kind in dict.fromkeys((*entry.limits, *entry.warnings)):
            by_kind.setdefault(kind.value, []).append(entry.variant)
    together: dict[tuple[str, ...], list[str]] = {}
    for word, names in by_kind.items():
        together.setdefault(tuple(names), []).append(word)
    return [f"marked {', '.join(words)}: {named(names)}" for names, words in together.items()]


def _named(run: UsedRun) -> str:
    """Return the name of a run's experiment, and how it ended if not well: then only its regular trials count."""
    return run.experiment if run.status is Status.OK else f"{run.experiment}; it ended {run.status.value}"


def _evidence(found: Recommendation, answer: Ranking) -> Iterable[str]:
    """Yield the runs and cells, as `nfvbed explain` takes them."""
    experiments = {run.run: _named(run) for run in found.runs}
    path = f"{answer.topology}+{answer.vnf}" if answer.vnf else answer.topology
    by_run: dict[str, list[str]] = {}
    for entry in answer.ranked:
        by_run.setdefault(entry.run, []).append(entry.variant)
    for run, names in by_run.items():
        cells = f"cells of {named(names)} at {path}/{answer.frame_size}"
        yield f"evidence: run {run} ({experiments.get(run, '')}), {cells}"
    for run in dict.fromkeys(run for pair in answer.pairs for run in pair.runs if run not in by_run):
        yield f"evidence: run {run} ({experiments.get(run, '')}), by which they are distinguished"


def carriers(found: Recommendation) -> list[str]:
    """Return what is known of each variant and raw-Ethernet VNF, the same reported once."""
    groups: dict[tuple[RawEthernetEvidence, str, str], list[str]] = {}
    for entry in found.carriers:
        emulated = " (emulated guest)" if entry.emulated else ""
        resolved = "" if entry.vnf_resolved in ("", entry.vnf) else f" ({entry.vnf_resolved})"
        groups.setdefault((entry.carries, f"{entry.vnf}{resolved}{emulated}", entry.detail), []).append(entry.variant)
    return [
        f"{CARRIED[carries]}: {named(names)} with {vnf}: {detail}" for (carries, vnf, detail), names in groups.items()
    ]


def host_needs(found: Recommendation) -> list[str]:
    """Return what beside cores and hugepages the variants take: NICs, and what the doctor found lacking."""
    answer = found.answer
    if answer is None:
        return []
    lines = []
    for entry in answer.ranked:
        if entry.cost.port_kind in ON_NICS:
            what = "virtual functions" if entry.cost.port_kind is PortKind.VF else "NICs"
            lines.append(f"{entry.variant}: {what}; {entry.cost.nic or 'what NICs can do was not examined'}")
        if entry.cost.lacks:
            lines.append(f"{entry.variant} is degraded here: {entry.cost.lacks}")
    virtual = [entry.variant for entry in answer.ranked if entry.cost.port_kind not in ON_NICS]
    return [
        *lines,
        *([f"virtual ports, no NIC: {named(virtual)}; nothing here was measured on a wire"] if virtual else []),
    ]


def changes(found: Recommendation) -> list[str]:
    """Return under which traffic the first place is another's, and where it stays."""
    if found.answer is None or not found.enough:
        return []
    lines = [_flip(flip) for flip in found.flips]
    first = set(found.answer.first)
    same = sum(entry.is_clear and set(entry.first) == first for entry in found.elsewhere)
    opened = [where(entry) for entry in found.elsewhere if not entry.is_clear and first & set(entry.first)]
    if same:
        lines.append(f"the first place is the same at {same} other traffic point{'s' if same > 1 else ''}")
    if opened:
        lines.append(f"no clear first place at {named(f'({text})' for text in opened)}")
    return [*lines, *_unknown(found)]


def _flip(flip: RankReversal) -> str:
    where_there = f"{flip.what} {flip.there} in place of {flip.here}"
    first = "undecided between " + named(flip.first) if len(flip.first) > 1 else f"{flip.first[0]} is first"
    how = "" if flip.judged else f" (medians of flow-scaling in run {flip.run}, no verdict)"
    return f"{where_there}: {first}, {named(flip.behind)} behind{how}"


def _unknown(found: Recommendation) -> Iterable[str]:
    """Yield the dimensions that were measured with one value alone."""
    if found.answer is None:
        return
    every = [found.answer, *found.elsewhere]
    alone = []
    if len({entry.topology for entry in every}) == 1:
        alone.append(f"path {found.answer.topology}")
    if len({entry.frame_size for entry in every}) == 1:
        alone.append(wording.frame_size(found.answer.frame_size))
    if len({entry.flows for entry in every}) == 1 and not any(flip.what == "flows" for flip in found.flips):
        alone.append(f"{found.answer.flows:,} flow{'s' if found.answer.flows > 1 else ''}")
    if alone:
        yield f"not known: compared at {', '.join(alone)} alone"


def missing(found: Recommendation) -> list[str]:
    """Return which variants have no place, and why."""
    lines = []
    if found.answer is not None:
        by_reason: dict[str, list[str]] = {}
        for entry in found.answer.left_out:
            by_reason.setdefault(entry.reason, []).append(entry.variant)
        lines += [f"{named(names)}: {reason}" for reason, names in by_reason.items()]
    if found.not_measured:
        lines.append(f"available here, not measured so: {named(found.not_measured)}")
    if found.unavailable:
        lines.append(f"unsupported here (nfvbed doctor says why): {named(found.unavailable)}")
    return lines


def sections(found: Recommendation) -> dict[str, list[str]]:
    """Return all that is said below the order, by heading; some say nothing."""
    return {
        "Why": reasons(found),
        "Raw-Ethernet VNFs": carriers(found),
        "Costs": host_needs(found),
        "What would change it": changes(found),
        "Left out": missing(found),
    }


def why_to_run(proposal: Proposal) -> str:
    """Return what a proposed experiment is for."""
    return WHY_TO_RUN[proposal.why]
