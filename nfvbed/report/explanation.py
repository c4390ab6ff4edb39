"""One row taken apart, in sentences and short texts: the same on the terminal and on a page."""

from collections.abc import Iterable
from math import exp

from nfvbed.compare.differences.differences import Difference
from nfvbed.compare.explain import ExplainedTrial, Explanation
from nfvbed.compare.rows.paced import PacedSummary
from nfvbed.compare.verdict import Bound, Judgement, Pair, Verdict
from nfvbed.records import Preset
from nfvbed.report import wording
from nfvbed.report.labels import class_ratios
from nfvbed.report.marks import SHORT
from nfvbed.report.pacedload import span_of

PRESETS: dict[str, str] = {Preset.MRR: "maximum", Preset.PACED: "half", Preset.COMMON: "common"}
"""Loads of trials; those of tests have their test's name."""


def title(found: Explanation) -> str:
    """Return the row's name: cell, run, variant, traffic point, ports."""
    row = found.row
    return f"{row.cell} of run {row.run}: {row.variant} at {wording.row_point(row)}, ports {row.ports}"


def load_of(trial: ExplainedTrial) -> str:
    """Return the load of a trial in words."""
    return PRESETS.get(trial.preset, trial.preset.value)


def distance_of(trial: ExplainedTrial) -> str:
    """Return the core distances before and after a trial, ns."""
    if trial.before_ns is None or trial.after_ns is None:
        return wording.NOTHING
    return f"{trial.before_ns:.0f}, {trial.after_ns:.0f}"


def stolen_of(trial: ExplainedTrial) -> str:
    """Return the part of a trial that was stolen."""
    return wording.NOTHING if trial.stolen_ratio is None else wording.percent(trial.stolen_ratio)


def pair_texts(pair: Pair | None) -> tuple[str, str]:
    """Return the ratio of a round's pair, and in what it was matched; empty where the round makes none."""
    if pair is None:
        return "", ""
    return f"×{wording.factor(exp(pair.log_ratio))}", pair.placement or ("levelled" if pair.levelled else "all states")


def headline(found: Explanation) -> str:
    """Return the row's rate with its verdict, or why it has none."""
    if found.row.mrr is None:
        return wording.status(found.row)
    rate = f"{wording.bound(found.row)}{wording.mpps(found.row.mrr.median_pps)} Mpps"
    if found.difference is None:
        return f"{rate}, the baseline" if found.baseline_of else rate
    judged = found.difference.judgement
    times = f" {wording.times(judged)}" if judged.ratio is not None else ""
    return f"{rate}: {wording.short_verdict(judged)}{times} against {found.difference.baseline_cell}"


def rate_sentences(found: Explanation) -> Iterable[str]:
    """Yield what the rate is the median of, and what was seen at given loads."""
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
    missing = f"{wording.loss(found.missing_ratio, at_least=bool(found.surplus))} of the frames missing"
    return f"({span_of(found)} Mpps): {missing}{delay}, {found.trials} trials"


def limit_sentences(found: Explanation) -> Iterable[str]:
    """Yield what bounds the rate, and which ceilings are not used."""
    row = found.row
    yield from (f"{limit.kind.value}: {limit.detail}." for limit in row.limits)
    yield from (f"possibly {limit.kind.value}: {limit.detail}." for limit in row.possible_limits)
    yield from (f"Ceiling {entry.cell} is not used: {entry.detail}." for entry in row.exceeded)
    if row.mrr is not None and not row.limits:
        yield "None that was found sets the rate."


def warning_sentences(found: Explanation) -> Iterable[str]:
    """Yield what calls the rate, and what was seen at given loads, into question."""
    yield from (f"{kind.value}: {SHORT[kind]} ({counts})." for kind, counts in wording.row_warnings(found.row).items())


def judged_sentences(found: Explanation) -> Iterable[str]:
    """Yield what was judged, of this row and of those that are judged against it."""
    if found.difference is not None:
        yield from verdict_sentences(found.difference)
    for entry in found.baseline_of:
        yield f"{entry.variant} is judged against this row: {_in_short(entry.judgement)}."
    if found.difference is None and not found.baseline_of and found.row.mrr is not None:
        yield "There is nothing to compare it with."


def verdict_sentences(difference: Difference) -> Iterable[str]:
    """Yield what a verdict rests on: size, pairs, level, classes, scope."""
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
    """Return on how many pairs a verdict rests, how many are matched by class, and at which level it was made."""
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
