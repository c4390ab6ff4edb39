"""The first screen: what was compared, on what machine, the answer, and every variant's rate at each traffic point."""

import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.ranking import Leader
from nfvbed.compare.summary import CellSummary
from nfvbed.records import RunRecord
from nfvbed.report import wording
from nfvbed.report.answer import Answer, sentence
from nfvbed.report.captions import host_lines, method_line, placement_lines
from nfvbed.report.context import ReportContext
from nfvbed.report.figures.theme import PALETTE
from nfvbed.report.labels import row_labels, run_label, unbroken
from nfvbed.report.page.table import joined


def title(context: ReportContext) -> str:
    """Give the experiment's title; its name where the plan is not stored."""
    return context.title or ", ".join(dict.fromkeys(run.experiment for run in context.runs))


def page_header(context: ReportContext) -> Markup:
    """Write title, machine and runs."""
    mark = Markup('<p class="simulated" role="note">{}</p>').format(wording.SIMULATED_MARK)
    machines = dict.fromkeys(machine(host) for host in context.hosts.values() if host)
    return Markup('<header class="top">{}<h1>{}</h1>{}{}</header>').format(
        mark if context.comparison.simulated else "",
        title(context),
        joined(Markup('<p class="machine">{}</p>').format(line) for line in machines if line),
        joined(_run_line(run) for run in context.runs),
    )


def machine(host: dict[str, Any]) -> str:
    """Describe a host in one line; what is not known of it is left out."""
    if host.get("simulated"):
        return "no machine: simulated"
    cpu = host.get("cpu", {})
    kind = "virtual machine" if cpu.get("hypervisor") == "yes" else ""
    cores = len(host.get("topology", {}).get("allowed", ()))
    memory = host.get("memory_gib")
    parts = (
        str(cpu.get("model name", "")),
        f"{cores} core{'s' if cores > 1 else ''}" if cores else "",
        kind,
        f"{memory} GiB" if memory else "",
        f"Linux {host['kernel']}" if host.get("kernel") else "",
    )
    return ", ".join(part for part in parts if part)


def _run_line(run: RunRecord) -> Markup:
    ended = f" to {_when(run.ended_at)}" if run.ended_at else ", not ended"
    status = f"; {run.status.value}" if run.status else ""
    return Markup('<p class="meta">{}{}; run <span class="hash">{}</span> on site {}{}</p>').format(
        _when(run.started_at), ended, run.id, run.site, status
    )


def _when(moment: str) -> str:
    """Shorten a time to minutes; what is not in the store's own form is shown as it is."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+(?:Z|\+00:00)", moment)
    return f"{found[1]} {found[2]} UTC" if found else moment


def answer_section(comparison: Comparison, said: Answer) -> Markup:
    """Write the answer, a card for each traffic point, and how sure it is."""
    cards = joined(_card(comparison, point) for point in said.points)
    doubts = wording.doubts(comparison.rows)
    named = f" Limits and doubts: {', '.join(kind.value for kind in doubts)}." if doubts else " No doubts were raised."
    told = () if comparison.many else comparison.chains
    chains = joined(Markup("<p>{}</p>").format(wording.chain(chain)) for chain in told)
    hosts = joined(
        Markup('<p class="meta host">{}.</p>').format(f"{line[0].upper()}{line[1:]}") for line in host_lines(comparison)
    )
    decide = joined(
        Markup("<p>Decide {} with: <code>{}</code></p>").format(wording.row_point(point.row), command)
        for point, command in zip(said.points, said.decide, strict=False)
        if command
    )
    placed, how = " ".join(placement_lines(comparison)), method_line(comparison)
    return Markup(
        '<p class="headline">{}</p>\n{}<ul class="cards">{}</ul>\n{}{}<p class="confidence">{} {}{}</p>'
    ).format(unbroken(said.headline), hosts, cards, decide, chains, placed, how, named)


def _card(comparison: Comparison, point: Leader) -> Markup:
    """Write all rates of a traffic point, measured or not, and the sentence on its leader."""
    best = point.row
    rows = comparison.ranked([row for row in comparison.rows if row.point == best.point])
    mark = Markup('<p class="doubt"><strong>SIMULATED</strong></p>') if best.simulated else ""
    who = f"{best.variant} ahead" if point.clear else best.variant if point.alone else "no clear leader"
    if point.surveyed:
        who = f"{best.variant} highest"
    return Markup(
        '<li class="card">{}<div class="where">{}: <strong>{}</strong></div>'
        '<table class="rates"><caption class="unseen">Rates in million frames/s, {}</caption><tbody>{}</tbody></table>'
        "<p>{}</p></li>"
    ).format(
        mark,
        wording.row_point(best),
        who,
        wording.row_point(best),
        _rates(comparison, rows),
        sentence(point).split(": ", 1)[1],
    )


def _rates(comparison: Comparison, rows: Sequence[CellSummary]) -> Markup:
    several = len(comparison.runs) > 1
    names = list(dict.fromkeys(row_labels(comparison)))
    highest = max((row.mrr.median_pps for row in rows if row.mrr), default=0.0)
    lines = []
    for row in [row for row in rows if row.mrr or not comparison.many]:
        name = run_label(row.variant, row.run, several=several)
        if row.mrr is None:
            lines.append(
                Markup('<tr><th scope="row">{}</th><td class="doubt" colspan="2">{}</td></tr>').format(
                    name, row.status.value
                )
            )
            continue
        bar = Markup('<span class="bar{}" style="width:{:.1f}%;background-color:{}"></span>').format(
            " striped" if row.limited else "",
            100 * row.mrr.median_pps / highest if highest else 0,
            PALETTE[names.index(name) % len(PALETTE)],
        )
        lines.append(
            Markup(
                '<tr><th scope="row">{}</th><td class="track">{}</td>'
                '<td class="n rate">{}{} <small>Mpps</small></td></tr>'
            ).format(name, bar, wording.bound(row), wording.mpps(row.mrr.median_pps))
        )
    missing = [row.variant for row in rows if row.mrr is None]
    if comparison.many and missing:
        said = Markup('<tr><td class="doubt" colspan="3"><small>not measured: {}</small></td></tr>')
        lines.append(said.format(", ".join(missing)))
    return joined(lines)
