"""What a listing command prints: text for people, its whole JSON document, or rows and columns for other programs.

The options are those of OpenStack's client (cliff's `display.py`, `lister.py`): `-f`, and `-c` once for each column.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from typing import Any, TypeVar

import click
import yaml
from rich.table import Table
from rich.text import Text

from nfvbed.characters import guarded
from nfvbed.cli.console import Console
from nfvbed.errors import UsageError
from nfvbed.spec.validate import suggestion

Function = TypeVar("Function", bound=Callable[..., Any])
Row = Mapping[str, Any]
"""Values by column, as JSON has them; one that is missing is None."""
_MOST_NAMED = 12
"""Columns that the help names; of more it says where they are."""


class Format(StrEnum):
    """Names of `--format`."""

    CSV = "csv"
    JSON = "json"
    TABLE = "table"
    VALUE = "value"
    YAML = "yaml"


@dataclass(frozen=True)
class Output:
    """How a listing is asked for.

    Args:
        form: None: not named, which is text for people.
        columns: those that are shown, in the listing's own order, as OpenStack's client has them.
        narrowed: whether columns were chosen.
        whole: whether `--json` was given: the document, not rows.
    """

    form: Format | None
    columns: tuple[str, ...]
    narrowed: bool = False
    whole: bool = False

    @property
    def asked(self) -> str:
        """The option that asks for another form than text; empty: none."""
        if self.whole:
            return "--json"
        return f"-f {self.form}" if self.form else "-c" if self.narrowed else ""

    def show(
        self, rows: Callable[[], Iterable[Row]], document: Callable[[], object], text: Callable[[], object]
    ) -> None:
        """Print a listing in the form that is asked for; what is not asked for is not made.

        Args:
            document: returns what `--json` prints, of any shape.
            text: prints it for people.
        """
        if self.whole:
            click.echo(json.dumps(document(), indent=2))
        elif self.form in (None, Format.TABLE) and not self.narrowed:
            text()
        else:
            _WRITERS[self.form or Format.TABLE](
                self.columns, [[row.get(name) for name in self.columns] for row in rows()]
            )


class Columns(click.Choice[str]):
    """Names of a listing's columns; one that it has not is answered with the nearest."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return what is wrong with a name."""
        return f"there is no column {value!r}; {suggestion(str(value), self.choices)}"


def whole(as_json: bool) -> Output:
    """Return how a command that is no listing prints one: as text, or the whole document."""
    return Output(None, (), whole=as_json)


def listing_options(*columns: str) -> Callable[[Function], Callable[..., Any]]:
    """Add `--json`, `-f` and `-c` to a command that lists rows; it gets an `Output` as its parameter `output`.

    Args:
        columns: columns that `-c` takes, in their order.
    """
    named = ", ".join(columns) if len(columns) <= _MOST_NAMED else "the first line of -f csv has their names"
    options = (
        click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text."),
        click.option(
            "-f",
            "--format",
            "form",
            type=click.Choice([entry.value for entry in Format]),
            help="Print rows for other programs, as OpenStack's client does. Default: text.",
        ),
        click.option(
            "-c",
            "--column",
            "named_columns",
            type=Columns(columns, case_sensitive=False),
            multiple=True,
            metavar="COLUMN",
            help=f"Only this column; repeatable ({named}).",
        ),
    )

    def add(function: Function) -> Callable[..., Any]:
        @wraps(function)
        def listing(*args: Any, as_json: bool, form: str | None, named_columns: tuple[str, ...], **given: Any) -> Any:
            return function(*args, output=_output(columns, as_json, form, named_columns), **given)

        found: Callable[..., Any] = listing
        for option in reversed(options):
            found = option(found)
        return found

    return add


def _output(columns: Sequence[str], as_json: bool, form: str | None, named: Sequence[str]) -> Output:
    """Return what the options say together.

    Raises:
        UsageError: the whole document and rows of it are both asked for.
    """
    if as_json and (form or named):
        given = "--format" if form else "--column"
        raise UsageError(f"--json and {given} exclude each other", fix="-f json prints rows, --json the whole document")
    shown = tuple(name for name in columns if not named or name in named)
    return Output(Format(form) if form else None, shown, narrowed=bool(named), whole=as_json)


def _as_text(value: Any) -> str:
    """Return a value on one line; what a list holds is joined by commas."""
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return " ".join(text.splitlines())


def _write_values(_: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    for row in rows:
        click.echo(" ".join(map(_as_text, row)))


def _write_csv(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(guarded(_as_text(value) if isinstance(value, list | tuple) else value) for value in row)
    click.echo(text.getvalue(), nl=False)


def _write_json(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    click.echo(json.dumps(_by_column(columns, rows), indent=2))


def _write_yaml(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    click.echo(yaml.safe_dump(_by_column(columns, rows), sort_keys=False, allow_unicode=True), nl=False)


def _by_column(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Return rows as JSON and YAML have them: with lists, and with null where a value is missing."""
    lists = [[list(value) if isinstance(value, tuple) else value for value in row] for row in rows]
    return [dict(zip(columns, row, strict=True)) for row in lists]


def _write_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    table = Table()
    for name in columns:
        table.add_column(name.replace("_", " "), overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if value is None else _as_text(value)) for value in row))
    Console().print(table)


_WRITERS = {
    Format.CSV: _write_csv,
    Format.JSON: _write_json,
    Format.TABLE: _write_table,
    Format.VALUE: _write_values,
    Format.YAML: _write_yaml,
}
