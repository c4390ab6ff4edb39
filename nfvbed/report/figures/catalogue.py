"""All figures of a comparison, in the order in which they are read; and their SVG and PNG files."""

from typing import Final

from nfvbed.compare.comparison import Comparison
from nfvbed.report.drawing import DRAWING
from nfvbed.report.figures import survey
from nfvbed.report.figures.bytraffic import by_flows_figure, by_frame_size_figure
from nfvbed.report.figures.chainlength import chain_figure
from nfvbed.report.figures.conditions import conditions_figure
from nfvbed.report.figures.cost import cpu_figure, cycles_figure
from nfvbed.report.figures.distance import distance_figure
from nfvbed.report.figures.latency import latency_figure
from nfvbed.report.figures.loads import latency_by_load_figure, loss_by_load_figure
from nfvbed.report.figures.overhead import overhead_figure
from nfvbed.report.figures.overtime import over_time_figure
from nfvbed.report.figures.rate import rate_figure
from nfvbed.report.figures.searches import relative_figure, throughput_figure
from nfvbed.report.figures.soak import soak_figure
from nfvbed.report.figures.theme import Drawing, Spec, Theme, themed

PNG_SCALE: Final = 2
FIGURES: Final = {
    "rate": rate_figure,
    "relative-throughput": relative_figure,
    "throughput": throughput_figure,
    "by-frame-size": by_frame_size_figure,
    "by-flows": by_flows_figure,
    "chain": chain_figure,
    "latency": latency_figure,
    "loss-by-load": loss_by_load_figure,
    "latency-by-load": latency_by_load_figure,
    "soak": soak_figure,
    "by-condition": conditions_figure,
    "over-time": over_time_figure,
    "cpu": cpu_figure,
    "cycles-per-packet": cycles_figure,
    "switching-overhead": overhead_figure,
    "core-distance": distance_figure,
}
OF_MANY: Final = {
    "rate": survey.rates,
    "bare-ports": survey.of_bare_ports,
    "chain": survey.chains,
    "latency": survey.latencies,
    "loss-by-load": loss_by_load_figure,
    "latency-by-load": latency_by_load_figure,
    "soak": soak_figure,
    "core-distance": distance_figure,
}
"""Figures of many variants: lines and colours for each would be a thicket."""


def drawings(comparison: Comparison) -> dict[str, Drawing]:
    """Return every figure that has something to show, by name; none is drawn yet."""
    found = {name: of(comparison) for name, of in (OF_MANY if comparison.many else FIGURES).items()}
    return {name: drawing for name, drawing in found.items() if drawing is not None}


def figures(comparison: Comparison) -> dict[str, Spec]:
    """Return the specification of every figure that has something to show, by name, checked by Altair."""
    return {name: drawing.make(checked=True) for name, drawing in drawings(comparison).items()}


def to_svg(spec: Spec) -> bytes:
    """Draw a figure on white, as a picture of its own; no network is used.

    Raises:
        DrawingError: the figure could not be drawn.
    """
    return DRAWING.svg(spec | {"background": "white"})


def to_themed_svg(spec: Spec, theme: Theme) -> bytes:
    """Draw a figure for a page, which has its title and caption beside it, in the page's colours.

    Raises:
        DrawingError: the figure could not be drawn.
    """
    return DRAWING.svg(themed(spec, theme))


def to_png(spec: Spec) -> bytes:
    """Draw a figure on white, at twice its size.

    Raises:
        DrawingError: the figure could not be drawn.
    """
    return DRAWING.png(spec | {"background": "white"}, PNG_SCALE)
