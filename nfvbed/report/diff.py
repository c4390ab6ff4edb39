"""Before and after, out of a store, and in the words that the terminal and pages share."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nfvbed.compare.comparison import compare
from nfvbed.compare.diff import ChangeVerdict, Diff, PointChange, ReferenceChange, Side, SideRate, find_changes
from nfvbed.compare.verdict import Verdict
from nfvbed.report import wording
from nfvbed.report.load import load, make_options
from nfvbed.report.newest import AS_STORED
from nfvbed.report.wording import NOTHING
from nfvbed.spec.variant import Variant

if TYPE_CHECKING:
    from nfvbed.store import Store

HOST_SYMBOL: Final = "⌂"
NONE_COMPARABLE: Final = "nothing here can be compared"
NAMED: Final = 2
"""Changes that an answer names."""
MEASURE_BOTH: Final = "measure both in one run: nfvbed gate"


@dataclass(frozen=True)
class ChangeText:
    """A traffic point, as it is written."""

    variant: str
    point: str
    before: str
    """Mpps, as `after`."""
    after: str
    seen: str
    """After over before as measured, whatever the cause."""
    kind: ChangeVerdict
    verdict: str
    """The verdict in a few words."""
    interval: str
    reason: str
    reference: str
    """What the pinned reference did; empty: there was none, or none was needed."""


@dataclass(frozen=True)
class DiffText:
    """A diff, as it is written."""

    head: str
    """What is compared with what."""
    answer: str
    """What moved, in a sentence."""
    not_interleaved: str
    """What sides of two runs can say; empty: both are of one run."""
    changed: dict[str, tuple[str, ...]]
    """By variant, what differs between the configurations."""
    configured: str
    """What is to be said of configurations beside that; empty: nothing."""
    points: tuple[ChangeText, ...]


def read_diff(store: "Store", sides: tuple[Side, Side], variant_model: type[Variant], margin: float) -> Diff:
    """Return what changed between two sides; no latency is read.

    Args:
        store: what the sides were found in.
        sides: before and after.
        variant_model: the model of variants, with the options of all data planes that there are.
        margin: within which rates count as the same.

    Raises:
        UsageError: the sides are the same, share no traffic point, or are of different data planes.
        StoreError: what is stored cannot be read.
    """
    loaded = load(store, [side.run for side in sides], variant_model, latency_of=())
    comparison = compare(loaded.data, make_options(loaded, {**AS_STORED, "margin": margin}))
    return find_changes(comparison, *sides, loaded.variants)


def text_of(diff: Diff) -> DiffText:
    """Return what is written of a diff."""
    return DiffText(
        head=_head(diff),
        answer=_answer(tuple(map(_point, diff.points))),
        not_interleaved="" if diff.interleaved else _how(diff),
        changed=diff.changed,
        configured=_configured(diff),
        points=tuple(_point(entry) for entry in diff.points),
    )


def _head(diff: Diff) -> str:
    if diff.interleaved:
        run = wording.short_run(diff.before.run)
        return f"{diff.before.variant} (before) and {diff.after.variant} (after), in the same rounds of run {run}"
    sides = (diff.before, diff.after)
    named = [f"run {wording.short_run(side.run)}{', ' if side.variant else ''}{side.variant}" for side in sides]
    return f"R{named[0][1:]} (before) and {named[1]} (after)"


def _answer(points: Sequence[ChangeText]) -> str:
    """Return what moved, the most of it named, and how many traffic points say something else."""
    moved = [entry for entry in points if entry.kind in (ChangeVerdict.LOWER, ChangeVerdict.HIGHER)]
    named = [f"{entry.variant}, {entry.point}: {entry.verdict}" for entry in moved[:NAMED]]
    named += [f"{len(moved) - NAMED} more moved"] if len(moved) > NAMED else []
    others = Counter(entry.kind.value.replace("-", " ") for entry in points if entry not in moved)
    counted = [f"{count} {word}" for word, count in others.most_common()]
    found = "; ".join([*(named or ["No rate is shown to have moved"]), *([", ".join(counted)] if counted else [])])
    return f"{found}, of {len(points)} traffic points." if len(points) > 1 else f"{found}."


def _configured(diff: Diff) -> str:
    if diff.unstored:
        return f"Not known is what changed in {', '.join(diff.unstored)}: a configuration of it is not stored."
    return "" if diff.changed else "The configurations are the same."


def _how(diff: Diff) -> str:
    references = sorted({entry.reference.cell for entry in diff.points if entry.reference})
    beside = f"judged relative to what both measured unchanged: {', '.join(references)}" if references else ""
    without = "no pinned reference of the same plane and ports acquits the host"
    return f"Not interleaved: the host may have changed between the runs; {beside or without}."


def _point(entry: PointChange) -> ChangeText:
    return ChangeText(
        variant=entry.variant,
        point=wording.point(entry.topology, entry.vnf, entry.frame_size),
        before=_rate(entry.before),
        after=_rate(entry.after),
        seen=NOTHING if entry.seen is None else f"×{wording.factor(entry.seen)}",
        kind=entry.verdict,
        verdict=_verdict(entry),
        interval=wording.ratio_interval(entry.judgement),
        reason=entry.reason,
        reference=_reference(entry.reference) if entry.reference else "",
    )


def _verdict(entry: PointChange) -> str:
    if entry.verdict is ChangeVerdict.HOST_MOVED:
        return f"{HOST_SYMBOL} the host moved"
    symbol = wording.SYMBOLS[Verdict(entry.verdict.value)]
    word = f"{symbol} {entry.verdict.value.replace('-', ' ')}"
    decided = entry.verdict in (ChangeVerdict.HIGHER, ChangeVerdict.LOWER)
    return f"{word} {wording.ratio(entry.judgement)}" if decided else word


def _reference(found: ReferenceChange) -> str:
    ratio = "to or from nothing" if found.ratio is None else f"×{wording.factor(found.ratio)}"
    visits = f"{found.visits[0]} and {found.visits[1]} visits"
    return f"{found.cell}: {ratio}, {found.verdict.value.replace('-', ' ')} ({visits})"


def _rate(side: SideRate) -> str:
    return NOTHING if side.median_pps is None else wording.mpps(side.median_pps)
