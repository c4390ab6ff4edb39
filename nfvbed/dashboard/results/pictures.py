"""Figures as pictures, drawn once for each content, form and theme."""

import base64
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlencode

from nfvbed.characters import drawable
from nfvbed.compare.chains import ShareRequirement
from nfvbed.dashboard.problems import NotThereError
from nfvbed.dashboard.results.source import Choice, ComparisonView
from nfvbed.errors import DrawingError
from nfvbed.report import wording
from nfvbed.report.figures.catalogue import to_png, to_svg, to_themed_svg
from nfvbed.report.figures.interactive import interactive
from nfvbed.report.figures.theme import DARK, LIGHT, Drawing, Spec
from nfvbed.report.labels import row_labels
from nfvbed.report.page.sections import Figure, figure_text
from nfvbed.store import content_hash
from nfvbed.units import FrameSize

KEPT: Final = 128
"""FigureRenderer that are kept."""
COMPARED: Final = "/compare/figures"
NOT_DRAWN: Final = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="820" height="40">'
    b'<text x="4" y="26" fill="#808080" font-family="sans-serif">This figure could not be drawn.</text></svg>'
)


class Form(StrEnum):
    """The format of a figure."""

    LIGHT = "light"
    """SVG for a page, without title."""
    DARK = "dark"
    SVG = "svg"
    """With its title and caption, on white."""
    PNG = "png"


@dataclass(frozen=True)
class PageFigure:
    """A figure on a page: its text, and where its pictures are."""

    text: Figure
    light: str
    dark: str
    svg: str
    """To be saved; empty on an exported page."""
    png: str
    csv: str = ""
    """What is drawn, as rows."""
    live: str = ""
    """Its specification, by which a page's script draws it to be touched; empty on an exported page."""
    leads: bool = False
    """Whether marks of it lead somewhere."""


@dataclass(frozen=True)
class LiveRow:
    """A row that a mark of a figure stands for, and where it is taken apart."""

    variant: str
    """As the figure names it."""
    href: str
    point: str = ""
    topology: str = ""
    frame_size: FrameSize | None = None
    place: int | None = None
    """Place of a run among those of a series, from 1."""


@dataclass(frozen=True)
class Figures:
    """The figures of a page, by name, and the rows that their marks stand for."""

    drawn: Mapping[str, Drawing]
    rows: tuple[LiveRow, ...] = ()


@dataclass(frozen=True)
class FigureAddresses:
    """Where the pictures of a page's figures are."""

    path: str
    """Below it each figure by its name."""
    query: str
    """Which says what the page shows."""
    csv: str = ""
    """Rows of all of them together; empty: each has its own."""
    lead: bool = False
    """Whether marks of them lead somewhere."""


class FigureRenderer:
    """Draws figures; may be called from several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, Form], bytes] = OrderedDict()
        self._one_at_a_time = threading.Lock()

    def draw(self, spec: Spec, form: Form) -> bytes:
        """Return the picture of a figure in a form.

        Raises:
            DrawingError: the figure could not be drawn; the next one is tried again.
        """
        key = (content_hash(spec), form)
        with self._one_at_a_time:
            if key not in self._kept:
                self._kept[key] = _drawn(spec, form)
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]

    def on_page(self, drawn: Mapping[str, Drawing], places: FigureAddresses, *, export: bool) -> tuple[PageFigure, ...]:
        """Return the figures of a page: linked, or in it where it is exported."""
        return self.inlined(drawn) if export else linked_at(drawn, places)

    def inlined(self, drawn: Mapping[str, Drawing]) -> tuple[PageFigure, ...]:
        """Return figures with their pictures in the page; in place of one that cannot be drawn it says so."""
        return tuple(
            PageFigure(
                figure_text(name, found), self._data(found, Form.LIGHT), self._data(found, Form.DARK), svg="", png=""
            )
            for name, found in drawn.items()
        )

    def _data(self, drawing: Drawing, form: Form) -> str:
        try:
            picture = self.draw(drawing.spec, form)
        except DrawingError:
            picture = NOT_DRAWN
        return f"data:image/svg+xml;base64,{base64.b64encode(picture).decode()}"


def places_of(choice: Choice) -> FigureAddresses:
    """Return where the figures of a comparison are."""
    return FigureAddresses(COMPARED, query_of(choice), lead=True)


def figures_of(found: ComparisonView) -> Figures:
    """Return the figures of a comparison; marks lead to what takes their row apart."""
    comparison = found.comparison
    rows = tuple(
        LiveRow(
            label,
            why_address(row.run, row.cell),
            point=wording.row_point(row),
            topology=row.topology,
            frame_size=row.frame_size,
        )
        for label, row in zip(row_labels(comparison), comparison.rows, strict=True)
        if row.mrr is not None
    )
    return Figures(found.drawn, rows)


def live_figure(found: Figures, name: str) -> dict[str, Any]:
    """Return what a page's script draws a figure with: `spec`, and the `rows` that its marks lead to.

    Raises:
        NotThereError: there is no such figure.
    """
    return {"spec": interactive(drawable(spec_of(found.drawn, name))), "rows": [asdict(row) for row in found.rows]}


def why_address(run: str, cell: str) -> str:
    """Return the address of the page that takes a row apart."""
    return f"/runs/{run}/why?{urlencode({'cell': cell})}"


def linked_at(drawn: Mapping[str, Drawing], places: FigureAddresses) -> tuple[PageFigure, ...]:
    """Return figures with the addresses of their pictures."""
    query = f"&{places.query}" if places.query else ""
    whole = f"?{places.query}" if places.query else ""
    return tuple(
        PageFigure(
            figure_text(name, drawing),
            light=f"{places.path}/{name}.svg?theme=light{query}",
            dark=f"{places.path}/{name}.svg?theme=dark{query}",
            svg=f"{places.path}/{name}.svg{whole}",
            png=f"{places.path}/{name}.png{whole}",
            csv=places.csv or f"{places.path}/{name}.csv{whole}",
            live=f"{places.path}/{name}.json{whole}",
            leads=places.lead,
        )
        for name, drawing in drawn.items()
    )


def query_of(choice: Choice) -> str:
    """Return the query that asks for the same comparison again."""
    pairs = [("runs", run) for run in choice.runs] + [("variants", name) for name in choice.variants]
    hold = (
        [("share", f"{choice.hold.share:g}"), ("of", choice.hold.of.value)] if choice.hold != ShareRequirement() else []
    )
    return urlencode([*pairs, *([("baseline", choice.baseline)] if choice.baseline else []), *hold])


def spec_of(drawn: Mapping[str, Drawing], name: str) -> Spec:
    """Return a figure's specification.

    Raises:
        NotThereError: there is no such figure.
    """
    if name not in drawn:
        raise NotThereError(
            f"there is no figure {name!r} of this",
            observed=f"figures: {', '.join(drawn) or 'none'}",
            fix="choose one of them, or other settings",
        )
    return drawn[name].spec


def _drawn(spec: Spec, form: Form) -> bytes:
    if form is Form.PNG:
        return to_png(spec)
    if form is Form.SVG:
        return to_svg(spec)
    return to_themed_svg(spec, DARK if form is Form.DARK else LIGHT)
