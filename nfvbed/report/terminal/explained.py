"""One row taken apart, in text: each trial with what became of it, then visits, rate, limits and verdict."""

from collections.abc import Iterable, Sequence
from math import exp
from string import ascii_uppercase

from rich.text import Text

from nfvbed.compare.differences import Difference
from nfvbed.compare.explain import ExplainedTrial, Explanation, Use
from nfvbed.compare.paced import PacedSummary
from nfvbed.compare.verdict import Bound, Judgement, Pair, Verdict
from nfvbed.records import Preset, QualityWarning
from nfvbed.report import wording
from nfvbed.report.labels import class_ratios
from nfvbed.report.terminal.columns import Cell, Column, Row, lay_out, paragraph
from nfvbed.report.terminal.screen_warnings import SHORT

PRESETS: dict[str, str] = {Preset.MRR: "maximum", Preset.PACED: "half", Preset.COMMON: "common"}
"""Loads of trials; those of tests have their test's name."""


def explained(found: Explanation, width: int) -> list[Text]:
    """Write the explanation; lines break between words only."""
    row = found.row
    title = f"{row.cell} of run {row.run}: {row.variant} at {wording.row_point(row)}, ports {row.ports}"
    parts = [
        [Text(line, "bold") for line in paragraph(title, width, "  ")],
        _trials(found, width),
        _visits(found, width),
        _said("Rate", _rate(found), width),
        _said("Limits", _limits(found), width),
        _said("Verdict", _verdicts(found), width),
        _said("Notes", found.notes, width),
    ]
    return [line for part in parts if part for line in (*part, Text(""))][:-1]


def _said(heading: str, sentences: Iterable[str], width: int) -> list[Text]:
    lines = [Text(line) for text in sentences for line in paragraph(f"  {text}", width, "    ")]
    return [Text(heading, "bold"), *lines] if lines else []


def _trials(found: Explanation, width: int) -> list[Text]:
    """Write a line for each trial; warnings and reasons are marks, explained once below."""
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
    used = "no" if trial.use is Use.UNUSED else "yes"
    distance = wording.NOTHING
    if trial.before_ns is not None and trial.after_ns is not None:
        distance = f"{trial.before_ns:.0f}, {trial.after_ns:.0f}"
    texts = (
        str(trial.sequence),
        str(trial.round),
        PRESETS.get(trial.preset, trial.preset.value),
        wording.mpps(trial.forwarded_rate_pps),
        trial.placement,
        distance,
        wording.NOTHING if trial.stolen_ratio is None else wording.percent(trial.stolen_ratio),
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
            *_pair(pair),
        )
        lines.append(Row(tuple(Cell(text) for text in texts)))
    return [Text("Visits, one a round", "bold"), *lay_out(columns, lines, width)]


def _pair(pair: Pair | None) -> tuple[str, str]:
    if pair is None:
        return "", ""
    return f"×{wording.factor(exp(pair.log_ratio))}", pair.placement or ("levelled" if pair.levelled else "all states")


def _rate(found: Explanation) -> Iterable[str]:
    row = found.row
    if row.mrr is None:
        yield wording.status(row)
        return
    rate = row.mrr
    interval = f", {wording.level(rate.interval)} {wording.mpps_span(rate.interval)}" if rate.interval else ""
    of = f"median of {rate.rounds} rounds, {rate.trials} trials{interval}"
    yield f"{wording.bound(row)}{wording.mpps(rate.median_pps)} Mpps: {of}."
    by_class = [f"{entry.name} {wording.mpps(entry.median_pps)} ({entry.trials} trials)" for entry in rate.by_class]
    if len(by_class) > 1:
        yield f"Class medians, Mpps: {', '.join(by_class)}."
    for name, summary in (("the common load", row.common), ("its own half load", row.paced)):
        if summary is not None:
            yield f"At {name} {_at_load(summary)}."


def _at_load(found: PacedSummary) -> str:
    latency = found.latency
    delay = (
        f", P50 {wording.microseconds(latency.p50_ns)} µs, P99 {wording.microseconds(latency.p99_ns)} µs"
        if latency
        else ""
    )
    missing = f"{wording.loss(found.missing_ratio)} of the frames missing"
    return f"({wording.mpps(found.load_pps)} Mpps): {missing}{delay}, {found.trials} trials"


def _limits(found: Explanation) -> Iterable[str]:
    row = found.row
    yield from (f"{limit.kind.value}: {limit.detail}." for limit in row.limits)
    yield from (f"possibly {limit.kind.value}: {limit.detail}." for limit in row.possible_limits)
    yield from (f"Ceiling {entry.cell} is not used: {entry.detail}." for entry in row.exceeded)
    if row.mrr is not None and not row.limits:
        yield "None that was found sets the rate."


def _verdicts(found: Explanation) -> Iterable[str]:
    if found.difference is not None:
        yield from verdict_sentences(found.difference)
    for entry in found.baseline_of:
        yield f"{entry.variant} is judged against this row: {_in_short(entry.judgement)}."
    if found.difference is None and not found.baseline_of and found.row.mrr is not None:
        yield "There is nothing to compare it with."


def verdict_sentences(difference: Difference) -> Iterable[str]:
    """Say what a verdict rests on: size, pairs, level, classes, scope."""
    judged = difference.judgement
    reason = f" ({judged.reason})" if judged.reason else ""
    yield f"{_in_short(judged)} against {difference.baseline_cell}{reason}."
    if judged.verdict is Verdict.NOT_COMPARABLE:
        return
    if judged.unpaired:
        yield "Unpaired: the runs have no rounds in common, so drift is not cancelled."
    elif judged.pairs:
        yield pairs_sentence(judged)
    if judged.by_class:
        yield f"By class: {class_ratios(judged)}."
    listed = f": {'; '.join(difference.scope.differences)}" if difference.scope.differences else ""
    yield f"Scope {difference.scope.scope.value}: {difference.scope.reason}{listed}."
    if judged.bound is not Bound.EXACT:
        yield f"The ratio is {judged.bound.value.replace('-', ' ')} that: a limit bounds a side."


def _in_short(judged: Judgement) -> str:
    if judged.ratio is None:
        return judged.verdict.value.replace("-", " ")
    interval = f", {wording.level(judged.interval)} {wording.ratio_interval(judged)}" if judged.interval else ""
    return f"{judged.verdict.value.replace('-', ' ')}: {wording.times(judged)}{interval}"


def pairs_sentence(judged: Judgement) -> str:
    """Say on how many pairs a verdict rests, how many are matched by class, and at which level it was made."""
    used = judged.look or judged.pairs
    text = f"{used} of {judged.pairs} pairs of rounds, {judged.matched} of them matched by placement class"
    text += f", {judged.levelled} levelled" if judged.levelled else ""
    if judged.level:
        text += f"; error of this look {100 * judged.level:.3g} %"
    if judged.p_value is not None:
        text += f", p {judged.p_value:.2g}"
    if judged.adjusted_p is not None:
        text += f" ({judged.adjusted_p:.2g} after Holm's correction)"
    return f"{text}."
