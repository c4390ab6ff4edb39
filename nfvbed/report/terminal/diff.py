"""The screen of a diff: a line for each traffic point, what changed in the configuration, and how it was judged."""

from typing import Final

from rich.text import Text

from nfvbed.compare.diff import ChangeVerdict, Diff, PointChange, SideRate
from nfvbed.compare.verdict import Verdict
from nfvbed.report import wording
from nfvbed.report.terminal.columns import Banner, Cell, Column, Line, Row, lay_out, paragraph
from nfvbed.report.wording import NOTHING

MOST_CHANGES: Final = 8
"""Changed keys of a configuration that a screen shows."""
_COLUMNS = (
    Column("traffic point"),
    Column("before, Mpps", right=True),
    Column("after, Mpps", right=True),
    Column("measured", right=True),
    Column("verdict"),
    Column("95 % and more", dropped=1),
)
_STYLES = {
    ChangeVerdict.HIGHER: "green",
    ChangeVerdict.LOWER: "red",
    ChangeVerdict.HOST_MOVED: "yellow",
    ChangeVerdict.NOT_COMPARABLE: "dim",
}
HOST_SYMBOL: Final = "⌂"


def diff_screen(diff: Diff, width: int) -> list[Text]:
    """Return the lines of a diff; none is wider than asked for, as far as single words allow."""
    lines = [Text(f" {wording.SIMULATED_MARK} ", "bold white on red")] if diff.simulated else []
    lines += [Text(line, "bold") for line in paragraph(head(diff), width)]
    for variant, changes in diff.changed.items():
        shown = [
            *changes[:MOST_CHANGES],
            *([f"and {len(changes) - MOST_CHANGES} more"] * (len(changes) > MOST_CHANGES)),
        ]
        lines += [Text(line) for line in paragraph(f"{variant}: {'; '.join(shown)}", width, "  ")]
    if not diff.changed:
        lines.append(Text("The stored configurations are the same."))
    lines += [Text(line, "yellow") for line in paragraph(how(diff), width)] if not diff.interleaved else []
    lines += [Text(""), *lay_out(_COLUMNS, _lines(diff), width)]
    reasons = dict.fromkeys((entry.verdict, entry.reason) for entry in diff.points if entry.reason)
    lines += [Text("")] if reasons else []
    for verdict, reason in reasons:
        lines += [Text(line, "dim") for line in paragraph(f"{verdict.value.replace('-', ' ')}: {reason}", width, "  ")]
    return lines


def head(diff: Diff) -> str:
    """Return what is compared with what."""
    if diff.interleaved:
        run = wording.short_run(diff.before.run)
        return f"{diff.before.variant} (before) and {diff.after.variant} (after), in the same rounds of run {run}"
    sides = (diff.before, diff.after)
    named = [f"run {wording.short_run(side.run)}{', ' if side.variant else ''}{side.variant}" for side in sides]
    return f"{named[0]} (before) and {named[1]} (after)"


def how(diff: Diff) -> str:
    """Return what sides that were not interleaved can say."""
    references = sorted({entry.reference.cell for entry in diff.points if entry.reference})
    beside = f"judged relative to what both measured unchanged: {', '.join(references)}" if references else ""
    without = "no pinned reference of the same plane and ports acquits the host"
    return f"Not interleaved: the host may have changed between the runs; {beside or without}."


def _lines(diff: Diff) -> list[Line]:
    found: list[Line] = []
    variants = list(dict.fromkeys(entry.variant for entry in diff.points))
    for variant in variants:
        if len(variants) > 1:
            found.append(Banner(variant, "bold"))
        found += [_line(entry) for entry in diff.points if entry.variant == variant]
    return found


def _line(entry: PointChange) -> Row:
    return Row(
        (
            Cell(wording.point(entry.topology, entry.vnf, entry.frame_size)),
            Cell(_rate(entry.before)),
            Cell(_rate(entry.after)),
            Cell(NOTHING if entry.seen is None else f"×{wording.factor(entry.seen)}"),
            Cell(verdict(entry), _STYLES.get(entry.verdict, "")),
            Cell(wording.ratio_interval(entry.judgement)),
        )
    )


def verdict(entry: PointChange) -> str:
    """Return the verdict on a traffic point in a few words."""
    if entry.verdict is ChangeVerdict.HOST_MOVED:
        return f"{HOST_SYMBOL} the host moved"
    symbol = wording.SYMBOLS[Verdict(entry.verdict.value)]
    word = f"{symbol} {entry.verdict.value.replace('-', ' ')}"
    decided = entry.verdict in (ChangeVerdict.HIGHER, ChangeVerdict.LOWER)
    return f"{word} {wording.ratio(entry.judgement)}" if decided else word


def _rate(side: SideRate) -> str:
    return NOTHING if side.median_pps is None else wording.mpps(side.median_pps)
