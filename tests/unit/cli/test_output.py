"""What is printed controls no terminal, and the styles of nfvbed itself pass."""

import io
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from nfvbed.cli import main as command_line
from nfvbed.cli.console import Console
from nfvbed.cli.output import EscapedStream, guard_output
from nfvbed.cloud.devcloud import lines
from nfvbed.cloud.devcloud.stages import Stage
from nfvbed.errors import DeployError

HOSTILE = "ovs\x1b]0;owned\x07\x1b[2J\u202e\x9b[link=https://example.org]x[/link] :smile: [/]"
SGR = re.compile("\x1b\\[[0-9;]*m")
LOOSE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Callable[[], str]]:
    """Return what guards standard output and error; that returns what reads what was printed since then."""

    def guard() -> Callable[[], str]:
        file = (tmp_path / "printed").open("wb", buffering=0)
        for name in ("stdout", "stderr"):
            own = io.TextIOWrapper(io.FileIO(file.fileno(), "w", closefd=False), encoding="utf-8", write_through=True)
            monkeypatch.setattr(sys, name, own)
            monkeypatch.setattr(sys, f"__{name}__", own)
        guard_output()

        def read() -> str:
            sys.stdout.flush()
            sys.stderr.flush()
            return Path(file.name).read_bytes().decode()

        return read

    return guard


def test_streams_show_escapes(guarded):
    printed = guarded()
    assert isinstance(sys.stdout, EscapedStream)
    print(HOSTILE)
    print(HOSTILE, file=sys.stderr)
    click.echo(f"two\nlines {HOSTILE}", err=True)
    assert not LOOSE.search(printed().replace("\n", ""))
    assert printed().count(r"\u202e\u009b") == 3


def test_tables_show_escapes_and_keep_their_colours(guarded):
    printed = guarded()
    table = Table(HOSTILE, title=HOSTILE)
    table.add_row(HOSTILE, style="red")
    table.add_row(Text(HOSTILE, style="green"))
    console = Console(force_terminal=True, width=200, color_system="standard")
    console.print(table)
    console.print(HOSTILE, style="yellow")
    said = printed()
    assert "\x1b[31m" in said, "a row's own colour"
    assert not LOOSE.search(SGR.sub("", said).replace("\n", ""))
    assert "[link=https://example.org]x[/link] :smile: [/]" in said, "no markup is read"


def test_columns_are_as_wide_as_what_they_show(guarded):
    printed = guarded()
    table = Table("name")
    table.add_row("a\x1bb")
    table.add_row("plain")
    Console(width=60).print(table)
    assert len({len(line) for line in printed().splitlines() if line}) == 1


def test_progress_shows_escapes(guarded):
    printed = guarded()
    console = Console(force_terminal=True, stderr=True, width=100)
    with Progress("{task.description}", console=console, auto_refresh=False) as progress:
        progress.add_task(HOSTILE.replace("[", "("), total=1)
        progress.refresh()
    moves = re.compile("\x1b\\[[0-9;?]*[A-Za-z]|\r")
    assert not LOOSE.search(moves.sub("", printed()).replace("\n", ""))


def test_errors_show_escapes(guarded, monkeypatch: pytest.MonkeyPatch):
    printed = guarded()

    def fails(*arguments: object, **keys: object) -> None:
        raise DeployError(f"{HOSTILE} failed", where=HOSTILE, observed=f"{HOSTILE}\rx", fix=HOSTILE)

    monkeypatch.setattr(command_line.group, "main", fails)
    assert command_line.main(["doctor"]) == 20
    assert r"\u000d" in printed()
    assert not LOOSE.search(printed().replace("\n", ""))


def test_json_says_the_same(guarded):
    printed = guarded()
    value = {HOSTILE: [HOSTILE, "\x7f"]}
    click.echo(json.dumps(value, ensure_ascii=False))
    assert json.loads(printed()) == value


def test_a_line_that_is_written_again_begins_at_its_beginning(guarded):
    printed = guarded()
    said = lines.StageLines()
    said._line = "[ 1/2] root \x1b ... "
    said._write_again("3 s")
    assert printed() == "\r[ 1/2] root \\u001b ... 3 s"


def test_a_long_stage_is_no_silence_where_there_is_no_terminal(capsys):
    said, stage = lines.StageLines(silence_s=0.01), Stage("root", "unpacks packages", str)
    said.begin(1, 2, stage)
    shown = capsys.readouterr().err
    deadline = time.monotonic() + 20
    while shown.count("0 s ... ") < 2 and time.monotonic() < deadline:
        shown += capsys.readouterr().err
    said.end(stage, 305.2, "548 packages")
    shown += capsys.readouterr().err
    assert shown.startswith("[ 1/2] root            unpacks packages ... 0 s ... 0 s ... ")
    assert shown.endswith("305 s (548 packages)\n")


def test_half_a_character_ends_nothing(guarded):
    printed = guarded()
    print("a\ud800b")
    assert printed() == "a\\ud800b\n"
