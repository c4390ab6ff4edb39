"""What the verbs pass on to a guest node, and what they do with what comes out of it; the node is a double."""

import click
import pytest
from click.testing import CliRunner

from nfvbed.cli import guest_node
from nfvbed.cli.main import main
from nfvbed.errors import DeployError
from nfvbed.sites.guest_node import site as node_site
from nfvbed.sites.ownmachine import ProgramResult


@click.command()
@click.argument("name")
@click.option("--variant", multiple=True)
@click.option("--rounds", type=int, default=3)
@click.option("--quick", is_flag=True)
@click.option("--offloads/--no-offloads", default=True)
@click.option("--store")
@click.option("--json", "as_json", is_flag=True)
def _command(**_: object) -> None:
    """A command with options of every kind."""
    click.echo(" ".join(guest_node.passed_on(click.get_current_context(), ("as_json",))))


def test_what_was_given_is_passed_on_and_nothing_else():
    words = ["demo", "--variant", "a", "--variant", "b", "--quick", "--no-offloads", "--store", "here", "--json"]
    reported = CliRunner().invoke(_command, words).output.split()
    assert reported == ["demo", "--variant", "a", "--variant", "b", "--quick", "--no-offloads"]
    assert CliRunner().invoke(_command, ["demo"]).output.split() == ["demo"]


class Node:
    """A guest node; a double."""

    kernel = "6.12"
    boot_ns = 8_000_000_000

    def __init__(self, status=0, results=None):
        self.status = status
        self.results = results
        self.programs = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def execute(self, program, output=None, timeout_s=None):
        self.programs.append(program)
        if self.status is None:
            raise KeyboardInterrupt
        return ProgramResult(self.status, b"", b"")

    def read(self, path):
        if self.results is None or path.name.endswith("-wal"):
            raise DeployError("no such file")
        return self.results


@pytest.fixture(name="simulated")
def _simulated(tmp_path):
    """The bytes of a store with one run, which was measured elsewhere."""
    store = tmp_path / "there.sqlite"
    assert main(["--store", str(store), "run", "simulated", "--repetitions", "1", "--set", "ceilings=false"]) == 0
    return store.read_bytes()


def run_on(monkeypatch, node, store):
    monkeypatch.setattr(node_site, "guest_node", lambda spec, root: node)
    return main(["--store", str(store), "run", "demo", "--site", "guest-node", "--variant", "linux-bridge"])


def test_a_run_is_executed_there_and_its_results_are_here(monkeypatch, tmp_path, simulated, capsys):
    node, store = Node(0, simulated), tmp_path / "here.sqlite"
    assert run_on(monkeypatch, node, store) == 0
    (program,) = node.programs
    assert program.argv[-6:] == ["run", "demo", "--site", "guest-node", "--variant", "linux-bridge"]
    assert str(store) not in program.argv
    assert program.environment["NFVBED_PATIENCE"] == guest_node.PATIENCE
    capsys.readouterr()
    assert main(["--store", str(store), "runs", "--all", "--json"]) == 0
    assert '"simulated"' in capsys.readouterr().out


def test_a_run_that_fails_there_fails_here_and_keeps_what_it_has(monkeypatch, tmp_path, simulated):
    assert run_on(monkeypatch, Node(20, simulated), tmp_path / "here.sqlite") == 20
    assert run_on(monkeypatch, Node(11), tmp_path / "other.sqlite") == 11


def test_an_interrupted_run_is_kept_too(monkeypatch, tmp_path, simulated, capsys):
    store = tmp_path / "here.sqlite"
    assert run_on(monkeypatch, Node(None, simulated), store) == 130
    capsys.readouterr()
    assert main(["--store", str(store), "runs", "--all", "--json"]) == 0
    assert '"simulated"' in capsys.readouterr().out


def test_doctor_asks_inside(monkeypatch):
    node = Node(11)
    monkeypatch.setattr(node_site, "guest_node", lambda spec, root: node)
    assert main(["doctor", "--site", "guest-node", "--read-only"]) == 11
    assert node.programs[0].argv[-4:] == ["doctor", "--site", "guest-node", "--read-only"]


def test_what_would_stay_is_refused(capsys):
    assert main(["deploy", "linux-bridge", "--site", "guest-node"]) == 11
    assert "lives as long as one command" in capsys.readouterr().err
