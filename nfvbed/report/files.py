"""A report as files in a folder."""

from pathlib import Path

from nfvbed.report.context import ReportContext
from nfvbed.report.csv.export import to_csv, to_json
from nfvbed.report.csv.tests import tests_to_csv
from nfvbed.report.figures.catalogue import figures, to_png, to_svg
from nfvbed.report.page.page import render_page
from nfvbed.wholefile import not_written, write_whole


def write_report(context: ReportContext, folder: Path) -> list[Path]:
    """Write page, tables and figures, each whole or not at all; the page first in the list, and written last.

    Raises:
        StoreError: the folder cannot be written.
    """
    try:
        (folder / "figures").mkdir(parents=True, exist_ok=True)  # before the work, so that a bad folder costs nothing
        contents = _render(context)
        for name in reversed(contents):  # the page names the others
            write_whole(folder / name, contents[name])
    except OSError as error:
        raise not_written("the report", error, "name a folder that can be written with --output") from error
    return [folder / name for name in contents]


def _render(context: ReportContext) -> dict[str, bytes]:
    """Return the content of every file by its name below the folder."""
    contents = {
        "index.html": render_page(context).encode(),
        "comparison.json": to_json(context.comparison).encode(),
        "comparison.csv": to_csv(context.comparison).encode(),
    }
    if context.comparison.tests:
        contents["tests.csv"] = tests_to_csv(context.comparison).encode()
    for name, spec in figures(context.comparison).items():
        contents[f"figures/{name}.svg"] = to_svg(spec).encode()
        contents[f"figures/{name}.png"] = to_png(spec)
    return contents
