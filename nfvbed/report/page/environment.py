"""The page's environment: the host in short, what differs between the rigs, and all the rest folded away."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from nfvbed.compare.onboarding import onboarding_times
from nfvbed.records import FactRecord
from nfvbed.report import onboarding, wording
from nfvbed.report.context import ReportContext, flat
from nfvbed.report.page.values import Table, fact_table, plain_table

FOLDED: Final = {
    "cpu.cpu family",
    "cpu.microcode",
    "cpu.model",
    "cpu.stepping",
    "cpu.vendor_id",
    "topology.nodes[0]",
    "topology.siblings[0]",
    "topology.siblings[1]",
}
"""Facts about a host that are seldom looked for, beside the mitigations."""
MITIGATION: Final = "mitigations."


@dataclass(frozen=True)
class HostFacts:
    """A host's description and its facts, as the page shows them."""

    table: Table
    summary: str
    folded: tuple[Table, ...]
    """What is seldom looked for; below the summary."""


@dataclass(frozen=True)
class Environment:
    """The section."""

    hosts: tuple[HostFacts, ...]
    apart: tuple[Table, ...]
    """What differs between the hosts, key by key; none where there is one."""
    differences: tuple[str, ...]
    """Between the rigs."""
    onboarding: tuple[Table, ...]
    """How long VNFs took to onboard; none where there were none."""
    folded: tuple[Table, ...]


def environment(context: ReportContext) -> Environment:
    """Return what the numbers were measured on and with."""
    differences = dict.fromkeys(text for entry in context.comparison.differences for text in entry.scope.differences)
    folded = [fact_table(f"Rig {digest[:12]}", flat(rig)) for digest, rig in context.rigs.items()]
    folded += [fact_table(f"Configuration {digest[:12]}", flat(found)) for digest, found in context.variants.items()]
    if context.facts:
        folded.append(_step_table(context.facts))
    folded.append(fact_table("Hashes", _hashes(context)))
    hosts = tuple(_host(digest, host) for digest, host in context.hosts.items() if host)
    apart = host_differences(context.hosts)
    return Environment(hosts, apart, tuple(differences), _onboarding(context.facts), tuple(folded))


def host_differences(hosts: Mapping[str, dict[str, Any]]) -> tuple[Table, ...]:
    """Return what differs between the hosts, key by key; nothing where there is one, or one is not stored."""
    facts = {digest: flat(host) for digest, host in hosts.items()}
    if len(facts) < 2 or not all(facts.values()):
        return ()
    keys = dict.fromkeys(key for known in facts.values() for key in known)
    rows = [(key, *(known.get(key, "absent") for known in facts.values())) for key in keys]
    differing = [row for row in rows if len(set(row[1:])) > 1]
    headings = ("Fact", *(f"Host {digest[:12]}" for digest in facts))
    title = "What differs between the hosts; rates of different hosts are not compared."
    return (plain_table(title, headings, differing),)


def _host(digest: str, host: dict[str, Any]) -> HostFacts:
    facts = flat(host)
    mitigations = {name.removeprefix(MITIGATION): value for name, value in facts.items() if name.startswith(MITIGATION)}
    rest = {name: value for name, value in facts.items() if name in FOLDED}
    shown = {name: value for name, value in facts.items() if name not in rest and not name.startswith(MITIGATION)}
    folded = [fact_table(f"Host {digest[:12]}, further", rest)] if rest else []
    summary = "Further facts"
    if mitigations:
        concerned = sum(value != "Not affected" for value in mitigations.values())
        summary = f"Mitigations ({concerned} of {len(mitigations)} concern this CPU) and further facts"
        folded.insert(0, fact_table(f"Host {digest[:12]}, mitigations", mitigations))
    return HostFacts(fact_table(f"Host {digest[:12]}", shown), summary, tuple(folded))


def _onboarding(facts: Sequence[FactRecord]) -> tuple[Table, ...]:
    times = onboarding_times(facts)
    return (plain_table(onboarding.CAPTION, onboarding.HEADINGS, map(onboarding.cells, times)),) if times else ()


def _step_table(facts: Sequence[FactRecord]) -> Table:
    """Return how long the steps of deployment took: medians over the run."""
    times: dict[tuple[str, str], list[int]] = {}
    for fact in facts:
        times.setdefault((fact.cell or "", fact.step), []).append(fact.duration_ns)
    named = {
        f"{step} ({cell})" if cell else step: f"{median(values) / 1e9:.3f} s (median of {len(values)})"
        for (cell, step), values in times.items()
    }
    return fact_table("Time taken by the steps", named)


def _hashes(context: ReportContext) -> dict[str, str]:
    found: dict[str, str] = {}
    for run in context.runs:
        found |= {f"host of run {wording.short_run(run.id)}": run.host_hash}
        found |= {f"plan of run {wording.short_run(run.id)}": run.plan_hash}
    for row in context.comparison.rows:
        name = f"{row.cell} ({wording.short_run(row.run)})"
        found |= {f"{name}, rig": row.rig_hash, f"{name}, configuration": row.config_hash}
        if row.engine:
            found[f"{name}, generator"] = row.engine
    return found
