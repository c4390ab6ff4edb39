"""The screen of a diff: a line for each traffic point, what changed in the configuration, and how it was judged."""

from typing import Final

from rich.text import Text

from nfvbed.compare.diff import ChangeVerdict, Diff
from nfvbed.report import wording
from nfvbed.report.diff import ChangeText, text_of
from nfvbed.report.terminal.columns import Banner, Cell, Column, Line, Row, lay_out, paragraph

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


def diff_screen(diff: Diff, width: int) -> list[Text]:
    """Return the lines of a diff; none is wider than asked for, as far as single words allow."""
    written = text_of(diff)
    lines = [Text(f" {wording.SIMULATED_MARK} ", "bold white on red")] if diff.simulated else []
    lines += [Text(line, "bold") for line in paragraph(written.head, width)]
    for variant, changes in written.changed.items():
        shown = [
            *changes[:MOST_CHANGES],
            *([f"and {len(changes) - MOST_CHANGES} more"] * (len(changes) > MOST_CHANGES)),
        ]
        lines += [Text(line) for line in paragraph(f"{variant}: {'; '.join(shown)}", width, "  ")]
    lines += [Text(line) for line in paragraph(written.configured, width)]
    lines += [Text(line, "yellow") for line in paragraph(written.not_interleaved, width)]
    lines += [Text(""), *lay_out(_COLUMNS, _lines(written.points), width)]
    below = [f"reference {entry.reference}" for entry in written.points if entry.reference]
    below += [f"{entry.kind.value.replace('-', ' ')}: {entry.reason}" for entry in written.points if entry.reason]
    lines += [Text("")] if below else []
    for text in dict.fromkeys(below):
        lines += [Text(line, "dim") for line in paragraph(text, width, "  ")]
    return lines


def _lines(points: tuple[ChangeText, ...]) -> list[Line]:
    found: list[Line] = []
    variants = list(dict.fromkeys(entry.variant for entry in points))
    for variant in variants:
        if len(variants) > 1:
            found.append(Banner(variant, "bold"))
        found += [_line(entry) for entry in points if entry.variant == variant]
    return found


def _line(entry: ChangeText) -> Row:
    return Row(
        (
            Cell(entry.point),
            Cell(entry.before),
            Cell(entry.after),
            Cell(entry.seen),
            Cell(entry.verdict, _STYLES.get(entry.kind, "")),
            Cell(entry.interval),
        )
    )
