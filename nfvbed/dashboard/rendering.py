"""Pages out of templates: the dashboard's own, and below them those of the report's sections."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Final

from nfvbed.dashboard.people.roles import current
from nfvbed.dashboard.suggested import start_address
from nfvbed.report.page.page import style_sheet, templates

PACKAGE: Final = "nfvbed.dashboard"


def render(template: str, *, export: bool = False, **values: object) -> str:
    """Return a page as HTML.

    Args:
        export: the page is one file that opens from disk: with its style, without links to other pages.

    Raises:
        jinja2.UndefinedError: the template names a value that is not there.
    """
    inlined = {"style": style() if export else "", "style_hash": style_hash() if export else ""}
    shown = {"asker": current(), "export": export, "start_address": start_address, **inlined}
    return templates(PACKAGE).get_template(f"{template}.html.j2").render({**shown, **values})


def compile_templates() -> None:
    """Read all templates, so that the first request of a server need not wait for them."""
    environment = templates(PACKAGE)
    for name in environment.list_templates(extensions=("j2",)):
        environment.get_template(name)


@cache
def style() -> str:
    """Return the report's style sheet with what the dashboard adds."""
    return style_sheet() + files(PACKAGE).joinpath("static", "dashboard.css").read_text(encoding="utf-8")


@cache
def script(name: str) -> str:
    """Return a page's script."""
    return files(PACKAGE).joinpath("static", f"{name}.js").read_text(encoding="utf-8")


@cache
def style_hash() -> str:
    """Return the hash by which an exported page's policy allows its style."""
    return base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
