"""`-` in place of a file is standard output, or standard input; no verb makes a file of that name."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from nfvbed.cli.main import group, main
from nfvbed.records.selection import EVERY
from nfvbed.store import Store
from tests.unit.store.store_records import RUN_ID, cell_record, run_record, trial_record


def options_that_write(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    for option in command.params:
        words = {*option.opts, option.metavar or ""}
        if isinstance(option, click.Option) and ("--output" in words or "--store" in words):
            yield name, option.opts[0]
    if isinstance(command, click.Group):
        for below in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), below)
            assert found is not None
            yield from options_that_write(found, f"{name} {below}".strip())


OUTPUTS = {
    "export": ["export", RUN_ID, "--output", "-"],
    "package": ["package", "vloop", "--form", "legacy", "--output", "-"],
}
FOLDERS = {
    "report": ["report", RUN_ID, "--output", "-"],
    "kolla render": ["kolla", "render", "ovs-dpdk", "--site", "rack-example", "--output", "-"],
    "bundle": ["bundle", RUN_ID, "--output", "-"],
}
"""They write more than one file, or lines beside it."""


@pytest.fixture(name="here", autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NFVBED_STORE", str(tmp_path / "x.sqlite"))
    # The image need not be built for this.
    monkeypatch.setattr("nfvbed.cli.package.checksums", lambda path: {"sha256": "a" * 64, "sha512": "b" * 128})
    with Store.open(tmp_path / "x.sqlite") as store:
        digests = {name: store.put_blob(name, {name: 1}) for name in ("plan", "host", "variant", "rig")}
        store.start_run(run_record(plan_hash=digests["plan"], host_hash=digests["host"]))
        store.add_cell(cell_record(config_hash=digests["variant"], rig_hash=digests["rig"]))
        store.add_trial(trial_record())
    return tmp_path


def test_every_option_that_writes_is_listed():
    found = set(options_that_write(group, ""))
    assert {verb for verb, option in found if option == "--output"} == OUTPUTS.keys() | FOLDERS.keys()


@pytest.mark.parametrize("verb", OUTPUTS)
def test_a_file_goes_to_standard_output(verb: str, here: Path, capfdbinary: pytest.CaptureFixture[bytes]):
    assert main(OUTPUTS[verb]) == 0
    assert len(capfdbinary.readouterr().out) > 100
    assert [path.name for path in here.iterdir() if not path.name.startswith("x.sqlite")] == [], "and there alone"


@pytest.mark.parametrize("verb", FOLDERS)
def test_a_folder_is_no_stream(verb: str, here: Path, capsys: pytest.CaptureFixture[str]):
    assert main(FOLDERS[verb]) == 2
    assert "cannot be written to standard output" in capsys.readouterr().err
    assert not (here / "-").exists()


@pytest.mark.parametrize("argv", [["runs"], ["run", "simulated"], ["import", "-"]])
def test_a_store_is_no_stream(argv: list[str], here: Path, capsys: pytest.CaptureFixture[str], monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
    assert main([*argv, "--store", "-"]) == 10
    assert not (here / "-").exists()


def test_a_run_goes_from_one_store_into_another_through_a_pipe(here: Path, capsysbinary, monkeypatch):
    assert main(["export", RUN_ID, "--output", "-"]) == 0
    written = capsysbinary.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(written)))
    assert main(["import", "-", "--store", str(here / "other.sqlite")]) == 0
    with Store.open(here / "other.sqlite", read_only=True) as store:
        assert [run.id for run in store.runs(EVERY)] == [RUN_ID]
        assert store.trials(RUN_ID) == [trial_record()]
