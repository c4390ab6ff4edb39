"""A report as files in a folder."""

from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import DrawingError
from nfvbed.report.context import ReportContext
from nfvbed.report.csv.export import to_csv, to_json
from nfvbed.report.csv.tests import tests_to_csv
from nfvbed.report.drawing import DRAWING
from nfvbed.report.figures.catalogue import figures, to_png, to_svg
from nfvbed.report.page.page import render_page
from nfvbed.spec.below import below
from nfvbed.wholefile import not_written, write_whole


@dataclass(frozen=True)
class WrittenReport:
    """The files of a report."""

    files: tuple[Path, ...]
    """The page first."""
    not_drawn: dict[str, str]
    """Pictures that could not be drawn, by their names below the folder, and why."""


def write_report(context: ReportContext, folder: Path) -> WrittenReport:
    """Write page, tables and figures, each whole or not at all; the page is listed first, and written last.

    A figure that cannot be drawn is left out, and one of an earlier report removed.

    Raises:
        StoreError: the folder cannot be written.
    """
    try:
        (folder / "figures").mkdir(parents=True, exist_ok=True)  # before the work, so that a bad folder costs nothing
        DRAWING.begin()
        contents = _render(context)
        pictures, not_drawn = _draw(context)
        made = contents | pictures
        for name in reversed(made):  # the page names the others
            write_whole(below(folder, name, nested=True), made[name])
        for name in not_drawn:
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise not_written("the report", error, "name a folder that can be written with --output") from error
    return WrittenReport(tuple(folder / name for name in made), not_drawn)


def _render(context: ReportContext) -> dict[str, bytes]:
    """Return the content of every file but pictures by its name below the folder."""
    contents = {
        "index.html": render_page(context).encode(),
        "comparison.json": to_json(context.comparison).encode(),
        "comparison.csv": to_csv(context.comparison).encode(),
    }
    if context.comparison.tests:
        contents["tests.csv"] = tests_to_csv(context.comparison).encode()
    return contents


def _draw(context: ReportContext) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return every picture by its name below the folder; and those that could not be drawn, with the reason."""
    drawn, not_drawn = {}, {}
    for name, spec in figures(context.comparison).items():
        for ending, draw in (("svg", to_svg), ("png", to_png)):
            file = f"figures/{name}.{ending}"
            try:
                drawn[file] = draw(spec)
            except DrawingError as failure:
                not_drawn[file] = failure.observed
    return drawn, not_drawn
