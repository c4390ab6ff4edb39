"""The verdict of a gate: may a change go in?

Baseline, candidate and a *reference* (the baseline, installed once more) are visited next to each other in every round.
Two one-sided tests are made on the log ratios of candidate and baseline, by the exact signed-rank test:

- *not slower* where the lower bound of the ratio lies above 1 - margin **at every point**. No correction is needed: to
  pass wrongly, the point that is worst has to (an intersection-union test; Berger, Technometrics 24, 1982). A point
  that passed stays so.
- *slower* where the upper bound lies below 1 **at any point**, corrected by Holm, unless that point passed: a loss that
  is certain and lies inside the margin passes, and is said.

Each test has its own level, as no truth makes both errors possible. It is spent over the looks, in proportion to the
rounds that each look adds; the sum bounds the error whatever depends on whatever. The first look that decides is final.

The reference acquits the host. It is the baseline, so that a certain difference between these two, beyond the margin,
is nothing that the candidate did. Where it went the way of the verdict, the verdict is *the host moved*.

Limits bound what is said, as in `verdict`: where the baseline's rate is limited (by the generator, the ports) nothing
passes, and where the candidate's is, it is not called slower.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import exp, log, log1p
from typing import Final, Literal

from pydantic import Field

from nfvbed.compare.samples.multiple import holm_adjusted
from nfvbed.compare.samples.ranks import LARGEST_LOG, RankResult, signed_rank
from nfvbed.compare.verdict import Bounds, Pair
from nfvbed.records import Record
from nfvbed.units import FrameSize

GATE_FORMAT: Final = 1
BASELINE: Final = "baseline"
CANDIDATE: Final = "candidate"
REFERENCE: Final = "reference"
"""The names of the three variants of a gate's run."""
LOOKS: Final = (8, 16, 24, 40)
"""Rounds after which a gate is decided, where no others are given."""
REFERENCE_ALPHA: Final = 0.05
"""Chance that an undisturbed host is said to have moved one way, over all points and looks."""

Estimand = Literal["mrr", "pdr"]
"""What is compared: the maximum receive rate, or the throughput at a loss of 0.5 %."""


class GateVerdict(StrEnum):
    """What a gate, or one point of it, says of the candidate."""

    NOT_SLOWER = "not-slower"
    SLOWER = "slower"
    UNDECIDED = "undecided"
    HOST_MOVED = "host-moved"


class GateRules(Record):
    """What a gate decides by."""

    margin: float = Field(0.03, gt=0, lt=1)
    """A loss up to this part passes."""
    alpha: float = Field(0.05, gt=0, lt=0.5)
    """One-sided error of each of both tests, over all points and looks."""
    looks: tuple[int, ...] = Field(LOOKS, min_length=1)
    """Rounds after which there is a verdict, ascending."""

    least_loss: float = Field(0.0, ge=0, lt=1)
    """Loss that is asked for: *slower* is then below 1 less this part, and the margin lies below that."""

    def spent(self, look: int, whole: float) -> float:
        """Return the part of a level that is spent at a look: as the rounds that it adds are of all."""
        before = max((other for other in self.looks if other < look), default=0)
        return whole * (look - before) / self.looks[-1]


class GatePoint(Record):
    """A traffic point of a gate: its rounds."""

    name: str
    topology: str
    vnf: str = ""
    frame_size: FrameSize
    pairs: tuple[Pair, ...]
    """Candidate over baseline, in order of rounds."""
    reference: tuple[Pair, ...]
    """Reference over baseline, likewise."""
    bounds: Bounds = Bounds()
    """Which sides are limited: what a limit hides passes no gate."""
    lacking: str = ""
    """Why there are no rounds, where there are none."""


class PointVerdict(Record):
    """What a gate says of one traffic point."""

    name: str
    verdict: GateVerdict
    reason: str
    rounds: int
    """Rounds of the last look, which the bounds are of."""
    measured: int
    """Rounds that there are."""
    ratio: float | None = None
    """Candidate over baseline, Hodges and Lehmann's estimate."""
    lower: float | None = None
    """One-sided lower bound of the ratio at the level of its look; None: so few rounds have none."""
    upper: float | None = None
    """One-sided upper bound of it, corrected for the number of points."""
    level: float = 0.0
    """One-sided error of the lower bound."""
    certain_loss: bool = False
    """Whether a point that passed is certainly slower, by less than the margin."""
    reference_ratio: float | None = None
    """Reference over baseline: near 1 where nothing but chance made a difference."""
    reference_interval: tuple[float, float] | None = None
    """One-sided bounds of the reference's ratio."""


class GateResult(Record):
    """The verdict of a gate with all that it rests on."""

    format: int = GATE_FORMAT
    verdict: GateVerdict
    reason: str
    estimand: Estimand = "mrr"
    rules: GateRules
    look: int
    """Rounds of the look that decided, or of the last one; 0: there was none."""
    points: tuple[PointVerdict, ...]


def judge_gate(points: Sequence[GatePoint], rules: GateRules, estimand: Estimand = "mrr") -> GateResult:
    """Return the verdict of the first look that decides, else of the last that there are rounds for.

    Args:
        points: at least one; of those that passed at an earlier look, later rounds are not looked at.
    """
    found: dict[str, PointVerdict] = {point.name: _unseen(point, rules) for point in points}
    passed: set[str] = set()
    taken = 0
    for look in rules.looks:
        open_points = [point for point in points if point.name not in passed]
        if not open_points or any(len(point.pairs) < look for point in open_points):
            break
        taken = look
        seen = _look(open_points, look, len(points), rules)
        found |= seen
        passed |= {name for name, entry in seen.items() if entry.verdict is GateVerdict.NOT_SLOWER}
        moved = [entry.name for entry in seen.values() if entry.verdict is GateVerdict.HOST_MOVED]
        slower = [entry.name for entry in seen.values() if entry.verdict is GateVerdict.SLOWER]
        if moved or slower or len(passed) == len(points):
            break
    ordered = tuple(found[point.name] for point in points)
    verdict, reason = _whole(ordered, rules)
    return GateResult(verdict=verdict, reason=reason, estimand=estimand, rules=rules, look=taken, points=ordered)


def decided_points(points: Sequence[GatePoint], rules: GateRules) -> frozenset[str]:
    """Return the points of which no further round would change anything: all, where the gate is decided."""
    result = judge_gate(points, rules)
    if result.verdict is not GateVerdict.UNDECIDED:
        return frozenset(point.name for point in points)
    return frozenset(entry.name for entry in result.points if entry.verdict is GateVerdict.NOT_SLOWER)


def _look(points: Sequence[GatePoint], look: int, family: int, rules: GateRules) -> dict[str, PointVerdict]:
    """Return what one look says of the points that are open.

    Args:
        family: number of all points, those that passed before included.
    """
    alpha = rules.spent(look, rules.alpha)
    asked = log1p(-rules.least_loss)
    logs = [[value - asked for value in _logs(point.pairs[:look])] for point in points]
    plain = [signed_rank(values, 2 * alpha) for values in logs]
    corrected = [signed_rank(values, 2 * alpha / family) for values in logs]
    adjusted = holm_adjusted([_p_below(result) for result in plain], family)
    bound = log1p(-rules.margin)
    found = {}
    for point, result, narrow, p_value in zip(points, plain, corrected, adjusted, strict=True):
        passes = result.interval is not None and result.interval.low > bound
        slower = p_value <= alpha
        passes, slower = passes and not point.bounds.baseline, slower and not point.bounds.candidate
        verdict = GateVerdict.NOT_SLOWER if passes else GateVerdict.SLOWER if slower else GateVerdict.UNDECIDED
        seen = PointVerdict(
            name=point.name,
            verdict=verdict,
            reason="",
            rounds=look,
            measured=len(point.pairs),
            ratio=_ratio(result.estimate + asked),
            lower=_ratio(result.interval.low + asked) if result.interval else None,
            upper=_ratio(narrow.interval.high + asked) if narrow.interval else None,
            level=result.attained / 2,
            certain_loss=passes and slower,
        )
        seen = _beside_reference(seen, point, look, family, rules)
        found[point.name] = seen.model_copy(update={"reason": _reason(seen, point.bounds, rules)})
    return found


def _beside_reference(seen: PointVerdict, point: GatePoint, look: int, family: int, rules: GateRules) -> PointVerdict:
    """Return the verdict with what the reference says; it is the host's where the reference went the same way.

    To be slower is explained by a reference that is slower as well, and to pass by one that is faster: then the
    baseline itself was slowed. One-sided as the verdicts are, so that eight rounds can show it.
    """
    pairs = point.reference[:look]
    if len(pairs) < look:
        return seen
    alpha = rules.spent(look, REFERENCE_ALPHA) / family
    result = signed_rank(_logs(pairs), 2 * alpha)
    update: dict[str, object] = {"reference_ratio": _ratio(result.estimate)}
    if result.interval is not None:
        low, high = exp(result.interval.low), exp(result.interval.high)
        update["reference_interval"] = (low, high)
        within = 1 - rules.margin <= low and high <= 1 / (1 - rules.margin)
        explained = {GateVerdict.SLOWER: high < 1, GateVerdict.NOT_SLOWER: low > 1}.get(seen.verdict, False)
        if explained and not within:
            update["verdict"] = GateVerdict.HOST_MOVED
    return seen.model_copy(update=update)


def _reason(seen: PointVerdict, bounds: Bounds, rules: GateRules) -> str:
    below = 1 - rules.least_loss
    allowed = below * (1 - rules.margin)
    lower = "none" if seen.lower is None else f"{seen.lower:.4f}"
    match seen.verdict:
        case GateVerdict.HOST_MOVED:
            times = _times(seen.reference_ratio)
            return f"the baseline, installed once more, is {times} of itself, and the candidate {_times(seen.ratio)}"
        case GateVerdict.NOT_SLOWER if seen.certain_loss:
            return f"certainly slower, and by less than the margin: the lower bound {lower} lies above {allowed:.4f}"
        case GateVerdict.NOT_SLOWER:
            return f"the lower bound {lower} lies above {allowed:.4f}"
        case GateVerdict.SLOWER:
            return f"the ratio is certainly below {below:.4g}: {_times(seen.ratio)}"
    if bounds.baseline:
        return "the baseline's rate is limited by what is around it, so it may do more: nothing passes by it"
    return (
        f"the lower bound ({lower}) does not lie above {allowed:.4f}, and the ratio is not certainly below {below:.4g}"
    )


def _whole(points: Sequence[PointVerdict], rules: GateRules) -> tuple[GateVerdict, str]:
    named: dict[GateVerdict, list[PointVerdict]] = {}
    for entry in points:
        named.setdefault(entry.verdict, []).append(entry)
    for verdict in (GateVerdict.HOST_MOVED, GateVerdict.SLOWER, GateVerdict.UNDECIDED):
        if verdict in named:
            return verdict, "; ".join(f"{entry.name}: {entry.reason}" for entry in named[verdict])
    losses = [entry.name for entry in points if entry.certain_loss]
    inside = f"; a certain loss inside the margin at {', '.join(losses)}" if losses else ""
    return GateVerdict.NOT_SLOWER, f"not slower by {rules.margin:.0%} at any of {len(points)} points{inside}"


def _unseen(point: GatePoint, rules: GateRules) -> PointVerdict:
    logs = _logs(point.pairs)
    few = point.lacking or f"{len(logs)} of {rules.looks[0]} rounds"
    ratio = _ratio(signed_rank(logs, 1.0).estimate) if logs else None
    return PointVerdict(
        name=point.name, verdict=GateVerdict.UNDECIDED, reason=few, rounds=0, measured=len(logs), ratio=ratio
    )


def _p_below(result: RankResult) -> float:
    """Return the one-sided p-value of a ratio below 1."""
    return result.p_value / 2 if result.estimate < 0 else 1.0


def _logs(pairs: Sequence[Pair]) -> list[float]:
    return [max(-LARGEST_LOG, min(LARGEST_LOG, pair.log_ratio)) for pair in pairs]


def _ratio(log_ratio: float) -> float | None:
    return exp(log_ratio) if abs(log_ratio) < LARGEST_LOG / 3 else None


def _times(ratio: float | None) -> str:
    return "to or from nothing" if ratio is None else f"×{ratio:.4g}"


def pairs_of_figures(candidate: Mapping[int, float], baseline: Mapping[int, float]) -> tuple[Pair, ...]:
    """Return pairs from one positive figure of each side a round."""
    common = sorted(candidate.keys() & baseline.keys())
    return tuple(Pair(round=number, log_ratio=log(candidate[number] / baseline[number])) for number in common)
