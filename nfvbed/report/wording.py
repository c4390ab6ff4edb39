"""Numbers and verdicts in words, the same in the terminal, in figures and on the page."""

from collections.abc import Iterable, Sequence
from typing import Final

from nfvbed.compare.chains import HALF, Chain, ShareReference, ShareRequirement
from nfvbed.compare.differences.differences import Difference
from nfvbed.compare.differences.ranking import Standing
from nfvbed.compare.differences.scope import Scope, ScopeFinding
from nfvbed.compare.rows.cost import Share
from nfvbed.compare.rows.latency import LatencySummary
from nfvbed.compare.rows.rowwarnings import WarningCount
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.compare.samples.statistics import Interval
from nfvbed.compare.verdict import Bound, Judgement, Verdict
from nfvbed.records import Preset, QualityWarning, Status
from nfvbed.spec.experiment import BEST
from nfvbed.units import FrameSize

SIMULATED_MARK = "SIMULATED - NOT A MEASUREMENT"
SMALLEST_LOSS_PERCENT = 0.0001
NOTHING = "-"
"""There is no such value; a zero is written as 0."""

SCALES: Final = {
    "frames/s": ((1e4, 1e6, "Mpps"), (0, 1, "pps")),
    "bit/s": ((1e9, 1e9, "Gbit/s"), (1e3, 1e6, "Mbit/s")),
    "byte/s": ((1e9, 1e9, "GB/s"), (1e3, 1e6, "MB/s")),
    "s": ((1, 1, "s"), (1e-3, 1e-3, "ms"), (1e-12, 1e-6, "us")),
    "ns": ((1e9, 1e9, "s"), (1e6, 1e6, "ms"), (1e4, 1e3, "us")),
}
"""By unit: from which value on it is divided by what, and its name then."""

SYMBOLS = {
    Verdict.HIGHER: "▲",
    Verdict.LOWER: "▼",
    Verdict.SAME: "=",
    Verdict.UNDECIDED: "?",
    Verdict.DEPENDS_ON_PLACEMENT: "⇅",
    Verdict.NOT_COMPARABLE: "✕",
}
"""Beside the word, never instead of it."""


def frame_size(size: FrameSize) -> str:
    """Return a frame size in words."""
    return "IMIX" if size == "imix" else f"{size} B"


def point(topology: str, vnf: str, size: FrameSize) -> str:
    """Return the name of a traffic point: path, VNFs, frame size."""
    return f"{path(topology, vnf)}, {frame_size(size)}"


def path(topology: str, vnf: str) -> str:
    """Return the name of a path: `p2p`, `pvp process-io`, `pvp native`."""
    return f"{topology} {vnf}" if vnf else topology


def row_point(row: CellSummary | MeasuredTest) -> str:
    """Return the name of the traffic point of a row, or of a test."""
    return point(row.topology, row.vnf, row.frame_size)


def own_vnf(row: CellSummary) -> str:
    """Return which VNF a variant's own one is; nothing where the label says it already."""
    return row.vnf_resolved if row.vnf != row.vnf_resolved else ""


def bound(row: CellSummary) -> str:
    """Return the sign before a rate that is a bound; the rate of an emulated guest is no bound of anything."""
    if row.emulated:
        return ""
    return "≤ " if row.at_most else "≥ " if row.limited else ""


def mpps(rate_pps: float) -> str:
    """Return a rate in million frames a second, with three to four significant digits."""
    value = rate_pps / 1e6
    return f"{value:.2f}" if value >= 10 else f"{value:.3f}"


def mpps_interval(interval: Interval | None) -> str:
    """Return an interval of rates in million frames a second."""
    if interval is None:
        return NOTHING
    return f"{'range ' if interval.is_range else ''}{mpps_span(interval)}"


def mpps_span(interval: Interval) -> str:
    """Return both ends of an interval of rates, without saying what it is."""
    return f"{mpps(interval.low)}–{mpps(interval.high)}"


def level(interval: Interval) -> str:
    """Return the name of an interval, with the level that it attains."""
    # Rounded down: an interval never covers less than it is said to.
    return "range" if interval.is_range else f"{int(1000 * interval.level) / 10:.3g} % interval"


def bit_rate(bits_per_s: float) -> str:
    """Return a bit rate in Mbit/s."""
    return f"{bits_per_s / 1e6:,.0f}"


def share(value: Share) -> str:
    """Return the fraction of cores kept busy."""
    if value is None:
        return NOTHING
    return "n/s" if isinstance(value, str) else f"{value:.2f}"


def cycles(value: Share) -> str:
    """Return cycles per packet."""
    if value is None:
        return NOTHING
    return "n/s" if isinstance(value, str) else f"{value:.0f}"


def loss(ratio: float | None, *, at_least: bool = False) -> str:
    """Return a ratio of missing frames in per cent; what is not exactly zero is never written as 0.

    Args:
        ratio: None: there is none.
        at_least: whether more frames were counted back than were sent, so that it may be more.
    """
    if at_least and ratio is not None:
        return f"≥ {loss(ratio)}"
    if ratio is None:
        return NOTHING
    if ratio == 0:
        return "0"
    percent = 100 * ratio
    if percent < SMALLEST_LOSS_PERCENT:
        return f"< {SMALLEST_LOSS_PERCENT} %"
    return f"{percent:.1f} %" if percent >= 1 else f"{float(f'{percent:.2g}')} %"


def percent(ratio: float) -> str:
    """Return a part in per cent, to two digits below ten."""
    return f"{100 * ratio:.0f} %" if ratio >= 0.1 else f"{100 * ratio:.2g} %"


def microseconds(value_ns: float) -> str:
    """Return a latency in microseconds."""
    value = value_ns / 1e3
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def quantity(value: float, unit: str) -> str:
    """Return a figure with its unit; rates and times are scaled to be read."""
    for scaled, factor, name in SCALES.get(unit, ()):
        if abs(value) >= scaled:
            return f"{value / factor:.4g} {name}"
    whole = abs(value) >= 1000 or float(value).is_integer()
    return f"{value:,.0f} {unit}".rstrip() if whole else f"{value:.4g} {unit}".rstrip()


def span(low: float, high: float, unit: str) -> str:
    """Return a range; the unit once, where both ends have the same."""
    first, last = quantity(low, unit), quantity(high, unit)
    _, gap, shown = last.partition(" ")
    return f"{first.removesuffix(gap + shown) if gap else first} to {last}"


def ratio(judgement: Judgement) -> str:
    """Return the ratio to the baseline, with the sign that its bound asks for."""
    if judgement.ratio is None:
        return NOTHING
    sign = {Bound.AT_LEAST: "≥ ", Bound.AT_MOST: "≤ "}.get(judgement.bound, "")
    near_one = 0.5 <= judgement.ratio < 2
    return f"{sign}{judgement.ratio - 1:+.1%}" if near_one else f"{sign}×{judgement.ratio:.3g}"


def verdict_words(judgement: Judgement) -> str:
    """Return the verdict, and whether it is within the margin."""
    return f"{judgement.verdict.value.replace('-', ' ')}{', within the margin' if judgement.within_margin else ''}"


def times(judgement: Judgement) -> str:
    """Return the ratio to the baseline as a factor, with the sign that its bound asks for."""
    if judgement.ratio is None:
        return NOTHING
    sign = {Bound.AT_LEAST: "≥ ", Bound.AT_MOST: "≤ "}.get(judgement.bound, "")
    return f"{sign}×{factor(judgement.ratio)}"


def factor(value: float) -> str:
    """Return a factor: below 2 with three decimals, where per cents matter."""
    return f"{value:.3f}" if value < 2 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def ratio_interval(judgement: Judgement) -> str:
    """Return the interval of the ratio to the baseline."""
    found = judgement.interval
    return f"{factor(found.low)}–{factor(found.high)}" if found else ""


def of_bare_ports(row: CellSummary) -> str:
    """Return the rate as a part of the bare ports'."""
    return NOTHING if row.of_bare_ports is None else f"{row.of_bare_ports.ratio:.2f}"


def of_bare_ports_interval(row: CellSummary) -> str:
    """Return the interval of that part."""
    interval = row.of_bare_ports.interval if row.of_bare_ports else None
    return f"{interval.low:.2f}–{interval.high:.2f}" if interval else NOTHING


BARE_PORTS: Final = (
    "Of bare ports: the rate as a part of the generator's, looped back on the same kind of ports in the same run; "
    "below it, what set the rate as far as ceilings tell."
)


def baseline(name: str) -> str:
    """Return what rows are judged against."""
    return "judged against the best of each traffic point" if name == BEST else f"baseline {name}"


def own_verdict(name: str, row: CellSummary) -> str:
    """Return what a row is that is judged against none: the baseline, the best, or nothing that was measured."""
    if name != BEST:
        return "baseline"
    return "best" if row.mrr is not None and not row.unranked else NOTHING


LIMITED_BY: Final = {
    QualityWarning.GENERATOR_LIMITED: "generator",
    QualityWarning.PORT_LIMITED: "ports",
    QualityWarning.VNF_LIMITED: "VNF",
    QualityWarning.WIRE_LIMITED: "wire",
    QualityWarning.EMULATED_ACCELERATOR: "emulation",
}


def limited_by(row: CellSummary) -> str:
    """Return what set the rate, as far as ceilings tell; where none of them is reached it is the path itself.

    A question mark: its interval reaches the ceiling, and does not lie at it.
    """
    if row.mrr is None:
        return NOTHING
    named = [LIMITED_BY[limit.kind] for limit in row.limits if limit.kind in LIMITED_BY]
    named += [f"{LIMITED_BY[limit.kind]}?" for limit in row.possible_limits if limit.kind in LIMITED_BY]
    if named:
        return ", ".join(named)
    if row.of_bare_ports is None and row.switching_overhead is None and row.vnf_pps is None:
        return "not known"
    return "switch, VNF" if row.vnf else "switch"


def verdict(difference: Difference | None, alone: str = "baseline") -> str:
    """Return a difference in one short phrase.

    Args:
        difference: that of a row to its baseline; None: the row has none.
        alone: the phrase for a row that has none.
    """
    if difference is None:
        return alone
    judged = difference.judgement
    word = f"{SYMBOLS[judged.verdict]} {judged.verdict.value.replace('-', ' ')}"
    return word if judged.verdict is Verdict.NOT_COMPARABLE else f"{word} {ratio(judged)}"


SHORT_VERDICTS: Final = {Verdict.NOT_COMPARABLE: "not compared", Verdict.DEPENDS_ON_PLACEMENT: "by placement"}
"""Where the word itself is too long for a column."""


def short_verdict(judgement: Judgement) -> str:
    """Return a verdict in a word or two."""
    word = SHORT_VERDICTS.get(judgement.verdict, judgement.verdict.value)
    return f"{SYMBOLS[judgement.verdict]} {word}"


def standing(found: Standing | None) -> str:
    """Return how a rate stands to the highest one of its traffic point; a dash for a row without a rate."""
    return NOTHING if found is None else found.value.replace("-", " ")


def scope(difference: Difference | None) -> str:
    """Return the scope of a difference."""
    if difference is None or difference.scope.scope is Scope.NOT_COMPARABLE:
        return ""
    return "trend" if difference.scope.trend else difference.scope.scope.value


SCOPES = {
    (Scope.CONTROLLED, False): "controlled (only the variant differs)",
    (Scope.CONTROLLED, True): "controlled (the same VNF; the variant brings its own kind of ports)",
    (Scope.SYSTEM, False): "system (whole native stacks differ: ports, generator engine)",
    (Scope.SYSTEM, True): "system (whole native stacks differ: ports, generator engine, VNF)",
    (Scope.NOT_COMPARABLE, False): "not comparable",
}
"""By the scope; and whether, when controlled, anything beside the variant is listed, in a system, a VNF."""


def scope_sentence(found: Iterable[ScopeFinding]) -> str:
    """Return what the scopes of a comparison allow to claim."""
    seen = {
        (entry.scope, bool(entry.differences) if entry.scope is Scope.CONTROLLED else entry.vnf_differs)
        for entry in found
    }
    return "; ".join(text for kind, text in SCOPES.items() if kind in seen) or "nothing is compared"


def limits(row: CellSummary) -> str:
    """Return what bounds a row, and the warnings stored with it."""
    warnings = [f"{kind.value} {counts}" for kind, counts in row_warnings(row).items()]
    return ", ".join([*(limit.kind.value for limit in row.limits), *warnings])


def marks(row: CellSummary) -> str:
    """Return what bounds a row, what may bound it, and its warnings; `none` where nothing does."""
    limits_ = [limit.kind.value for limit in row.limits]
    perhaps = [f"perhaps {limit.kind.value}" for limit in row.possible_limits]
    return ", ".join([*limits_, *perhaps, *(kind.value for kind in row_warnings(row))]) or "none"


def row_warnings(row: CellSummary) -> dict[QualityWarning, str]:
    """Return the warnings that do not bound a row, with how many of its trials carry them: `2/6, paced 1/6`."""
    bounding = {limit.kind for limit in row.limits}
    found: dict[QualityWarning, list[WarningCount]] = {}
    for warning in row.warnings:
        if warning.kind not in bounding:
            found.setdefault(warning.kind, []).append(warning)
    presets = sum(found is not None for found in (row.mrr, row.paced, row.common))
    return {kind: _counts(entries, presets) for kind, entries in found.items()}


PRESET_NAMES: Final = {Preset.PACED: "paced ", Preset.COMMON: "common load "}


def _counts(entries: Sequence[WarningCount], presets: int) -> str:
    """Count trials; those at given loads are named, and `all` are all of all kinds."""
    if len(entries) == presets and all(entry.trials == entry.of and not entry.detail for entry in entries):
        return "all"
    parts = []
    for entry in entries:
        name = PRESET_NAMES.get(entry.preset, "")
        parts.append(entry.detail or f"{name}{entry.trials}/{entry.of}")
    return ", ".join(parts)


def warnings(rows: Sequence[CellSummary]) -> list[QualityWarning]:
    """Return each kind of limit or warning that occurs, once, in alphabetical order."""
    limiting = {limit.kind for row in rows for limit in row.limits}
    return sorted(limiting | {warning.kind for row in rows for warning in row.warnings})


def status(row: CellSummary) -> str:
    """Return in words why a row has no number."""
    return "" if row.status is Status.OK else f"{row.status.value}: {row.reason}" if row.reason else row.status.value


def chain(found: Chain) -> str:
    """Return how a chain's rate falls with its length, and how long it may get."""
    rates = ", ".join(f"{link.length}: {'≥ ' if link.limited else ''}{mpps(link.rate_pps)}" for link in found.links)
    if found.undecided:
        open_lengths = ", ".join(str(length) for length in found.undecided)
        rest = f"; of {open_lengths} it is not decided"
    else:
        rest = "" if found.exhausted else ", and a longer one was not measured"
    return (
        f"{found.variant}, chain of {found.vnf}, {frame_size(found.frame_size)}: Mpps by number of VNFs {rates}. "
        f"The longest that holds {held(found.hold)} has {found.longest}{rest}."
    )


def held(hold: ShareRequirement) -> str:
    """Return what a chain is asked to hold: `half of the one-VNF rate`, `80 % of the p2p rate`."""
    part = "half" if hold.share == HALF else percent(hold.share)
    return f"{part} of the {'one-VNF' if hold.of is ShareReference.ONE_VNF else 'p2p'} rate"


def short_run(run: str) -> str:
    """Shorten a run's id to what distinguishes two runs: version 7 ids begin with the time and end with chance."""
    return run[-8:]


LATENCY_HEADINGS = ("µs P50", "P90", "P99", "P99.9", "max", "P99 - min")
"""The last one is the delay variation against the least delay (RFC 3393, RFC 5481 section 4.2)."""
LATENCY_SENTENCE = (
    "P99 - min is the delay variation: that of 99 % of the frames against the frame of least delay (RFC 3393; PDV of "
    "RFC 5481)."
)
DIRECTIONS = ("0 → 1", "1 → 0")
"""From the generator's port to its port."""


def latency_columns(found: LatencySummary | None) -> tuple[str, ...]:
    """Return what the headings name; a percentile with too few frames above it is a dash."""
    if found is None:
        return (NOTHING,) * len(LATENCY_HEADINGS)
    at = (found.at(percentile) for percentile in (50.0, 90.0, 99.0, 99.9, 100.0))
    shown = [NOTHING if value is None else microseconds(value) for value in at]
    return (*shown, microseconds(found.delay_variation_ns))
