"""The page's environment: the host in short, what differs between the rigs, and all the rest folded away."""

from typing import Any, Final

from markupsafe import Markup

from nfvbed.report import wording
from nfvbed.report.context import ReportContext, flat
from nfvbed.report.page.table import fact_table, joined, step_table

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
"""Facts about a host that hardly anybody looks for, beside the mitigations."""
MITIGATION: Final = "mitigations."
DETAILS: Final = Markup("<details><summary>{}</summary>{}</details>")


def environment(context: ReportContext) -> Markup:
    """Write what the numbers were measured on and with."""
    parts = [_host(digest, host) for digest, host in context.hosts.items() if host]
    differences = dict.fromkeys(text for entry in context.comparison.differences for text in entry.scope.differences)
    if differences:
        items = joined(Markup("<li>{}</li>").format(text) for text in differences)
        parts.append(Markup("<h3>What differs between the rigs (baseline to candidate)</h3><ul>{}</ul>").format(items))
    hidden = [fact_table(f"Rig {digest[:12]}", flat(rig)) for digest, rig in context.rigs.items()]
    hidden += [fact_table(f"Configuration {digest[:12]}", flat(found)) for digest, found in context.variants.items()]
    if context.facts:
        hidden.append(step_table(context.facts))
    hidden.append(fact_table("Hashes", _hashes(context)))
    return joined([*parts, DETAILS.format("Rigs, configurations, times and hashes", joined(hidden))])


def _host(digest: str, host: dict[str, Any]) -> Markup:
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
    table = fact_table(f"Host {digest[:12]}", shown)
    return Markup("<h3>Host</h3>{}{}").format(table, DETAILS.format(summary, joined(folded)) if folded else "")


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
