"""Text that others wrote is drawn, printed and made into paths in one place each."""

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.contract.source import ROOT, assert_none, nodes, python_files

pytestmark = pytest.mark.xdist_group("syntax")

DRAWING = Path("nfvbed/report/drawing_program.py")
CONSOLE = Path("nfvbed/cli/console.py")
PROGRAMS = {
    "nfvbed/cachecommand.py",
    "nfvbed/dataplanes/ovs/steering/relay.py",
    "nfvbed/host/probes/stalls.py",
    "nfvbed/host/remote/keeper.py",
    "nfvbed/sites/guest_node/agent.py",
    "nfvbed/sites/kolla/executor/containerlogs.py",
    "nfvbed/sites/kolla/preflight/functions_trial.py",
    "nfvbed/sites/kolla/preflight/record.py",
    "nfvbed/cloud/devcloud/nodes/relay.py",
    "nfvbed/cloud/devcloud/nodes/socket_relay.py",
    "nfvbed/traffic/trex/program.py",
    "nfvbed/vnfs/epc/emulation.py",
    "nfvbed/vnfs/epc/enb.py",
    "nfvbed/vnfs/epc/serving.py",
}
"""Modules that are programs of their own: nfvbed reads what they print."""
GUARDED = {"nfvbed/cloud/devcloud/lines.py"}
"""They print to the streams that the command line guards."""
OWN = [path for path in python_files("nfvbed") if path.parts[0] == "nfvbed"]


@cache
def _modules(path: Path) -> set[str]:
    """Name what a module imports."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return found


@cache
def _calls(path: Path) -> set[str]:
    return {ast.unparse(node.func) for node in nodes(path) if isinstance(node, ast.Call)}


def test_one_program_draws():
    assert [path for path in OWN if any(name.split(".")[0] == "vl_convert" for name in _modules(path))] == [DRAWING]


def test_nothing_imports_the_program_that_draws():
    assert_none(str(path) for path in OWN if "nfvbed.report.drawing_program" in _modules(path))


def test_one_console_prints_tables():
    direct = {"rich.print", "rich.console.Console", "rich.get_console", "rich.live.Console"}
    assert_none(str(path) for path in OWN if path != CONSOLE and _modules(path) & direct)


def test_nothing_is_printed_past_the_guarded_streams():
    printing = {str(path) for path in OWN if {"print", "sys.stdout.write", "sys.stderr.write"} & _calls(path)}
    assert_none(printing - PROGRAMS - GUARDED)
    assert_none(str(path) for path in OWN if {"sys.__stdout__.write", "sys.__stderr__.write"} & _calls(path))


def test_no_colour_is_printed_that_the_guarded_streams_would_show_as_an_escape():
    assert_none(str(path) for path in OWN if {"click.secho", "click.style"} & _calls(path))


def test_the_programs_are_there():
    assert_none(name for name in PROGRAMS | GUARDED if not (ROOT / name).is_file())


def test_no_path_is_made_of_an_identifier_without_a_look():
    """`folder / run.id` leaves the folder where the id is a path; `below(folder, run.id)` does not."""
    found = [
        f"{path}:{node.lineno}: {ast.unparse(node)}"
        for path in OWN
        for node in nodes(path)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        if isinstance(node.right, ast.Attribute) and node.right.attr == "id"
    ]
    assert_none(found)


def test_the_dashboards_server_prints_no_colours():
    calls = [
        node
        for path in OWN
        for node in nodes(path)
        if isinstance(node, ast.Call) and "uvicorn" in str(_modules(path)) and ast.unparse(node.func).endswith("Config")
    ]
    assert calls
    assert all(
        any(key.arg == "use_colors" and ast.unparse(key.value) == "False" for key in node.keywords) for node in calls
    )
