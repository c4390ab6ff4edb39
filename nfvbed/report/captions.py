"""The captions under tables and figures: rounds and pairs, placement, scope, and what is not a measurement."""

from collections.abc import Sequence
from typing import Final

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.hosts import HostPlacement, HostState
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.rows.visits import ALL_STATES
from nfvbed.report import wording
from nfvbed.report.pacedload import loads_differ

WORTH_TELLING: Final = 0.005
"""A smaller part of trials that hide a change of class changes no figure."""


def placement_lines(comparison: Comparison) -> tuple[str, ...]:
    """Return which placement states there were, what is shown of them, and why; one line for each host."""
    several = len(comparison.placement) > 1
    asked = any(row.placement_class != ALL_STATES for row in comparison.rows)
    return tuple(
        f"{f'host {host.host_hash[:8]}: ' if several else ''}{_placement(host, asked=asked)}"
        for host in comparison.placement
    )


def _placement(host: HostPlacement, *, asked: bool) -> str:
    choice = host.choice
    named = ", ".join(f"{name} {value:.0f} ns" for name, value in zip(host.classes, host.medians_ns, strict=False))
    medians = f" (core distance {named})" if named else ""
    trials = f"{choice.mixed} trial{'s' if choice.mixed > 1 else ''}"
    mixed = f"; it changed within {trials} at maximum load" if choice.mixed else ""
    if choice.name == ALL_STATES:
        return f"All placement states{medians}: {choice.reason}{mixed}."
    apart = [f"{count} trials in {name}" for name, count in choice.others.items() if count]
    kept = f"; kept but not used: {', '.join(apart)}" if apart else ""
    which = "Placement class" if asked else "Placement class of tests beside the MRR:"
    return f"{which} {choice.name}{medians}: {choice.reason}{kept}{mixed}."


def host_lines(comparison: Comparison) -> tuple[str, ...]:
    """Return for each host how quiet it was: `12 % of the CPU time stolen, placement of cores did not change`.

    Of several hosts each with its runs. Then what disturbed rows on purpose.
    """
    several = len(comparison.hosts) > 1
    states = [(host, text) for host in comparison.hosts if (text := _state(host))]
    lines = (f"{_runs_on(comparison, host)}: {text}" if several else text for host, text in states)
    return (*lines, *neighbours(comparison.rows))


def _runs_on(comparison: Comparison, host: HostState) -> str:
    rows = (*comparison.rows, *comparison.ceilings)
    runs = dict.fromkeys(wording.short_run(row.run) for row in rows if row.host_hash == host.host_hash)
    return f"run{'' if len(runs) == 1 else 's'} {', '.join(runs)}"


def neighbours(rows: Sequence[CellSummary]) -> tuple[str, ...]:
    """Return the noisy neighbours of rows, a line each; none where nothing disturbed them on purpose."""
    return tuple(dict.fromkeys(f"beside a noisy neighbour: {row.neighbour}" for row in rows if row.neighbour))


def _state(host: HostState) -> str:
    parts = []
    if host.stolen_ratio is not None:
        parts.append(f"{wording.percent(host.stolen_ratio)} of the CPU time stolen")
    if host.changes_per_s is not None:
        moved = f"placement of cores changed {host.changes_per_s:.2g} times a second"
        parts.append(moved if host.changes_per_s else "placement of cores did not change")
    if host.hidden_ratio and host.hidden_ratio >= WORTH_TELLING:
        parts.append(f"about {wording.percent(host.hidden_ratio)} of the trials hide a change")
    return ", ".join(parts)


def short_caption(comparison: Comparison, rows: Sequence[CellSummary] | None = None) -> str:
    """Return the one-line caption of a figure: placement, pairs, scope, and the mark of a simulation.

    Args:
        rows: only these; None: all.
    """
    names = list(dict.fromkeys(row.placement_class for row in comparison.rows))
    placed = "All placement states" if names == [ALL_STATES] else f"Placement class: {', '.join(names)}"
    pairs = pairs_of(comparison, rows)
    judged = f" {pairs[0].upper()}{pairs[1:]}." if pairs else ""
    noisy = "".join(f" {line[0].upper()}{line[1:]}." for line in neighbours(comparison.rows if rows is None else rows))
    text = f"{placed}.{judged} Scope: {scope_of(comparison, rows)}.{noisy}"
    return f"{wording.SIMULATED_MARK}. {text}" if comparison.simulated else text


def pairs_of(comparison: Comparison, rows: Sequence[CellSummary] | None = None) -> str:
    """Return on how many pairs of rounds the verdicts rest; nothing where there are none."""
    if comparison.purpose == "survey":
        return "a survey: ranges and an order, no verdicts"
    shown = None if rows is None else {(row.run, row.cell) for row in rows}
    found = [e.judgement for e in comparison.differences if shown is None or (e.run, e.cell) in shown]
    numbers = sorted({entry.look or entry.pairs for entry in found if entry.look or entry.pairs})
    if not numbers:
        return ""
    matched = sum(entry.matched for entry in found)
    span = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    by_class = f", {matched} of {sum(e.look or e.pairs for e in found)} matched by placement class" if matched else ""
    return f"verdicts on {span} pairs of rounds{by_class}"


def scope_of(comparison: Comparison, rows: Sequence[CellSummary] | None = None) -> str:
    """Return what the differences of rows allow to claim."""
    shown = None if rows is None else {(row.run, row.cell) for row in rows}
    return wording.scope_sentence(
        entry.scope for entry in comparison.differences if shown is None or (entry.run, entry.cell) in shown
    )


def interval_words(rows: Sequence[CellSummary]) -> str:
    """Return what the line through a rate is: an interval, the range of few rounds, or either."""
    found = [row.mrr.interval for row in rows if row.mrr is not None and row.mrr.interval is not None]
    ranges = [interval.is_range for interval in found]
    if ranges and all(ranges):
        return "dashed line: range of the rounds (fewer than six)"
    rest = "; dashed: range of fewer than six rounds" if any(ranges) else ""
    return f"line: exact interval of the median, at least 95 %{rest}"


def loads(rows: Sequence[CellSummary]) -> str:
    """Return at which load latency and missing frames were taken; one load only where all rows of a point had it."""
    shown = [row for row in rows if row.given_load is not None]
    if not shown:
        return ""
    if not loads_differ(shown):
        return "All variants of a traffic point at one load: half of the lowest maximum receive rate."
    fractions = [row.paced.load_fraction for row in shown if row.paced and not row.common and row.paced.load_fraction]
    if not fractions:
        return "Loads differ between the variants of a traffic point."
    low, high = min(low for low, _ in fractions), max(high for _, high in fractions)
    span = f"{low:.0%}" if f"{low:.0%}" == f"{high:.0%}" else f"{low:.0%} to {high:.0%}"
    some = "Rows without a common load are" if any(row.common for row in shown) else "Variants are"
    return f"{some} at {span} of their own maximum, so loads differ."


def method_line(comparison: Comparison) -> str:
    """Return how verdicts were made."""
    rules = comparison.rules
    medians = "Medians of rounds with exact 95 % intervals, ranges below six rounds"
    if comparison.purpose == "survey":
        return f"{medians}. A survey makes no verdicts."
    looks = " and ".join(str(look) for look in rules.looks)
    return (
        f"{medians}; exact signed-rank tests on the ratios of rounds after {looks} of them, {rules.alpha:.0%} in all; "
        f"the same: the 90 % interval of the ratio lies within ±{rules.margin:.0%}."
    )
