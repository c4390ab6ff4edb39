"""A report as files in a folder."""

from pathlib import Path

from nfvbed.errors import StoreError
from nfvbed.report.context import ReportContext
from nfvbed.report.csv.export import to_csv, to_json
from nfvbed.report.csv.tests import tests_to_csv
from nfvbed.report.figures.catalogue import figures, to_png, to_svg
from nfvbed.report.page.page import render_page


def write_report(context: ReportContext, folder: Path) -> list[Path]:
    """Write page, tables and figures; the page first in the list.

    Raises:
        StoreError: the folder cannot be written.
    """
    try:
        (folder / "figures").mkdir(parents=True, exist_ok=True)  # before the work, so that a bad folder costs nothing
        contents = _render(context)
        for name, content in contents.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise StoreError(
            "the report could not be written",
            where=str(error.filename or folder),
            observed=error.strerror or str(error),
            fix="name a folder that can be written with --output",
        ) from error
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
