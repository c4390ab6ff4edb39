"""The page's tables: rows of the comparison, ceilings, and the environment."""

from collections.abc import Iterable, Sequence
from statistics import median

from markupsafe import Markup

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.limits import WHY_EXCEEDED
from nfvbed.compare.summary import CellSummary
from nfvbed.records import CellRole, FactRecord, QualityWarning, Role
from nfvbed.report import wording
from nfvbed.report.captions import scope_of, short_caption
from nfvbed.report.page.notes import TableNotes

HEADINGS = (
    ("Variant", False),
    ("Rate, Mpps", True),
    ("Rounds, trials", True),
    ("Against the baseline", False),
    ("Of bare ports", True),
    ("Mbit/s L1, L2", True),
    ("Missing frames", True),
    ("Latency µs, P50, P99", True),
    ("CPU cores: switch · VNF · gen.", True),
    ("Cycles/ packet", True),
    ("Limits and doubts", False),
)


def joined(parts: Iterable[Markup]) -> Markup:
    """Join pieces that are escaped already."""
    return Markup("").join(parts)


def scrolling(table: Markup, label: str) -> Markup:
    """Let a wide table scroll on its own, reachable by keyboard."""
    return Markup('<div class="scroll" tabindex="0" role="region" aria-label="{}">{}</div>').format(label, table)


def comparison_table(comparison: Comparison) -> Markup:
    """Write the rows, grouped by traffic point, the baseline first, and the notes that they name below."""
    notes = TableNotes("comparison")
    mark = Markup("<strong>{}.</strong> ").format(wording.SIMULATED_MARK) if comparison.simulated else Markup("")
    caption = Markup("{}Maximum receive rate (both directions together), {}. {} {}").format(
        mark, wording.baseline(comparison.baseline), wording.BARE_PORTS, short_caption(comparison)
    )
    head = joined(
        Markup('<th scope="col"{}>{}</th>').format(Markup(' class="n"') if number else "", text)
        for text, number in HEADINGS
    )
    body: list[Markup] = []
    for point in dict.fromkeys(row.point for row in comparison.rows):
        rows = comparison.ranked([row for row in comparison.rows if row.point == point])
        judged = any(comparison.difference(row) for row in rows)
        scope = Markup(" <small>Scope: {}</small>").format(scope_of(comparison, rows)) if judged else ""
        body.append(
            Markup('<tbody><tr class="point"><th scope="rowgroup" colspan="{}">{}{}</th></tr>{}</tbody>').format(
                len(HEADINGS), wording.row_point(rows[0]), scope, joined(_row(comparison, row, notes) for row in rows)
            )
        )
    table = Markup('<table id="comparison"><caption>{}</caption><thead><tr>{}</tr></thead>{}</table>')
    scrolled = scrolling(table.format(caption, head, joined(body)), "Comparison of the variants")
    return joined((scrolled, notes.render()))


def _row(comparison: Comparison, row: CellSummary, notes: TableNotes) -> Markup:
    run = Markup("<small>run {}</small>").format(wording.short_run(row.run)) if len(comparison.runs) > 1 else ""
    own = Markup("<small>VNF {}</small>").format(wording.own_vnf(row)) if wording.own_vnf(row) else ""
    cells = (_rate(row), _verdict(comparison, row, notes), _details(row, notes), _doubts(comparison, row, notes))
    return Markup('<tr class="row"><th scope="row">{}{}{}</th>{}</tr>').format(row.variant, own, run, joined(cells))


def _number(text: str, below: str = "", note: Markup | None = None) -> Markup:
    # A text breaks between its words; a figure and an interval stay whole.
    kind = Markup(' class="words"') if any(character.isalpha() for character in below) else ""
    small = Markup("<small{}>{}</small>").format(kind, below) if below else ""
    return Markup('<td class="n">{}{}{}</td>').format(text, note or "", small)


def _rate(row: CellSummary) -> Markup:
    if row.mrr is None:
        return Markup('<td colspan="2"><span class="doubt">{}</span></td>').format(wording.status(row))
    rate = _number(wording.bound(row) + wording.mpps(row.mrr.median_pps), wording.mpps_interval(row.mrr.interval))
    return joined((rate, _number(str(row.mrr.rounds), str(row.mrr.trials))))


def _details(row: CellSummary, notes: TableNotes) -> Markup:
    if row.mrr is None:
        return joined(_number(wording.NOTHING) for _ in range(6))
    rate = row.mrr
    given = row.given_load
    latency = given.latency if given else None
    source = notes.mark(f"Cycles per packet from: {row.cycles_source}.") if row.cycles_per_packet is not None else None
    return joined(
        (
            _number(wording.of_bare_ports(row), f"{wording.of_bare_ports_interval(row)} {wording.limited_by(row)}"),
            _number(wording.bit_rate(rate.layer1_bits_per_s), wording.bit_rate(rate.layer2_bits_per_s)),
            _number(
                wording.loss(given.missing_ratio) if given else wording.NOTHING,
                f"at {wording.mpps(given.load_pps)} Mpps{'' if row.common else ' (own half)'}" if given else "",
            ),
            _number(wording.microseconds(latency.p50_ns), wording.microseconds(latency.p99_ns))
            if latency
            else _number(wording.NOTHING),
            _number(" · ".join(wording.share(getattr(row.cpu, role.value)) for role in Role)),
            _number(wording.cycles(row.cycles_per_packet), note=source),
        )
    )


def _verdict(comparison: Comparison, row: CellSummary, notes: TableNotes) -> Markup:
    found = comparison.difference(row)
    if found is None:
        return Markup('<td class="verdict">{}</td>').format(wording.own_verdict(comparison.baseline, row))
    judged = found.judgement
    under = [wording.scope(found)]
    if judged.interval and judged.ratio:
        kind = wording.level(judged.interval).removesuffix(" interval")
        under.insert(0, f"×{wording.ratio_interval(judged)} ({kind})")
    if judged.unpaired:
        under.append("unpaired")
    reason = f"{judged.reason[0].upper()}{judged.reason[1:]}." if judged.reason else ""
    return Markup('<td class="verdict"><span class="{}">{}</span>{}<small class="words">{}</small></td>').format(
        judged.verdict.value, wording.verdict(found), notes.mark(reason), ", ".join(text for text in under if text)
    )


def _place(comparison: Comparison, row: CellSummary) -> str:
    """Name what tells a row from the variant's others: its size, and its path where there are several."""
    several = len({(other.topology, other.vnf) for other in comparison.rows}) > 1
    return wording.row_point(row) if several else wording.frame_size(row.frame_size)


def _doubts(comparison: Comparison, row: CellSummary, notes: TableNotes) -> Markup:
    """Name what bounds the row and what casts doubt on it; how is said in the notes."""
    parts = [
        Markup('<span class="doubt">{}</span>{}').format(limit.kind.value, notes.mark(_said(limit.kind, limit.detail)))
        for limit in row.limits
    ]
    parts += [
        Markup('<span class="count">perhaps {}</span>{}').format(
            limit.kind.value, notes.mark(_said(limit.kind, limit.detail))
        )
        for limit in row.possible_limits
    ]
    parts += [
        Markup('<span class="doubt">{}</span> <span class="count">{}</span>').format(kind.value, counts)
        for kind, counts in wording.row_doubts(row).items()
    ]
    details = {entry.detail: f"{entry.role.value} exceeded" for entry in row.exceeded}
    parts += [
        Markup('<span class="count">{}</span>{}').format(
            details.get(note, "note"), notes.mark(f"{row.variant}, {_place(comparison, row)}: {note}.")
        )
        for note in row.notes
    ]
    return Markup('<td class="limits">{}</td>').format(Markup(", ").join(parts) if parts else "none")


def _said(kind: QualityWarning, detail: str) -> str:
    return f"{kind.value}: {detail}." if detail else ""


def ceiling_table(comparison: Comparison) -> Markup:
    """Write the ceilings, and by which rows they are exceeded."""
    names = {
        CellRole.LOOPBACK: "generator looped back",
        CellRole.REFERENCE: "testpmd io in the switch's place",
        CellRole.VNF: "VNF looped back alone",
    }
    rows = joined(
        Markup(
            '<tr><th scope="row">{}</th><td>{}</td><td class="whole">{}</td>'
            '<td class="n">{}</td><td class="n">{}</td><td>{}</td></tr>'
        ).format(
            row.ports,
            names.get(row.role, row.role.value),
            wording.row_point(row),
            wording.mpps(row.mrr.median_pps) if row.mrr else wording.NOTHING,
            str(row.mrr.trials) if row.mrr else "0",
            _standing(comparison, row),
        )
        for row in comparison.ceilings
    )
    head = Markup(
        '<thead><tr><th scope="col">Ports</th><th scope="col">Ceiling</th><th scope="col">Traffic</th>'
        '<th scope="col" class="n">Rate, Mpps</th><th scope="col" class="n">Trials</th>'
        '<th scope="col">Use</th></tr></thead>'
    )
    table = Markup(
        "<table><caption>What the generator, the ports and the VNFs allow at most.</caption>{}<tbody>{}</tbody></table>"
    )
    return scrolling(table.format(head, rows), "Ceilings")


def _standing(comparison: Comparison, ceiling: CellSummary) -> str:
    """Say what a ceiling is worth: rows at it, rows above it, or why it was not measured."""
    if ceiling.mrr is None:
        return wording.status(ceiling)
    above = [
        f"{row.variant}{' ' + wording.path(row.topology, row.vnf) if row.vnf else ''} ({entry.ratio:.0%})"
        for row in comparison.rows
        for entry in row.exceeded
        if (row.run, entry.cell) == (ceiling.run, ceiling.cell) and not entry.by
    ]
    if above:
        return f"{WHY_EXCEEDED[ceiling.role]}; by {', '.join(above)}"
    refuted = {(row.run, entry.cell): entry.by for row in comparison.rows for entry in row.exceeded}
    by = refuted.get((ceiling.run, ceiling.cell))
    return f"bounds nothing: {by} is above the like of it" if by else "holds"


def table_of(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """Write a plain table; the first cell of each row names it."""
    head = joined(Markup('<th scope="col">{}</th>').format(text) for text in headings)
    body = joined(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            row[0], joined(Markup("<td>{}</td>").format(text) for text in row[1:])
        )
        for row in rows
    )
    table = Markup("<table><caption>{}</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table>")
    return scrolling(table.format(title, head, body), title)


def fact_table(title: str, facts: dict[str, str]) -> Markup:
    """Write names and values."""
    rows = joined(
        Markup('<tr><th scope="row">{}</th><td>{}</td></tr>').format(name, value) for name, value in facts.items()
    )
    table = Markup("<table><caption>{}</caption><tbody>{}</tbody></table>").format(title, rows)
    return scrolling(table, title)


def step_table(facts: Sequence[FactRecord]) -> Markup:
    """Write how long the steps of deployment took: medians over the run."""
    times: dict[tuple[str, str], list[int]] = {}
    for fact in facts:
        times.setdefault((fact.cell or "", fact.step), []).append(fact.duration_ns)
    named = {
        f"{step} ({cell})" if cell else step: f"{median(values) / 1e9:.3f} s (median of {len(values)})"
        for (cell, step), values in times.items()
    }
    return fact_table("Time taken by the steps", named)
