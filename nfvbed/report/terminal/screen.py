"""The last screen of a comparison: host, one line a row, warnings once, the answer; at most forty lines.

All else is behind `nfvbed compare --details`, and on the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import NOT_TESTED
from nfvbed.report import wording
from nfvbed.report.answer import answer
from nfvbed.report.holes import holes
from nfvbed.report.marks import Marks
from nfvbed.report.terminal import screen_model as model
from nfvbed.report.terminal.columns import lay_out, paragraph
from nfvbed.report.terminal.screen_rows import Group, columns, groups
from nfvbed.report.terminal.screen_tests import LEAST, fitted, sections_of_tests
from nfvbed.report.terminal.successive import successive_lines

HEIGHT: Final = 40
WIDTH: Final = 100
"""Columns where there is no terminal that has another width."""
LEGEND: Final = 8
"""Lines that warnings may take from rows where there is no room for all of both."""


@dataclass(frozen=True)
class ScreenContext:
    """The title, the machines and the page beside a comparison."""

    title: str = ""
    machines: tuple[str, ...] = ()
    """Each host in one line."""
    page: str = ""
    """Path of the written page, or how to write it."""
    named: str = ""
    """The runs as a shell takes them, where they were named."""


def screen(comparison: Comparison, about: ScreenContext, width: int = WIDTH) -> list[Text]:
    """Return the lines of the screen; none is wider than asked for, as far as single words allow.

    Args:
        width: the terminal's, in columns.
    """
    marks = Marks(comparison)
    head, foot = _head(comparison, about, width), _foot(comparison, about, width)
    steps = successive_lines(comparison, width)
    sections = [*([steps] if steps else []), *sections_of_tests(comparison, marks, width)]
    of_tests = sum(map(len, sections))
    legend = [paragraph(text, width, "  ") for text in marks.legend()]
    room = HEIGHT - len(head) - len(foot) - 3
    found = groups(comparison, marks)
    wanted = _height(found, max((len(group.rows) for group in found), default=0), False) + of_tests
    reported = _reported(legend, max(LEGEND, room - wanted), width)
    # Two rows of each point are what is compared: tests have half of the screen where these have theirs.
    compared = _height(found, 2, model.in_order(comparison))
    for_tests = min(of_tests, room // 2, max(LEAST + 1, room - len(reported) - compared))
    rows = _table(comparison, found, room - len(reported) - for_tests, width)
    tests = fitted(sections, room - len(reported) - len(rows))
    blank = [Text("")]
    parts = [head, blank if rows else [], rows, tests, blank if reported else [], reported, blank, foot]
    return [line for part in parts for line in part]


def _head(comparison: Comparison, about: ScreenContext, width: int) -> list[Text]:
    lines = [Text(f" {wording.SIMULATED_MARK} ", "bold white on red")] if comparison.simulated else []
    lines += [Text(line, "bold") for line in paragraph(about.title, width)]
    host = "; ".join([*about.machines, *model.host_state(comparison)])
    lines += [Text(line) for line in paragraph(host, width, "  ")]
    ends = [line for note in comparison.ends for line in _first_words(f"{note[0].upper()}{note[1:]}", width, 2)]
    return [*lines, *(Text(line, "yellow") for line in ends)]


def _foot(comparison: Comparison, about: ScreenContext, width: int) -> list[Text]:
    """Return what was not measured, the answer, and where the rest is."""
    lines: list[Text] = []
    missing = _holes(comparison) if model.in_order(comparison) else ""
    if missing:
        lines += [Text(line, "dim") for line in _first_words(missing, width, 2)]
    said = answer(comparison)
    lines += [Text(line, "bold") for line in paragraph(said.headline, width)]
    deciding = next((command for command in said.decide if command), "")
    if deciding:
        lines.append(Text("A survey decides nothing. This would:"))
        # Lines that a shell joins again: the command is there to be copied.
        words = paragraph(deciding, width - 4)
        lines += [Text(f"  {line} \\") for line in words[:-1]] + [Text(f"  {words[-1]}")]
    named = f" {about.named}" if about.named else ""
    rest = f"Details: nfvbed compare{named} --details"
    page = f"Page: {about.page}" if about.page else f"Page: nfvbed report{named}"
    together = f"{rest}. {page}"
    # A path stays whole: it is there to be copied.
    return [*lines, *(Text(line, "dim") for line in ([together] if len(together) <= width else [rest, page]))]


def _holes(comparison: Comparison) -> str:
    by_status: dict[str, list[str]] = {}
    for hole in holes([row for row in comparison.rows if row.reason != NOT_TESTED]):
        where = f" at {', '.join(hole.points)}" if len(hole.points) == 1 else " at some points" if hole.points else ""
        by_status.setdefault(hole.status.value.replace("-", " "), []).append(f"{hole.variant}{where}")
    parts = [f"{status}: {', '.join(dict.fromkeys(names))}" for status, names in by_status.items()]
    return f"Not measured: {'; '.join(parts)}" if parts else ""


def _first_words(text: str, width: int, most: int) -> list[str]:
    """Break a text into lines; what is beyond so many lines is left to the details."""
    lines = paragraph(text, width, "  ")
    if len(lines) <= most:
        return lines
    more = " … (--details)"
    last = paragraph(lines[most - 1], width - len(more), "  ")[0]
    return [*lines[: most - 1], f"{'  ' if most > 1 and not last.startswith('  ') else ''}{last}{more}"]


def _reported(legend: Sequence[Sequence[str]], room: int, width: int) -> list[Text]:
    """Return the explanations that fit; the rest is counted."""
    lines: list[Text] = []
    for number, entry in enumerate(legend):
        left = len(legend) - number
        if len(lines) + len(entry) + (left > 1) > room:
            lines.append(Text(f"{left} more: nfvbed compare --details", "yellow"))
            break
        lines += [Text(line, "yellow") for line in entry]
    return lines


def _table(comparison: Comparison, found: Sequence[Group], room: int, width: int) -> list[Text]:
    """Return as many rows of each point as fit, at least one of each; points for which there is no room are counted."""
    if not found:
        return []
    named = model.in_order(comparison)
    longest = max(len(group.rows) for group in found)
    most = max((n for n in range(1, longest + 1) if _height(found, n, named) <= room), default=1)
    shown = list(found)
    while len(shown) > 1 and _height(shown, most, named) + (len(shown) < len(found)) > room:
        shown.pop()
    lines = [line for group in shown for line in (group.lines_with_name(most) if named else group.lines(most))]
    laid = lay_out(columns(comparison), lines, width)
    left = len(found) - len(shown)
    return [*laid, *([Text(f"{left} more traffic points: nfvbed compare --details", "dim")] if left else [])]


def _height(found: Sequence[Group], most: int, named: bool) -> int:
    """Count the lines with at most so many rows of each point, whose name takes a line or a column."""
    return 1 + sum((0 if named else 1) + min(most, len(group.rows)) for group in found)
