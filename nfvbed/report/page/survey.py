"""Many variants on the page: what can be compared in one narrow table, and what is missing or doubtful said once."""

from typing import Final

from markupsafe import Markup

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.summary import CellSummary
from nfvbed.report import wording
from nfvbed.report.captions import scope_of, short_caption
from nfvbed.report.holes import counted, holes, open_verdicts
from nfvbed.report.labels import holds_up_to
from nfvbed.report.page.table import joined, scrolling, table_of

HEADINGS: Final = (
    ("Variant", False),
    ("Rate, Mpps", True),
    ("Interval or range", True),
    ("Rounds", True),
    ("Of bare ports", True),
    ("Limited by", False),
    ("Verdict", False),
    ("Missing frames", True),
    ("Latency µs, P50, P99", True),
    ("Cycles/ packet", True),
)
"""Bit rates, CPU times and the doubts of each row are in the CSV."""


def survey_table(comparison: Comparison) -> Markup:
    """Write the measured rows by traffic point, the highest rate first; then chains, and what was not measured."""
    mark = Markup("<strong>{}.</strong> ").format(wording.SIMULATED_MARK) if comparison.simulated else Markup("")
    caption = Markup("{}Maximum receive rate (both directions together), {}. {} {}").format(
        mark, wording.baseline(comparison.baseline), wording.BARE_PORTS, short_caption(comparison)
    )
    body: list[Markup] = []
    for point in dict.fromkeys(row.point for row in comparison.rows if row.mrr is not None):
        rows = comparison.ranked([row for row in comparison.rows if row.point == point and row.mrr is not None])
        scope = Markup(" <small>Scope: {}</small>").format(scope_of(comparison, rows))
        body.append(
            Markup('<tbody><tr class="point"><th scope="rowgroup" colspan="{}">{}{}</th></tr>{}</tbody>').format(
                len(HEADINGS), wording.row_point(rows[0]), scope, joined(_row(comparison, row) for row in rows)
            )
        )
    head = joined(
        Markup('<th scope="col"{}>{}</th>').format(Markup(' class="n"') if number else "", text)
        for text, number in HEADINGS
    )
    table = Markup('<table id="comparison" class="survey"><caption>{}</caption><thead><tr>{}</tr></thead>{}</table>')
    measured = scrolling(table.format(caption, head, joined(body)), "Comparison of the variants")
    return joined((measured, _verdicts(comparison), _chains(comparison), _missing(comparison)))


ROW: Final = Markup(
    '<tr class="row"><th scope="row">{}{}</th>{}<td class="whole">{}</td>'
    '<td class="verdict"><span class="{}">{}</span></td>{}</tr>'
)


def _row(comparison: Comparison, row: CellSummary) -> Markup:
    if row.mrr is None:
        return Markup("")
    found = comparison.difference(row)
    verdict = found.judgement.verdict.value if found else ""
    given = row.given_load
    latency = given.latency if given else None
    name = Markup(" <small>VNF {}</small>").format(wording.own_vnf(row)) if wording.own_vnf(row) else ""
    numbers = (
        wording.bound(row) + wording.mpps(row.mrr.median_pps),
        wording.mpps_interval(row.mrr.interval),
        str(row.mrr.rounds),
        f"{wording.of_bare_ports(row)} ({wording.of_bare_ports_interval(row)})"
        if row.of_bare_ports
        else wording.NOTHING,
    )
    rest = (
        wording.loss(given.missing_ratio) if given else wording.NOTHING,
        f"{wording.microseconds(latency.p50_ns)}, {wording.microseconds(latency.p99_ns)}"
        if latency
        else wording.NOTHING,
        wording.cycles(row.cycles_per_packet),
    )
    return ROW.format(
        row.variant,
        name,
        joined(Markup('<td class="n">{}</td>').format(text) for text in numbers),
        wording.limited_by(row),
        verdict,
        wording.verdict(found, wording.own_verdict(comparison.baseline, row)),
        joined(Markup('<td class="n">{}</td>').format(text) for text in rest),
    )


def _verdicts(comparison: Comparison) -> Markup:
    """Say why verdicts are open, once for all variants that share the reason."""
    items = joined(
        Markup("<li>{}: {}</li>").format(reason, counted(variants))
        for reason, variants in open_verdicts(comparison).items()
    )
    return Markup('<ul class="notes">{}</ul>').format(items) if items else Markup("")


def _chains(comparison: Comparison) -> Markup:
    if not comparison.chains:
        return Markup("")
    lengths = sorted({link.length for chain in comparison.chains for link in chain.links})
    rows = []
    for chain in comparison.chains:
        rates = {link.length: f"{'≥ ' if link.limited else ''}{wording.mpps(link.rate_pps)}" for link in chain.links}
        name = f"{chain.variant}, {chain.vnf}, {wording.frame_size(chain.frame_size)}"
        rows.append((name, *(rates.get(length, wording.NOTHING) for length in lengths), holds_up_to(chain)))
    headings = ("Variant, VNF, size", *(f"{length}" for length in lengths), "Longest that holds half of the first")
    return table_of("Mpps by the number of VNFs behind each other.", headings, rows)


def _missing(comparison: Comparison) -> Markup:
    rows = [(hole.variant, hole.status.value, hole.where, hole.reason) for hole in holes(comparison.rows)]
    if not rows:
        return Markup("")
    return table_of("Not measured, and why.", ("Variant", "Status", "Where", "Why"), rows)


def survey_doubts(comparison: Comparison) -> Markup:
    """Give every kind of doubt once, with the variants that carry it and how many of their rows."""
    parts = []
    for kind in wording.doubts(comparison.rows):
        carrying = [row.variant for row in comparison.rows if kind in wording.doubts([row])]
        advice = comparison.advice_on(kind)
        parts.append(
            Markup('<div class="notice"><p><strong>{}</strong> ({} of {} rows): {}</p><p>{} {}</p></div>').format(
                kind.value, len(carrying), len(comparison.rows), counted(carrying), advice.meaning, advice.remedy
            )
        )
    notes: dict[str, list[str]] = {}
    for row in comparison.rows:
        for note in row.notes:
            notes.setdefault(note, []).append(f"{row.variant} {wording.row_point(row)}")
    items = joined(Markup("<li>{}: {}</li>").format(note, "; ".join(names)) for note, names in notes.items())
    folded = Markup("<details><summary>Notes on single rows</summary><ul>{}</ul></details>").format(items)
    return joined((*parts, folded if notes else Markup("")))
