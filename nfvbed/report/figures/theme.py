"""What all figures share: colours that the colour-blind can distinguish, sizes, titles, the mark of a simulation."""

import json
from collections.abc import Iterable
from typing import Any, Final

import altair as alt
from altair.utils import schemapi

from nfvbed.records import Record
from nfvbed.report import wording
from nfvbed.report.figures.palette import PALETTE, colors_of

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
    colors = colors_of(names)
    return alt.Scale(domain=list(colors), range=list(colors.values()))


def inline(records: Iterable[dict[str, Any]]) -> alt.InlineData:
    """Return the data of a figure; as a tuple, since each of Altair's methods copies a list item by item."""
    return alt.InlineData(values=tuple(records))


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
    spec: Spec = chart.to_dict(validate=schemapi.DEBUG_MODE)
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


class Theme(Record):
    """Colours of a page, as its style sheet has them."""

    fg: str
    soft: str
    line: str
    hatch: str


LIGHT: Final = Theme(fg="#1c1e21", soft="#565b63", line="#d9dce0", hatch="#ffffffb0")
DARK: Final = Theme(fg="#e8eaed", soft="#a9b0b8", line="#3a3f46", hatch="#1d2024b0")


def themed(spec: Spec, theme: Theme) -> Spec:
    """Return a figure without its title and in the colours of a page; the report's page does the same in its script."""
    copy: Spec = json.loads(json.dumps(spec).replace(LIGHT.hatch, theme.hatch))
    copy.pop("title", None)
    words = {"labelColor": theme.fg, "titleColor": theme.soft}
    lines = {"gridColor": theme.line, "domainColor": theme.soft, "tickColor": theme.soft}
    config = copy["config"]
    config["axis"] = {**config["axis"], **words, **lines}
    config["header"] = {**config["header"], **words}
    config["legend"] = {**config["legend"], **words}
    config["title"] = {**config.get("title", {}), "color": theme.fg}
    config["text"] = {"color": theme.fg}
    config["rule"] = {"color": theme.fg}
    return copy


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
