"""What the page's explanations depend on: the rules of verdicts, and what was measured; their text is in templates."""

from dataclasses import dataclass

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.differences.limits import WITHIN
from nfvbed.compare.verdict import MANY_COMPARISONS, Rules
from nfvbed.report.throughput import SEARCHES_AS_DELIVERED
from nfvbed.spec.searchpresets import CLEAN_LIMIT_S


@dataclass(frozen=True)
class Method:
    """The rules by which the numbers of a page came about."""

    placement_rule: str
    survey: bool
    within: str
    looks: str
    last_look: int
    alpha: str
    margin: str
    many: int
    as_delivered: int
    """Searches of a range as delivered."""
    clean_limit: str
    """Longest time without a core in a clean trial."""


@dataclass(frozen=True)
class Scope:
    """The limits of what a page shows."""

    own_loads: bool
    """Whether any latency is at a load of its variant's own."""
    virtual_ports: bool
    notes: tuple[str, ...]


def method(comparison: Comparison) -> Method:
    """Return the rules by which verdicts were made."""
    return method_of(comparison.rules, comparison.placement_rule)


def method_of(rules: Rules, placement_rule: int) -> Method:
    """Return rules of verdicts as they are explained."""
    return Method(
        placement_rule=str(placement_rule),
        survey=rules.purpose == "survey",
        within=f"{1 - WITHIN:.0%}",
        looks=" and ".join(str(look) for look in rules.looks),
        last_look=rules.looks[-1],
        alpha=f"{rules.alpha:.0%}",
        margin=f"{rules.margin:.0%}",
        many=MANY_COMPARISONS,
        as_delivered=SEARCHES_AS_DELIVERED,
        clean_limit=f"{CLEAN_LIMIT_S * 1e6:g} µs",
    )


def scope(comparison: Comparison) -> Scope:
    """Return which limits of what the page says apply."""
    return Scope(
        own_loads=any(row.paced and not row.common for row in comparison.rows),
        virtual_ports=any(row.port_kind.value != "pci" for row in comparison.rows),
        notes=tuple(f"{note[0].upper()}{note[1:]}." for note in comparison.notes),
    )
