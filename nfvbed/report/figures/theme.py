"""What all figures share: colours that the colour-blind can distinguish, sizes, titles, the mark of a simulation."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import altair as alt
from altair.utils import schemapi

from nfvbed.records import Record
from nfvbed.report import wording
from nfvbed.report.figures.palette import PALETTE, colors_of

FONT: Final = "system-ui, 'DejaVu Sans', sans-serif"
WIDTH: Final = 820
"""Width of a figure in a file; on the page the script fits it to the reader's window."""
CLASS_COLORS: Final = {"near": PALETTE[0], "far": PALETTE[1], "single": PALETTE[0], "mixed": PALETTE[7]}
FURTHER_CLASSES: Final = PALETTE[2:7]
"""Colours of `far-2`, `far-3` and so on."""

DASHED: Final = alt.condition("datum.range", alt.value([4, 3]), alt.value([1, 0]))
"""How a line from least to greatest of few samples is drawn: not as an interval that covers at a level."""

Spec = dict[str, Any]


def class_color(name: str) -> str:
    """Return the colour of a placement class."""
    number = name.rpartition("-")[2]
    further = FURTHER_CLASSES[(int(number) - 2) % len(FURTHER_CLASSES)] if number.isdecimal() else PALETTE[7]
    return CLASS_COLORS.get(name, further)


def color_scale(names: Iterable[str]) -> alt.Scale:
    """Return a scale that gives every variant its colour, the same in all figures of a report."""
    colors = colors_of(names)
    return alt.Scale(domain=list(colors), range=list(colors.values()))


def inline(records: Iterable[dict[str, Any]]) -> alt.InlineData:
    """Return the data of a figure; as a tuple, since each of Altair's methods copies a list item by item."""
    return alt.InlineData(values=tuple(records))


@dataclass(frozen=True)
class Drawing:
    """A figure: what is written beside it, and its chart, which takes long to make and is made when it is drawn."""

    title: str
    """What it shows."""
    caption: str
    """Placement class and scope."""
    description: str
    """The alternative text."""
    chart: Callable[[], alt.TopLevelMixin]
    simulated: bool
    """Whether any number in it is simulated."""
    margin: int
    """Width of the labels to both sides of one panel, in pixels: so the page's script can fit the figure in."""
    columns: int = 1
    """Panels beside each other where there is room."""

    @property
    def mark(self) -> str:
        """The mark that comes before the texts of a figure."""
        return f"{wording.SIMULATED_MARK}: " if self.simulated else ""

    @cached_property
    def spec(self) -> Spec:
        """The specification, not checked against Vega-Lite's schema: that takes most of the time."""
        return self.make(checked=False)

    def make(self, *, checked: bool) -> Spec:
        """Return the specification with title, caption and alternative text; no colour of text is fixed.

        Args:
            checked: whether Altair checks it against Vega-Lite's schema. That holds or fails for the code of a figure:
                a page that is waited for need not do it again.
        """
        with schemapi.debug_mode(checked):
            spec: Spec = self.chart().to_dict(validate=checked)
        title: dict[str, Any] = {
            "text": self.mark + self.title,
            "subtitle": _wrapped(self.caption),
            "anchor": "start",
            "fontSize": 16,
            "subtitleFontSize": 12.5,
            "subtitleLineHeight": 16,
            "offset": 12,
        }
        return spec | {
            "title": title | ({"color": "#C62828"} if self.simulated else {}),
            "description": self.mark + self.description,
            "background": "transparent",
            "padding": {"left": 2, "right": 6, "top": 6, "bottom": 6},
            "config": {
                "font": FONT,
                "view": {"stroke": None},
                "axis": {"labelFontSize": 12, "titleFontSize": 12.5, "titleFontWeight": "normal"},
                "header": {"labelFontSize": 13, "labelFontWeight": "bold", "titleFontSize": 13},
                "legend": {"labelFontSize": 12, "titleFontSize": 12, "orient": "bottom", "symbolLimit": 40},
            },
            "usermeta": {"margin": self.margin, "columns": self.columns},
        }


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
