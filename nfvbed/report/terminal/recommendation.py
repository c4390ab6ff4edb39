"""A recommendation on one screen: the order, why, what it costs, what would change it; at most forty lines."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from nfvbed.compare.recommendation.rankings import RankedVariant, Ranking
from nfvbed.compare.recommendation.recommendation import Proposal, Recommendation
from nfvbed.records.quality import QualityWarning
from nfvbed.report import wording
from nfvbed.report.recommendation import (
    cores,
    has_loads,
    headline,
    hugepages,
    interval,
    load_of,
    marks_of,
    sections,
    value,
    value_unit,
    why_to_run,
)
from nfvbed.report.terminal.columns import Cell, Column, Row, lay_out, paragraph

HEIGHT: Final = 40
MOST_ROWS: Final = 10
MOST_PROPOSALS: Final = 2
MOST_LINES: Final = {"Why": 8, "Raw-Ethernet VNFs": 9, "Costs": 4, "What would change it": 6, "Left out": 5}
"""Length of each section, its heading among the lines."""


@dataclass(frozen=True)
class Section:
    """A part of the screen, of which the last lines go first where there is no room."""

    heading: str
    sentences: Sequence[str]
    most: int
    """Lines that it may take, its heading among them."""


def screen(found: Recommendation, machine: str, width: int) -> list[Text]:
    """Return the lines of the screen; none is wider than asked for, as far as single words allow.

    Args:
        width: the terminal's, in columns.
    """
    lines = [Text(line, "bold") for line in paragraph(headline(found), width)[:3]]
    lines += [Text(line, "dim") for line in _about(found, machine, width)]
    if found.answer is not None and found.answer.ranked:
        lines += [Text(""), *_table(found, found.answer, width)]
    left = HEIGHT - len(lines) - sum(1 for _ in _commands(found, width)) - 1
    for section in _sections(found):
        written = _written(section, width)[: max(left, 0)]
        left -= len(written)
        lines += written
    return [*lines, *_commands(found, width)]


def _about(found: Recommendation, machine: str, width: int) -> list[str]:
    host = f"host {found.host_hash[:12]}"
    runs = f"{len(found.runs)} run{'s' if len(found.runs) != 1 else ''} of it"
    if found.runs:
        first, last = (found.runs[place].started_at[:10] for place in (-1, 0))
        runs += f", {first}" if first == last else f", {first} to {last}"
    return paragraph("; ".join(filter(None, (machine, host, runs))), width)[:2]


def _table(found: Recommendation, answer: Ranking, width: int) -> list[Text]:
    columns = (
        Column("place", right=True),
        Column("variant"),
        Column(value_unit(found.measure), right=True),
        *((Column("at Mpps", right=True),) if has_loads(found) else ()),
        Column("interval", dropped=3),
        Column("rounds", right=True, dropped=2),
        Column("switch's cores"),
        Column("hugepages", right=True, dropped=1),
        Column("see"),
    )
    letters = marks_of(answer)
    rows = [_row(found, answer, place, letters) for place in range(min(len(answer.ranked), MOST_ROWS))]
    more = len(answer.ranked) - len(rows)
    counted = [Text(f"  {more} more: --json", "dim")] if more else []
    explained = [f"{letter} {kind.value}" for kind, letter in letters.items()]
    told = [Text(line, "yellow") for line in paragraph(f"  {', '.join(explained)}", width, "  ")] if explained else []
    return [*lay_out(columns, rows, width), *counted, *told]


def _row(found: Recommendation, answer: Ranking, place: int, letters: Mapping[QualityWarning, str]) -> Row:
    entry: RankedVariant = answer.ranked[place]
    shared = place > 0 and answer.ranked[place - 1].place == entry.place
    style = "bold" if entry.place == 1 else ""
    texts = (
        "=" if shared else str(entry.place),
        entry.variant,
        f"{'≥ ' if entry.at_least else ''}{value(entry.value, found.measure)}",
        *((load_of(entry),) if has_loads(found) else ()),
        interval(entry, found.measure),
        str(entry.rounds),
        cores(entry.cost),
        hugepages(entry.cost),
        "".join(letter for kind, letter in letters.items() if kind in (*entry.limits, *entry.warnings)),
    )
    return Row(tuple(Cell(text, style) for text in texts))


def _sections(found: Recommendation) -> Iterable[Section]:
    return (Section(heading, lines, MOST_LINES[heading]) for heading, lines in sections(found).items())


def _written(section: Section, width: int) -> list[Text]:
    lines = [line for text in section.sentences for line in paragraph(f"  {text}", width, "    ")]
    if not lines:
        return []
    room = section.most - 1
    if len(lines) > room:
        lines = [*lines[: room - 1], "  more: --json"]
    return [Text(section.heading, "bold"), *(Text(line) for line in lines)]


def _commands(found: Recommendation, width: int) -> Iterable[Text]:
    for proposal in found.proposals[:MOST_PROPOSALS]:
        yield Text(why_to_run(proposal), "bold")
        yield from (Text(line) for line in _shell_lines(proposal, width))


def _shell_lines(proposal: Proposal, width: int) -> list[str]:
    """Break a command where a shell joins it again: it is there to be copied."""
    words = re.findall(r"(?:--\S+ )?(?:'[^']*'|[^\s']+)+", proposal.command)
    lines, line = list[str](), ""
    for word in words:
        if line and len(line) + 1 + len(word) > width - 4:
            lines, line = [*lines, f"  {line} \\"], word
        else:
            line = f"{line} {word}".strip()
    return [*lines, f"  {line}"]


def shown_host(host_hash: str, machine: str, newest: str) -> str:
    """Return one line on another host of which runs are stored."""
    return f"  {host_hash[:12]}  {machine or wording.NOTHING}; newest run {newest[:10]}"
