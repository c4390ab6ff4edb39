"""One self-contained page: the answer first, then the table, the figures and what they rest on.

Nothing is loaded from anywhere: styles, scripts and data are inlined, and a content security policy forbids
the rest. All text goes through `Markup.format`, which escapes it.
"""

import json

import vl_convert
from markupsafe import Markup

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.summary import CellSummary
from nfvbed.records import QualityWarning
from nfvbed.report import wording
from nfvbed.report.answer import Answer, answer
from nfvbed.report.context import ReportContext
from nfvbed.report.figures.catalogue import figures
from nfvbed.report.figures.theme import Spec
from nfvbed.report.page.environment import environment
from nfvbed.report.page.head import answer_section, page_header, title
from nfvbed.report.page.states import below_the_table
from nfvbed.report.page.stylesheet import SCRIPT, STYLE
from nfvbed.report.page.survey import survey_doubts, survey_table
from nfvbed.report.page.table import ceiling_table, comparison_table, joined
from nfvbed.report.page.tests import tests_section
from nfvbed.report.page.text import how_to_read, limits_of_this, method
from nfvbed.report.page.verdicts import verdict_section

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
    ("verdicts", "What the verdicts rest on"),
    ("tests", "Throughput, missing frames and latency by load"),
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
    mark = f"{wording.SIMULATED_MARK}: " if comparison.simulated else ""
    return str(
        PAGE.format(
            policy=POLICY,
            title=f"{mark}{title(context)}: {said.headline}",
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
        "table": joined(
            (
                survey_table(comparison) if comparison.many else comparison_table(comparison),
                below_the_table(comparison),
            )
        ),
        "verdicts": verdict_section(comparison),
        "tests": tests_section(comparison),
        "figures": joined(_figure(name, spec) for name, spec in drawn.items())
        or Markup("<p>Nothing was measured that could be drawn.</p>"),
        "reading": how_to_read(),
        "doubts": _doubts(comparison),
        "environment": environment(context),
        "method": method(comparison),
        "scope": limits_of_this(comparison),
    }
    shown = [(key, title) for key, title in SECTIONS if key not in ("tests", "verdicts") or contents[key]]
    sections = joined(
        Markup('<section aria-labelledby="{0}"><h2 id="{0}">{1}</h2>{2}</section>\n').format(key, title, contents[key])
        for key, title in shown
    )
    links = joined(Markup('<li><a href="#{}">{}</a></li>').format(key, title) for key, title in shown)
    return Markup(
        '<a class="skip" href="#table">Skip to the table</a>\n{header}\n<main>\n{answer}\n'
        '<nav aria-label="Sections"><ul>{links}</ul></nav>\n{sections}</main>\n'
        "<footer>Written by nfvbed; comparison format {format}. Raw trials stay in the store; "
        "<code>comparison.json</code> and <code>comparison.csv</code> beside this page are not rounded.</footer>"
    ).format(
        header=page_header(context),
        answer=answer_section(comparison, said),
        links=links,
        sections=sections,
        format=comparison.format,
    )


def _figure(name: str, spec: Spec) -> Markup:
    named = spec["title"]
    return Markup(
        '<figure><h3{4}>{2}</h3><div id="figure-{0}" class="chart" role="img" aria-label="{1}">'
        "<noscript>This figure needs JavaScript; figures/{0}.svg is the same picture.</noscript></div>"
        "<figcaption>{3} <small>As a file: <code>figures/{0}.svg</code>, <code>figures/{0}.png</code>.</small>"
        "</figcaption></figure>"
    ).format(
        name,
        spec["description"],
        named["text"],
        " ".join(named["subtitle"]),
        Markup(' class="doubt"') if named["text"].startswith(wording.SIMULATED_MARK) else "",
    )


def _carried(row: CellSummary, kind: QualityWarning) -> str:
    """Name the row and how it carries a doubt; nothing where it does not."""
    bounding = next((limit.detail for limit in row.limits if limit.kind is kind), None)
    counts = bounding if bounding is not None else wording.row_doubts(row).get(kind)
    return f"{row.cell} ({counts})" if counts else ""


def _doubts(comparison: Comparison) -> Markup:
    """Give every kind of doubt with its rows, its meaning and its remedy."""
    if comparison.many:
        found = survey_doubts(comparison)
        ceilings = (
            Markup("<h3>Ceilings</h3>{}").format(ceiling_table(comparison)) if comparison.ceilings else Markup("")
        )
        return joined((found, ceilings))
    parts = []
    for kind in wording.doubts(comparison.rows):
        rows = [text for row in comparison.rows if (text := _carried(row, kind))]
        advice = comparison.advice_on(kind)
        parts.append(
            Markup('<div class="notice"><p><strong>{}</strong>: {}</p><p>{} {}</p></div>').format(
                kind.value, "; ".join(rows), advice.meaning, advice.remedy
            )
        )
    parts += [
        Markup('<div class="notice"><p><strong>{}</strong>: {}</p></div>').format(row.cell, wording.status(row))
        for row in comparison.rows
        if row.mrr is None
    ]
    if not parts:
        parts.append(Markup("<p>No limit was reached and no doubt was raised.</p>"))
    parts += [
        Markup('<div class="notice"><p><strong>{}</strong>: {}</p></div>').format(row.cell, note)
        for row in comparison.rows
        for note in row.notes
    ]
    if comparison.ceilings:
        parts.append(Markup("<h3>Ceilings</h3>{}").format(ceiling_table(comparison)))
    return joined(parts)
