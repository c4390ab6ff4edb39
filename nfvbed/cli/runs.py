"""`nfvbed runs`: what is in the store, and what people say of it."""

import os
import pwd
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table
from rich.text import Text

from nfvbed.cli.completion import RUN
from nfvbed.cli.console import Console
from nfvbed.cli.listing import Output, listing_options
from nfvbed.cli.settings import open_store, root_option, store_option
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UsageError
from nfvbed.records import RunRecord
from nfvbed.records.annotations import Mark, Marks, hidden_text
from nfvbed.records.selection import EVERY, MEASURED, OmittedRuns

if TYPE_CHECKING:
    from nfvbed.store import Store

CRASHED = "crashed"
PIPED_WIDTH = 140
"""Columns where there is no terminal to ask."""


@click.command(name="runs")
@click.argument("names", nargs=-1, type=RUN, metavar="[RUN]...")
@click.option("--all", "everything", is_flag=True, help="List simulated and hidden runs too.")
@click.option("--label", metavar="NAME", help="Name RUN: every verb then finds it by this label.")
@click.option("--no-label", is_flag=True, help="Remove its label.")
@click.option("--note", metavar="TEXT", help="Write a note on each RUN; the newest one holds.")
@click.option("--no-note", is_flag=True, help="Remove its note.")
@click.option("--hide", is_flag=True, help="Hide each RUN: lists and answers leave it out, unless it is named.")
@click.option("--show", is_flag=True, help="Show each hidden RUN again.")
@listing_options(
    "id", "label", "started_at", "ended_at", "state", "simulated", "hidden", "site", "experiment", "reason", "note"
)
@root_option
@store_option
def command(
    names: tuple[str, ...], everything: bool, output: Output, root: Path | None, store: str | None, **given: Any
) -> None:
    """List the measured runs, newest first, with how they ended; with RUN only those, hidden and simulated too.

    RUN is an id, its first or last digits, a label, or `latest`. Nothing that is said of a run changes or deletes a
    row: the newest word holds, and those before it stay.
    """
    words = _words(given)
    with open_store(open_project(root), store) as opened:
        named = [opened.run(name, MEASURED) for name in dict.fromkeys(names)]
        _require_runs(words, named)
        for run in named:
            if words:
                opened.say(run.id, words, _user())
        runs = named or opened.runs(EVERY if everything else MEASURED)
        listed = list(_listed(opened, runs, with_history=bool(named)))
        others = OmittedRuns() if named or everything else opened.left_out()

    def as_text() -> None:
        _print(listed)
        if others:
            click.echo(f"not listed: {others.words} (nfvbed runs --all)")

    documents = [entry.document for entry in listed]
    output.show(lambda: documents, lambda: documents, as_text)


def _words(given: dict[str, Any]) -> dict[Mark, str]:
    """Return the text that is given for each mark; an empty text takes a mark back.

    Raises:
        UsageError: something and its opposite, or an empty text.
    """
    for mark in ("label", "note"):
        if given[mark] is not None and given[f"no_{mark}"]:
            raise UsageError(f"--{mark} and --no-{mark} exclude each other", fix="give one of them")
        if given[mark] is not None and not given[mark].strip():
            raise UsageError(f"--{mark} is empty", fix=f"give a text, or --no-{mark}")
    if given["hide"] and given["show"]:
        raise UsageError("--hide and --show exclude each other", fix="give one of them")
    found = {Mark(mark): given[mark] or "" for mark in ("label", "note") if given[mark] or given[f"no_{mark}"]}
    if given["hide"] or given["show"]:
        found[Mark.HIDDEN] = hidden_text(given["hide"])
    return found


def _require_runs(words: dict[Mark, str], named: Sequence[RunRecord]) -> None:
    """Refuse to annotate no run, or to give several runs one label.

    Raises:
        UsageError: no run is named, or several are to have one label.
    """
    if words and not named:
        raise UsageError(
            f"--{next(iter(words)).value.replace('hidden', 'hide')} is about a run",
            observed="none is named",
            fix="name it: nfvbed runs RUN ...",
        )
    if words.get(Mark.LABEL) and len({run.id for run in named}) > 1:
        raise UsageError("a label is of one run", observed=f"{len(named)} are named", fix="name one")


@dataclass(frozen=True)
class _RunLine:
    """A run as it is listed."""

    run: RunRecord
    state: str
    marks: Marks
    simulated: bool
    said: tuple[dict[str, Any], ...] | None
    """All that was said of it; None: not asked for."""

    @property
    def document(self) -> dict[str, Any]:
        """The run with its state and annotations, as `--json` prints it."""
        found = {**self.run.model_dump(mode="json"), "state": self.state, "simulated": self.simulated}
        found |= self.marks.model_dump(mode="json")
        return found if self.said is None else {**found, "said": list(self.said)}

    @property
    def words(self) -> str:
        """Its state, and whether it is simulated or hidden."""
        marks = ("simulated",) * self.simulated + ("hidden",) * self.marks.hidden
        return ", ".join((self.state, *marks))


def _listed(store: "Store", runs: Iterable[RunRecord], *, with_history: bool) -> Iterable[_RunLine]:
    marks, simulated = store.marks(), store.simulated_runs()
    for run in runs:
        said = tuple(entry.model_dump(mode="json") for entry in store.annotations(run.id)) if with_history else None
        yield _RunLine(run, _state(run, store), marks.get(run.id, Marks()), run.id in simulated, said)


def _print(listed: Sequence[_RunLine]) -> None:
    labelled = any(entry.marks.label for entry in listed)
    noted = any(entry.marks.note for entry in listed)
    table = Table()
    for heading in ("run", *(("label",) * labelled), "started (UTC)", "state"):
        table.add_column(heading, no_wrap=True)
    for heading in ("experiment", "reason", *(("note",) * noted)):
        table.add_column(heading, overflow="fold")
    for entry in listed:
        run, label, note = entry.run, (entry.marks.label,) * labelled, (entry.marks.note,) * noted
        started = run.started_at[:16].replace("T", " ")
        texts = (run.id, *label, started, entry.words, run.experiment, run.reason.partition("\n")[0], *note)
        table.add_row(*map(Text, texts))
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPED_WIDTH)
    console.print(table)
    if any(entry.state == CRASHED for entry in listed):
        console.print("a crashed run goes on with: nfvbed run --resume RUN", highlight=False)


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"user {os.geteuid()}"


def _state(run: RunRecord, store: "Store") -> str:
    """Return how a run ended; one without an end runs as long as a process writes it."""
    if run.status is not None:
        return run.status.value
    return "running" if store.writer(run.id) else CRASHED
