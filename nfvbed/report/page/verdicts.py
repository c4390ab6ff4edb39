"""What each verdict rests on: pairs, attained level, test, classes and reason."""

from collections.abc import Iterable
from dataclasses import dataclass

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.differences.differences import Difference
from nfvbed.compare.verdict import Judgement, Verdict
from nfvbed.report import wording
from nfvbed.report.labels import class_ratios
from nfvbed.report.page.values import Table, plain_table

VERDICTS = ("Row", "Against", "Verdict", "Ratio", "Interval, level", "Pairs", "Test", "Ratio by class", "Why")


@dataclass(frozen=True)
class Verdicts:
    """The section."""

    table: Table
    folded: bool


def verdict_section(comparison: Comparison) -> Verdicts | None:
    """Return the table; that of many variants is folded, and a survey makes none."""
    table = _verdicts(comparison)
    return Verdicts(table, folded=comparison.many) if table else None


def _name(found: Difference) -> str:
    return f"{found.variant}, {wording.point(found.topology, found.vnf, found.frame_size)}"


def _verdicts(comparison: Comparison) -> Table | None:
    if comparison.purpose == "survey":
        return None
    rows = [
        (_name(found), found.baseline_variant, *_judged(found.judgement))
        for found in comparison.differences
        if found.judgement.verdict is not Verdict.NOT_COMPARABLE
    ]
    rules = comparison.rules
    looks = " and ".join(str(look) for look in rules.looks)
    title = (
        f"What each verdict rests on. Looks after {looks} rounds, errors of {rules.alpha:.0%} together; the margin of "
        f"the same is ±{rules.margin:.0%}. An interval's level is the one that it attains exactly "
        f"at its look; over all looks together, the first of which that decides is final, {1 - rules.alpha:.0%} is "
        "promised."
    )
    return plain_table(title, VERDICTS, rows) if rows else None


def _judged(judged: Judgement) -> Iterable[str]:
    word = wording.verdict_words(judged)
    interval = judged.interval
    span = f"{wording.ratio_interval(judged)}, {wording.level(interval)}" if interval else wording.NOTHING
    same = judged.same_interval
    shown = f"; 90 %: {wording.factor(same.low)}–{wording.factor(same.high)}" if same else ""
    yield from (word, wording.times(judged), f"{span}{shown}", _pairs(judged), _test(judged))
    yield from (class_ratios(judged) or wording.NOTHING, judged.reason or wording.NOTHING)


def _pairs(judged: Judgement) -> str:
    if judged.unpaired:
        return "unpaired: drift is not cancelled"
    levelled = f", {judged.levelled} levelled" if judged.levelled else ""
    return f"{judged.look or judged.pairs} of {judged.pairs}, {judged.matched} matched by class{levelled}"


def _test(judged: Judgement) -> str:
    if judged.p_value is None:
        return wording.NOTHING
    level = f", attained level {100 * judged.level:.3g} %" if judged.level else ""
    holm = f" ({judged.adjusted_p:.2g} by Holm)" if judged.adjusted_p is not None else ""
    return f"p {judged.p_value:.2g}{holm}{level}"
