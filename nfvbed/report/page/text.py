"""The page's explanations: how to read it, the method, and the limits of what it says."""

from typing import Final

from markupsafe import Markup

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.limits import WITHIN
from nfvbed.compare.verdict import MANY_COMPARISONS
from nfvbed.report.page.table import joined

WORDS: Final = (
    ("Maximum receive rate", "Frames received per second at maximum load, both directions together (MRR). Not a "
     "throughput in the sense of RFC 1242: frames may be lost."),
    ("Interval", "Exact 95 % interval of the median, between two of the samples; below six samples their range, which "
     "is named so and covers at no level."),
    ("≥", "The generator, the ports, the VNF or the wire set this rate. The data plane can do at least this much."),
    ("higher, lower", "The interval of the ratio leaves out 1, by an exact test on the rounds."),
    ("same", "Shown to be equal: the 90 % interval of the ratio lies within the margin."),
    ("Missing frames", "Lost and refused over intended frames, at the load that all variants of a traffic point share "
     "(half of what the slowest carries); without such a load at each one's own half. Frames that the generator was "
     "too late for count on neither side."),
    ("depends on placement", "Ahead over all states of the host, and behind in one of them."),
    ("undecided", "The trials, or the ceilings, do not allow an answer. Not the same as 'same'."),
    ("not comparable", "Another host, a simulation, or nothing measured: the reason stands beside it."),
    ("controlled", "Host and rig are equal: the difference is the variant's."),
    ("system", "Each variant with its own kind of ports and generator engine: the difference is the whole stack's."),
    ("n/s", "Not separable: this CPU time cannot be told from another's. Never shown as 0."),
    ("Placement class", "In a virtual machine cores lie near to or far from each other, and it changes by itself. "
     "Rates are over all of it; a round's variants are compared in one class where both have trials in it."),
)  # fmt: skip


def how_to_read() -> Markup:
    """Explain the words of the table."""
    entries = joined(Markup("<dt>{}</dt><dd>{}</dd>").format(word, text) for word, text in WORDS)
    return Markup('<dl class="words">{}</dl>').format(entries)


def method(comparison: Comparison) -> Markup:
    """Say how the numbers came about."""
    lines = (
        "Runs of the variants are interleaved; only the variant under test runs during its trials. In each round a "
        "variant has several short trials at maximum load, and trials at given loads for latency and missing frames.",
        f"Placement classes come from the core distances around every trial by rule {comparison.placement_rule}: split "
        "at a gap, not at a fixed threshold. A rate is over all trials; where both sides of a round have trials in "
        "one class, these are compared. It is chosen by distances alone.",
        _verdicts(comparison),
        f"A rate whose interval lies above {1 - WITHIN:.0%} of a ceiling over the same I/O path in the same run is a "
        "lower bound, and so is one whose trials at maximum load were mostly stored as limited. A ceiling that a row "
        "exceeds with its interval bounds nothing in the whole run. Verdicts never claim more than a lower bound "
        "allows; ports, and a variant's own VNF, explain a system's rate and do not bound it.",
        "Latency histograms (HdrHistogram, three digits) are merged before percentiles are read from them.",
    )
    return Markup("<ul>{}</ul>").format(joined(Markup("<li>{}</li>").format(line) for line in lines))


def _verdicts(comparison: Comparison) -> str:
    rules = comparison.rules
    if comparison.purpose == "survey":
        return "A survey makes no verdicts: it shows ranges, and the order."
    looks = " and ".join(str(look) for look in rules.looks)
    return (
        f"Verdicts: variants are compared round by round by the exact two-sided signed-rank test, looked at after "
        f"{looks} rounds with errors of {rules.alpha:.0%} together; more than {MANY_COMPARISONS} comparisons at a "
        f"traffic point are looked at once, after {rules.looks[-1]}, and corrected by Holm. Where there are no common "
        "rounds, visits are compared by the exact rank test of Mann and Whitney. The same means that the 90 % interval "
        f"of the ratio lies within {rules.margin:.0%} (two one-sided tests)."
    )


def limits_of_this(comparison: Comparison) -> Markup:
    """Say what the page does not show."""
    lines = [
        "These numbers hold for this host, these versions and this traffic. Others can turn the order.",
        "Traffic points are not corrected for being many: of twenty of equal systems one may be judged different.",
    ]
    if any(row.paced and not row.common for row in comparison.rows):
        lines.append("Latency without a common load is taken at half of each variant's own maximum: loads differ.")
    if any(row.port_kind.value != "pci" for row in comparison.rows):
        lines.append("Virtual ports have no wire: L1 rates are what a wire would carry.")
    lines += [f"{note[0].upper()}{note[1:]}." for note in comparison.notes]
    return Markup("<ul>{}</ul>").format(joined(Markup("<li>{}</li>").format(line) for line in lines))
