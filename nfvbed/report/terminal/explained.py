"""One row taken apart, in text: each trial with what became of it, then visits, rate, limits and verdict."""

from collections.abc import Iterable, Sequence
from string import ascii_uppercase
from typing import Final

from rich.text import Text

from nfvbed.compare.explain import ExplainedTrial, Explanation, TrialUse
from nfvbed.records import QualityWarning
from nfvbed.report import explanation, wording
from nfvbed.report.marks import SHORT
from nfvbed.report.searchlines import HEADINGS, conformity_of, exclusions_of, search_lines
from nfvbed.report.terminal.columns import Banner, Cell, Column, Line, Row, lay_out, paragraph

DROPPED: Final = {"used": 1, "trials": 2, "void": 3, "class": 4, "search": 5}
"""Columns of searches that go where the terminal is narrow, the first ones first."""


def explained(found: Explanation, width: int) -> list[Text]:
    """Return the explanation as lines; they break between words only."""
    parts = [
        [Text(line, "bold") for line in paragraph(explanation.title(found), width, "  ")],
        _trials(found, width),
        _visits(found, width),
        _searches(found, width),
        _said("Searches leave out", exclusions_of(found.searches, found.row.cell), width),
        _said("Conformance of searches", conformity_of(found.searches, found.row.cell), width),
        _said("Rate", explanation.rate_sentences(found), width),
        _said("Limits", explanation.limit_sentences(found), width),
        _said("Warnings", explanation.warning_sentences(found), width),
        _said("Verdict", explanation.judged_sentences(found), width),
        _said("Notes", found.notes, width),
    ]
    return [line for part in parts if part for line in (*part, Text(""))][:-1]


def _said(heading: str, sentences: Iterable[str], width: int) -> list[Text]:
    lines = [Text(line) for text in sentences for line in paragraph(f"  {text}", width, "    ")]
    return [Text(heading, "bold"), *lines] if lines else []


def _searches(found: Explanation, width: int) -> list[Text]:
    """Return a line for each goal of each search; why one is not used, or has no pair, is below it."""
    headings = [name.replace(", Mpps", " Mpps").lower().replace("mpps", "Mpps") for name in HEADINGS[:-1]]
    columns = tuple(Column(name, dropped=DROPPED.get(name, 0)) for name in headings)
    rows: list[Line] = []
    for line in search_lines(found.searches, found.row.cell):
        rows.append(Row(tuple(Cell(text, "" if line.used else "yellow") for text in line.texts[:-1])))
        rows += [] if line.used else [Banner(f"round {line.round}, {line.goal}: {line.why}", "yellow", indent=4)]
    return [Text("Throughput searches", "bold"), *lay_out(columns, rows, width)] if rows else []


def _trials(found: Explanation, width: int) -> list[Text]:
    """Return a line for each trial; warnings and reasons are marks, explained once below."""
    columns = (
        Column("trial", right=True),
        Column("round", right=True),
        Column("load"),
        Column("Mpps", right=True),
        Column("class"),
        Column("ns before, after", dropped=1),
        Column("stolen", right=True),
        Column("used"),
        Column("warnings"),
    )
    letters = dict(zip(_warnings(found.trials), ascii_uppercase, strict=False))
    reasons = {why: number for number, why in enumerate(dict.fromkeys(trial.why for trial in found.trials), start=1)}
    lines = [_trial(trial, letters, reasons) for trial in found.trials]
    legend = [f"{letter} {kind.value}: {SHORT[kind]}" for kind, letter in letters.items()]
    legend += [f"{number} {why}" for why, number in reasons.items()]
    reported = [Text(line, "dim") for text in legend for line in paragraph(f"  {text}", width, "    ")]
    heading = Text("Trials", "bold")
    return [heading, *lay_out(columns, lines, width), *reported] if lines else [heading, Text("  none")]


def _warnings(trials: Sequence[ExplainedTrial]) -> list[QualityWarning]:
    return sorted({kind for trial in trials for kind in trial.warnings})


def _trial(trial: ExplainedTrial, letters: dict[QualityWarning, str], reasons: dict[str, int]) -> Row:
    used = "no" if trial.use is TrialUse.UNUSED else "yes"
    texts = (
        str(trial.sequence),
        str(trial.round),
        explanation.load_of(trial),
        wording.mpps(trial.forwarded_rate_pps),
        trial.placement,
        explanation.distance_of(trial),
        explanation.stolen_of(trial),
        f"{used} {reasons[trial.why]}",
        "".join(letters[kind] for kind in trial.warnings),
    )
    return Row(tuple(Cell(text, "yellow" if used == "no" else "") for text in texts))


def _visits(found: Explanation, width: int) -> list[Text]:
    if found.row.mrr is None:
        return []
    classes = found.placement.classes if len(found.placement.classes) > 1 else ()
    pairs = {pair.round: pair for pair in found.difference.pairs} if found.difference else {}
    columns = (
        Column("round", right=True),
        Column("trials", right=True),
        Column("Mpps", right=True),
        *(Column(f"{name} Mpps (trials)", dropped=place) for place, name in enumerate(classes, start=1)),
        Column("ratio", right=True),
        Column("matched in"),
    )
    lines = []
    for visit in found.row.mrr.visits:
        of_class = [visit.by_class.get(name) for name in classes]
        pair = pairs.get(visit.round)
        texts = (
            str(visit.round),
            str(visit.trials),
            wording.mpps(visit.rate_pps),
            *(f"{wording.mpps(entry.rate_pps)} ({entry.trials})" if entry else "" for entry in of_class),
            *explanation.pair_texts(pair),
        )
        lines.append(Row(tuple(Cell(text) for text in texts)))
    return [Text("Visits, one a round", "bold"), *lay_out(columns, lines, width)]
