"""The page's explanations: how to read it, the method, and the limits of what it says."""

from typing import Final

from markupsafe import Markup

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.limits import WITHIN
from nfvbed.report.page_table import joined

WORDS: Final = (
    ("Maximum receive rate", "Frames received per second at maximum load, both directions together (MRR). Not a "
     "throughput in the sense of RFC 1242: frames may be lost."),
    ("Interval", "95 % bootstrap interval of the median. Where intervals are wide, the trials scattered."),
    ("≥", "The generator, the ports, the VNF or the wire set this rate. The data plane can do at least this much."),
    ("higher, lower", "Judged different by the test on single trials, by more than the resolution."),
    ("same", "No difference seen; beside it stands how small a difference would have been seen."),
    ("undecided", "The trials, or the ceilings, do not allow an answer. Not the same as 'same'."),
    ("not comparable", "Another host, a simulation, or nothing measured: the reason stands beside it."),
    ("controlled", "Host and rig are equal: the difference is the variant's."),
    ("system", "Each variant with its own kind of ports and generator engine: the difference is the whole stack's."),
    ("n/s", "Not separable: this CPU time cannot be told from another's. Never shown as 0."),
    ("Placement class", "In a virtual machine cores lie near to or far from each other, and it changes by itself. "
     "Only trials of one class are compared."),
)  # fmt: skip


def how_to_read() -> Markup:
    """Explain the words of the table."""
    entries = joined(Markup("<dt>{}</dt><dd>{}</dd>").format(word, text) for word, text in WORDS)
    return Markup('<dl class="words">{}</dl>').format(entries)


def method(comparison: Comparison) -> Markup:
    """Say how the numbers came about."""
    rules = comparison.rules
    lines = (
        "Runs of the variants are interleaved; only the variant under test runs during its trials. Each repetition is "
        "one trial at maximum load and one at a given load, for loss and latency.",
        f"Placement classes come from the core distances around every trial by rule {comparison.placement_rule}: split "
        "at a gap, not at a fixed threshold. A trial within which the class changed is kept and not used.",
        f"Verdicts: two-sided Mann-Whitney U test on single trials at the {rules.alpha:.0%} level, exact for small "
        f"numbers; a difference of medians under {rules.resolution:.1%} counts as the same. "
        f"{rules.needed} trials in the class are asked for.",
        f"A rate within {WITHIN:.0%} of its ceiling, measured in the same run and class, is a lower bound, and so is "
        "one whose trials at maximum load were mostly stored as limited. A ceiling exceeded by more bounds nothing. "
        "Verdicts never claim more than a lower bound allows; two limited rates are not ranked.",
        "Latency histograms (HdrHistogram, three digits) are merged before percentiles are read from them.",
    )
    return Markup("<ul>{}</ul>").format(joined(Markup("<li>{}</li>").format(line) for line in lines))


def limits_of_this(comparison: Comparison) -> Markup:
    """Say what the page does not show."""
    lines = [
        "These numbers hold for this host, these versions and this traffic. Others can turn the order.",
        "No correction for multiple comparisons is made: of twenty rows of equal systems one may be judged different.",
        "Latency is taken at a fraction of each variant's own maximum; it is not a comparison at equal load.",
    ]
    if any(row.port_kind.value != "pci" for row in comparison.rows):
        lines.append("Virtual ports have no wire: L1 rates are what a wire would carry.")
    lines += [f"{note[0].upper()}{note[1:]}." for note in comparison.notes]
    return Markup("<ul>{}</ul>").format(joined(Markup("<li>{}</li>").format(line) for line in lines))
