"""The captions under tables and figures: placement class, scope, and what is not a measurement."""

from collections.abc import Sequence

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.summary import CellSummary
from nfvbed.report import wording


def placement_lines(comparison: Comparison) -> tuple[str, ...]:
    """Say which placement class is shown, why, and where the other trials went; one line for each host."""
    lines = []
    for host in comparison.placement:
        choice = host.choice
        apart = [f"{count} trials in {name}" for name, count in choice.others.items() if count]
        if choice.mixed:
            apart.append(f"{choice.mixed} changed while they ran")
        kept = f"; kept but not used: {', '.join(apart)}" if apart else ""
        prefix = f"host {host.host_hash[:8]}: " if len(comparison.placement) > 1 else ""
        medians = ""
        if len(host.medians_ns) == 1:
            medians = f" (core distance {host.medians_ns[0]:.0f} ns)"
        elif host.medians_ns:
            named = zip(host.classes, host.medians_ns, strict=False)
            medians = " (core distance " + ", ".join(f"{name} {value:.0f} ns" for name, value in named) + ")"
        lines.append(f"{prefix}Placement class {choice.name}{medians}: {choice.reason}{kept}.")
    return tuple(lines)


def short_caption(comparison: Comparison, rows: Sequence[CellSummary] | None = None) -> str:
    """Give the one-line caption of a figure: class, scope, and the mark of a simulation.

    Args:
        comparison: what is shown.
        rows: of these only; None: of all.
    """
    classes = ", ".join(dict.fromkeys(host.choice.name for host in comparison.placement))
    text = f"Placement class: {classes}. Scope: {scope_of(comparison, rows)}."
    return f"{wording.SIMULATED_MARK}. {text}" if comparison.simulated else text


def scope_of(comparison: Comparison, rows: Sequence[CellSummary] | None = None) -> str:
    """Say what the differences of rows allow to claim."""
    shown = None if rows is None else {(row.run, row.cell) for row in rows}
    return wording.scope_sentence(
        entry.scope for entry in comparison.differences if shown is None or (entry.run, entry.cell) in shown
    )


def method_line(comparison: Comparison) -> str:
    """Say how verdicts were made."""
    rules = comparison.rules
    return (
        f"Medians with 95 % bootstrap intervals; Mann-Whitney U at the {rules.alpha:.0%} level on single trials; "
        f"differences under {rules.resolution:.0%} count as the same."
    )
