"""One self-contained page: the answer first, then the table, the figures and what they rest on.

Nothing is loaded from anywhere: styles, scripts and data are inlined, and a content security policy forbids
the rest. Templates escape all text; what they do not is named in `base.html.j2`.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream

from nfvbed.characters import drawable, shown
from nfvbed.report.context import ReportContext
from nfvbed.report.drawing import DRAWING
from nfvbed.report.figures.catalogue import drawings
from nfvbed.report.page.sections import page_values

PACKAGE = "nfvbed.report.page"
LIBRARY = "window.vegaEmbed = vegaEmbed;"
"""What the page's script needs of the bundled libraries."""


class UnindentExtension(Extension):
    """Keeps line ends and indentation of templates out of the page, where they would be gaps between words and numbers.

    Between words a line end is a space; beside a tag, an expression or a statement it is nothing.
    """

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """Yield the tokens of a template with its text in one line."""
        for token in stream:
            yield Token(token.lineno, token.type, _joined(token.value)) if token.type == "data" else token


def _joined(text: str) -> str:
    text = re.sub(r"(?:\A|(?<=>))\s*\n\s*|\s*\n\s*(?=<|\Z)", "", text)
    return re.sub(r"\s*\n\s*", " ", text)


@cache
def templates(*packages: str) -> Environment:
    """Return the page's templates, after those of other packages that show the same sections."""
    loader = ChoiceLoader([PackageLoader(package) for package in (*packages, PACKAGE)])
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, extensions=[UnindentExtension], finalize=_written
    )


def _written(value: object) -> object:
    """Return a value as a page has it: text that would turn the rest around, or control a terminal, as escapes."""
    return shown(value) if type(value) is str else value  # markup is not text


def render_page(context: ReportContext) -> str:
    """Return the page as HTML."""
    drawn = drawings(context.comparison)
    return render(
        "page",
        page=page_values(context, drawn),
        style=style_sheet(),
        figures_data=embedded_json(drawable({name: drawing.make(checked=True) for name, drawing in drawn.items()})),
        library=library().replace("</script", "<\\/script"),
        script=chart_script() + _static("page.js"),
    )


def render(template: str, **values: object) -> str:
    """Return a template, or a section, filled with its `values`.

    Raises:
        jinja2.UndefinedError: the template names a value that is not there.
    """
    return templates().get_template(f"{template}.html.j2").render(values)


def embedded_json(value: object) -> str:
    """Return JSON that can be in a script element: no text in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def library() -> str:
    """Bundle the libraries of the figures; that takes seconds, and is the same for every page."""
    return DRAWING.bundle(LIBRARY)


def chart_script() -> str:
    """Return the script that fits a figure to a page and its colours."""
    return _static("chart.js")


def style_sheet() -> str:
    """Return the page's style sheet."""
    return _static("page.css")


def _static(name: str) -> str:
    return files(PACKAGE).joinpath("static", name).read_text(encoding="utf-8")
