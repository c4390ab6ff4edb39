"""One self-contained page: the answer first, then the table, the figures and what they rest on.

Nothing is loaded from anywhere: styles, scripts and data are inlined, and a content security policy forbids
the rest. All text goes through `Markup.format`, which escapes it.
"""

import json

import vl_convert
from markupsafe import Markup

from nfvbed.compare.advice import advice_for
from nfvbed.compare.comparison import Comparison
from nfvbed.compare.ranking import Leader
from nfvbed.records import RunRecord
from nfvbed.report import wording
from nfvbed.report.answer import Answer, answer, sentence
from nfvbed.report.captions import method_line, placement_lines
from nfvbed.report.context import ReportContext, flat
from nfvbed.report.figures.catalogue import figures
from nfvbed.report.figures.theme import Spec
from nfvbed.report.page_table import ceiling_table, comparison_table, fact_table, joined, step_table
from nfvbed.report.page_text import how_to_read, limits_of_this, method
from nfvbed.report.stylesheet import SCRIPT, STYLE

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)

PAGE = Markup(
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>\n'
    '<link rel="icon" href="data:,">\n<style>{style}</style>\n</head>\n<body>\n{body}\n'
    '<script type="application/json" id="figures-data">{data}</script>\n'
    "<script>{library}</script>\n<script>{script}</script>\n</body>\n</html>\n"
)

SECTIONS = (
    ("table", "Table"),
    ("figures", "Figures"),
    ("reading", "How to read this"),
    ("doubts", "Limits and doubts"),
    ("environment", "Environment"),
    ("method", "Method"),
    ("scope", "What this does not show"),
)


def render_page(context: ReportContext) -> str:
    """Write the page."""
    comparison = context.comparison
    drawn = figures(comparison)
    said = answer(comparison)
    title = ", ".join(dict.fromkeys(run.experiment for run in context.runs))
    mark = f"{wording.SIMULATED_MARK}: " if comparison.simulated else ""
    return str(
        PAGE.format(
            policy=POLICY,
            title=f"{mark}{title}: {said.headline}",
            style=Markup(STYLE),
            body=_body(context, said, drawn),
            data=Markup(embedded_json(drawn)),
            library=Markup(vl_convert.javascript_bundle().replace("</script", "<\\/script")),  # type: ignore[call-arg]
            script=Markup(SCRIPT),
        )
    )


def embedded_json(value: object) -> str:
    """Write JSON that can stand in a script element: no text in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _body(context: ReportContext, said: Answer, drawn: dict[str, Spec]) -> Markup:
    comparison = context.comparison
    contents = {
        "table": comparison_table(comparison),
        "figures": joined(_figure(name, spec) for name, spec in drawn.items())
        or Markup("<p>Nothing was measured that could be drawn.</p>"),
        "reading": how_to_read(),
        "doubts": _doubts(comparison),
        "environment": _environment(context),
        "method": method(comparison),
        "scope": limits_of_this(comparison),
    }
    sections = joined(
        Markup('<section aria-labelledby="{0}"><h2 id="{0}">{1}</h2>{2}</section>\n').format(key, title, contents[key])
        for key, title in SECTIONS
    )
    links = joined(Markup('<li><a href="#{}">{}</a></li>').format(key, title) for key, title in SECTIONS)
    return Markup(
        '<a class="skip" href="#table">Skip to the table</a>\n<header class="top">{banner}'
        "<h1>{title}</h1>{runs}</header>\n<main>\n{answer}\n"
        '<nav aria-label="Sections"><ul>{links}</ul></nav>\n{sections}</main>\n'
        "<footer>Written by nfvbed; comparison format {format}. Raw trials stay in the store; "
        "<code>comparison.json</code> and <code>comparison.csv</code> beside this page are not rounded.</footer>"
    ).format(
        banner=_banner(comparison),
        title=", ".join(dict.fromkeys(run.experiment for run in context.runs)),
        runs=joined(_run_line(run) for run in context.runs),
        answer=_answer(comparison, said),
        links=links,
        sections=sections,
        format=comparison.format,
    )


def _banner(comparison: Comparison) -> Markup:
    if not comparison.simulated:
        return Markup("")
    return Markup('<p class="simulated" role="note">{}</p>').format(wording.SIMULATED_MARK)


def _run_line(run: RunRecord) -> Markup:
    ended = f" to {run.ended_at}" if run.ended_at else ", not ended"
    status = f"; {run.status.value}" if run.status else ""
    return Markup('<p class="meta">Run <span class="hash">{}</span> on site {}, {}{}{}</p>').format(
        run.id, run.site, run.started_at, ended, status
    )


def _answer(comparison: Comparison, said: Answer) -> Markup:
    cards = joined(_card(comparison, point) for point in said.points)
    doubts = wording.doubts(comparison.rows)
    named = f" Limits and doubts: {', '.join(kind.value for kind in doubts)}." if doubts else " No doubts were raised."
    return Markup('<p class="headline">{}</p>\n<ul class="cards">{}</ul>\n<p class="confidence">{} {}{}</p>').format(
        said.headline, cards, " ".join(placement_lines(comparison)), method_line(comparison), named
    )


def _card(comparison: Comparison, point: Leader) -> Markup:
    rate = point.row.mrr
    if rate is None:
        return Markup("")
    bound = "at least " if point.row.limited else ""
    mark = Markup('<div class="doubt"><strong>SIMULATED</strong></div>') if point.row.simulated else ""
    return Markup(
        '<li class="card">{}<div class="where">{}, {}</div><div class="rate">{}{} Mpps</div>'
        '<div class="who">{}</div><p>{}</p></li>'
    ).format(
        mark,
        point.topology,
        wording.frame_size(point.frame_size),
        bound,
        wording.mpps(rate.median_pps),
        point.row.variant if point.clear or len({r.variant for r in comparison.rows}) == 1 else "no clear leader",
        sentence(point).split(": ", 1)[1],
    )


def _figure(name: str, spec: Spec) -> Markup:
    described = spec["description"]
    return Markup(
        '<figure><div id="figure-{0}" class="chart" role="img" aria-label="{1}">'
        "<noscript>This figure needs JavaScript; figures/{0}.svg is the same picture.</noscript></div>"
        "<figcaption>As a file: <code>figures/{0}.svg</code>, <code>figures/{0}.png</code>.</figcaption></figure>"
    ).format(name, described)


def _doubts(comparison: Comparison) -> Markup:
    """Give every kind of doubt with its rows, its meaning and its remedy."""
    parts = []
    for kind in wording.doubts(comparison.rows):
        rows = [
            row.cell
            for row in comparison.rows
            if any(entry.kind is kind for entry in row.limits) or any(entry.kind is kind for entry in row.warnings)
        ]
        advice = advice_for(kind)
        parts.append(
            Markup('<div class="notice"><p><strong>{}</strong>: {}</p><p>{}</p><p>{}</p></div>').format(
                kind.value, ", ".join(rows), advice.meaning, advice.remedy
            )
        )
    parts += [
        Markup('<div class="notice"><p><strong>{}</strong>: {}</p></div>').format(row.cell, wording.status(row))
        for row in comparison.rows
        if row.mrr is None
    ]
    if not parts:
        parts.append(Markup("<p>No limit was reached and no doubt was raised.</p>"))
    if comparison.ceilings:
        parts.append(Markup("<h3>Ceilings</h3>{}").format(ceiling_table(comparison.ceilings)))
    return joined(parts)


def _environment(context: ReportContext) -> Markup:
    parts = [
        Markup("<h3>Host</h3>{}").format(fact_table(f"Host {digest[:12]}", flat(host)))
        for digest, host in context.hosts.items()
        if host
    ]
    differences = dict.fromkeys(text for entry in context.comparison.differences for text in entry.scope.differences)
    if differences:
        items = joined(Markup("<li>{}</li>").format(text) for text in differences)
        parts.append(Markup("<h3>What differs between the rigs (baseline to candidate)</h3><ul>{}</ul>").format(items))
    hidden = [fact_table(f"Rig {digest[:12]}", flat(rig)) for digest, rig in context.rigs.items()]
    hidden += [fact_table(f"Configuration {digest[:12]}", flat(found)) for digest, found in context.variants.items()]
    if context.facts:
        hidden.append(step_table(context.facts))
    hidden.append(fact_table("Hashes", _hashes(context)))
    titled = Markup("<details><summary>Rigs, configurations, times and hashes</summary>{}</details>")
    return joined([*parts, titled.format(joined(hidden))])


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
