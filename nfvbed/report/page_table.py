"""The page's tables: rows of the comparison, ceilings, and the environment."""

from collections.abc import Iterable, Sequence
from statistics import median

from markupsafe import Markup

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.summary import CellSummary
from nfvbed.records import CellRole, FactRecord, Role
from nfvbed.report import wording
from nfvbed.report.captions import short_caption

HEADINGS = (
    ("Variant", False),
    ("Rate, Mpps", True),
    ("Trials", True),
    ("Against the baseline", False),
    ("Mbit/s L1, L2", True),
    ("Loss at paced load", True),
    ("Latency P50, P99 µs", True),
    ("CPU cores: switch · VNF · generator", True),
    ("Cycles per packet", True),
    ("Limits and doubts", False),
)


def joined(parts: Iterable[Markup]) -> Markup:
    """Join pieces that are escaped already."""
    return Markup("").join(parts)


def scrolling(table: Markup, label: str) -> Markup:
    """Let a wide table scroll on its own, reachable by keyboard."""
    return Markup('<div class="scroll" tabindex="0" role="region" aria-label="{}">{}</div>').format(label, table)


def comparison_table(comparison: Comparison) -> Markup:
    """Write the rows, grouped by traffic point, the baseline first."""
    mark = Markup("<strong>{}.</strong> ").format(wording.SIMULATED_MARK) if comparison.simulated else Markup("")
    caption = Markup("{}Maximum receive rate (both directions together), baseline {}. {}").format(
        mark, comparison.baseline, short_caption(comparison)
    )
    head = joined(
        Markup('<th scope="col"{}>{}</th>').format(Markup(' class="n"') if number else "", text)
        for text, number in HEADINGS
    )
    body: list[Markup] = []
    for point in dict.fromkeys((row.topology, row.frame_size) for row in comparison.rows):
        rows = [row for row in comparison.rows if (row.topology, row.frame_size) == point]
        rows.sort(key=lambda row: row.variant != comparison.baseline)
        label = f"{point[0]}, {wording.frame_size(point[1])}"
        body.append(
            Markup('<tbody><tr class="point"><th scope="rowgroup" colspan="{}">{}</th></tr>{}</tbody>').format(
                len(HEADINGS), label, joined(_row(comparison, row) for row in rows)
            )
        )
    table = Markup('<table id="comparison"><caption>{}</caption><thead><tr>{}</tr></thead>{}</table>')
    return scrolling(table.format(caption, head, joined(body)), "Comparison of the variants")


def _row(comparison: Comparison, row: CellSummary) -> Markup:
    run = Markup("<small>run {}</small>").format(wording.short_run(row.run)) if len(comparison.runs) > 1 else ""
    return Markup('<tr class="row"><th scope="row">{}{}</th>{}{}{}</tr>').format(
        row.variant, run, _rate(row), _verdict(comparison, row), joined((_details(row), _doubts(row)))
    )


def _number(text: str, below: str = "") -> Markup:
    small = Markup("<small>{}</small>").format(below) if below else ""
    return Markup('<td class="n">{}{}</td>').format(text, small)


def _rate(row: CellSummary) -> Markup:
    if row.mrr is None:
        return Markup('<td colspan="2"><span class="doubt">{}</span></td>').format(wording.status(row))
    bound = "≥ " if row.limited else ""
    rate = _number(bound + wording.mpps(row.mrr.median_pps), wording.mpps_interval(row.mrr.interval))
    return joined((rate, _number(str(row.mrr.trials))))


def _details(row: CellSummary) -> Markup:
    if row.mrr is None:
        return joined(_number(wording.NOTHING) for _ in range(5))
    rate = row.mrr
    latency = row.paced.latency if row.paced else None
    return joined(
        (
            _number(wording.bit_rate(rate.layer1_bits_per_s), wording.bit_rate(rate.layer2_bits_per_s)),
            _number(
                wording.loss(row.paced.loss_ratio) if row.paced else wording.NOTHING,
                f"at {wording.mpps(row.paced.load_pps)} Mpps" if row.paced else "",
            ),
            _number(wording.microseconds(latency.p50_ns), wording.microseconds(latency.p99_ns))
            if latency
            else _number(wording.NOTHING),
            _number(" · ".join(wording.share(getattr(row.cpu, role.value)) for role in Role)),
            _number(wording.cycles(row.cycles_per_packet), row.cycles_source),
        )
    )


def _verdict(comparison: Comparison, row: CellSummary) -> Markup:
    found = comparison.difference(row)
    if found is None:
        return Markup('<td class="verdict">baseline</td>')
    judged = found.judgement
    under = [found.scope.reason if found.scope.scope.value != "not-comparable" else ""]
    if judged.interval and judged.ratio:
        under.insert(0, f"95 % interval ×{judged.interval.low:.3g} to ×{judged.interval.high:.3g}")
    under.append(judged.reason)
    return Markup('<td class="verdict"><span class="{}">{}</span>{}</td>').format(
        judged.verdict.value,
        wording.verdict(found),
        joined(Markup("<small>{}</small>").format(text) for text in under if text),
    )


def _doubts(row: CellSummary) -> Markup:
    lines = [
        Markup('<span class="doubt">{}</span><small>{}</small>').format(x.kind.value, x.detail) for x in row.limits
    ]
    named = {limit.kind for limit in row.limits}
    lines += [
        Markup('<span class="doubt">{}</span><small>{} of {} trials</small>').format(x.kind.value, x.trials, x.of)
        for x in row.warnings
        if x.kind not in named
    ]
    lines += [Markup("<small>{}</small>").format(note) for note in row.notes]
    return Markup("<td>{}</td>").format(joined(lines) if lines else "none")


def ceiling_table(ceilings: Sequence[CellSummary]) -> Markup:
    """Write the ceilings of the same placement class."""
    names = {CellRole.LOOPBACK: "generator looped back", CellRole.REFERENCE: "testpmd io in the switch's place"}
    rows = joined(
        Markup(
            '<tr><th scope="row">{}</th><td>{}</td><td>{}, {}</td><td class="n">{}</td><td class="n">{}</td></tr>'
        ).format(
            row.port_kind.value,
            names.get(row.role, row.role.value),
            row.topology,
            wording.frame_size(row.frame_size),
            wording.mpps(row.mrr.median_pps) if row.mrr else wording.status(row),
            str(row.mrr.trials) if row.mrr else "0",
        )
        for row in ceilings
    )
    head = Markup(
        '<thead><tr><th scope="col">Ports</th><th scope="col">Ceiling</th><th scope="col">Traffic</th>'
        '<th scope="col" class="n">Rate, Mpps</th><th scope="col" class="n">Trials</th></tr></thead>'
    )
    table = Markup(
        "<table><caption>What the generator and the ports allow at most.</caption>{}<tbody>{}</tbody></table>"
    )
    return scrolling(table.format(head, rows), "Ceilings")


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
