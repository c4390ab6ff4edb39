"""What all figures share: colours that the colour-blind can distinguish, sizes, titles, the mark of a simulation."""

from collections.abc import Iterable
from typing import Any, Final

import altair as alt

from nfvbed.report import wording
from nfvbed.report.figures.palette import PALETTE

FONT: Final = "system-ui, 'DejaVu Sans', sans-serif"
WIDTH: Final = 820
"""Of a figure in a file; on the page the script fits it to the reader's window."""
CLASS_COLORS: Final = {"near": PALETTE[0], "far": PALETTE[1], "only": PALETTE[0], "mixed": PALETTE[7]}
FURTHER_CLASSES: Final = PALETTE[2:7]
"""Of `far-2`, `far-3` and so on."""

DASHED: Final = alt.condition("datum.range", alt.value([4, 3]), alt.value([1, 0]))
"""How a line from least to greatest of few samples is drawn: not as an interval that covers at a level."""

Spec = dict[str, Any]


def class_color(name: str) -> str:
    """Give a placement class its colour."""
    number = name.rpartition("-")[2]
    further = FURTHER_CLASSES[(int(number) - 2) % len(FURTHER_CLASSES)] if number.isdecimal() else PALETTE[7]
    return CLASS_COLORS.get(name, further)


def color_scale(names: Iterable[str]) -> alt.Scale:
    """Give every variant its colour, the same in all figures of a report."""
    domain = list(dict.fromkeys(names))
    return alt.Scale(domain=domain, range=[PALETTE[index % len(PALETTE)] for index in range(len(domain))])


def finish(chart: alt.TopLevelMixin, title: str, caption: str, description: str, *, simulated: bool) -> Spec:
    """Return the specification with title, caption and alternative text; no colour of text is fixed.

    Args:
        chart: the figure.
        title: what it shows.
        caption: placement class and scope.
        description: the alternative text.
        simulated: whether any number in it is simulated.
    """
    mark = f"{wording.SIMULATED_MARK}: " if simulated else ""
    params: dict[str, Any] = {
        "text": mark + title,
        "subtitle": _wrapped(caption),
        "anchor": "start",
        "fontSize": 16,
        "subtitleFontSize": 12.5,
        "subtitleLineHeight": 16,
        "offset": 12,
    }
    if simulated:
        params["color"] = "#C62828"
    spec: Spec = chart.to_dict()
    spec["title"] = params
    spec["description"] = mark + description
    spec["background"] = "transparent"
    spec["padding"] = {"left": 2, "right": 6, "top": 6, "bottom": 6}
    spec["config"] = {
        "font": FONT,
        "view": {"stroke": None},
        "axis": {"labelFontSize": 12, "titleFontSize": 12.5, "titleFontWeight": "normal"},
        "header": {"labelFontSize": 13, "labelFontWeight": "bold", "titleFontSize": 13},
        "legend": {"labelFontSize": 12, "titleFontSize": 12, "orient": "bottom", "symbolLimit": 40},
    }
    return spec


def fluid(spec: Spec, margin: int, columns: int = 1) -> Spec:
    """Return the page's script what a panel needs beside its plotting area, so that it can fit the figure in.

    Args:
        spec: the figure.
        margin: width of the labels to both sides of one panel, in pixels.
        columns: panels beside each other where there is room.
    """
    return spec | {"usermeta": {"margin": margin, "columns": columns}}


def label_width(names: Iterable[str]) -> int:
    """Estimate the width of the longest label, in pixels."""
    return 20 + min(220, max((7 * len(name) for name in names), default=0))


def _wrapped(text: str, width: int = 135) -> list[str]:
    """Break a caption into lines; Vega does not."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + len(word) >= width:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return [*lines, line]
