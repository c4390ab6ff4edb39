"""What the verbs do with a site that is a guest node: the same command runs inside it, and its results come out."""

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from nfvbed import patience
from nfvbed.errors import DeployError
from nfvbed.records import RunRecord
from nfvbed.sites.ownmachine import Boot, OwnMachine, Program
from nfvbed.spec.loader import Project
from nfvbed.store import Store
from nfvbed.store.transfer import export_run, import_run

_STORE = Path("/run/nfvbed-results/results.sqlite")
"""In the guest's memory."""
_BESIDE = ("", "-wal")
"""What a store consists of; the second is empty once it was closed in order."""
_PLACES = ("root", "store")
"""Parameters that say where files are: those are the same in the guest, or its own."""
_NOT_PASSED = ("NFVBED_STORE", "NFVBED_ROOT")
PATIENCE = "6"
"""An emulated machine is about fifteen times slower than this one; time-outs are generous already."""
_CHECKOUT = Path(__file__).resolve().parents[2]


def doctor_in_node(boot: Boot, project: Project, arguments: Sequence[str]) -> int:
    """Run `nfvbed doctor` inside a guest node, and return its exit status.

    Args:
        arguments: those of `nfvbed doctor`.
    """
    with boot() as node:
        program = _program(project, ["doctor", *arguments])
        return node.execute(program, _show).status


def run_in_node(
    site: str, boot: Boot, project: Project, arguments: Sequence[str], store: Store
) -> tuple[RunRecord | None, int]:
    """Run an experiment in a guest node and put what it stored into this host's results, however it ended.

    Args:
        arguments: those of `nfvbed run`, without places of results.
        store: this host's store.

    Returns:
        The run, None where none was begun; and the exit status of nfvbed in the guest.

    Raises:
        DeployError: the guest does not boot or went away.
    """
    with boot() as node:
        click.echo(f"guest node {site}: kernel {node.kernel}, booted in {node.boot_ns / 1e9:.0f} s", err=True)
        program = _program(project, ["--store", str(_STORE), "run", *arguments])
        try:
            status = node.execute(program, _show_progress).status
        except KeyboardInterrupt:
            # What was measured until then is kept, as on this host.
            _take_over(node, store)
            raise
        return _take_over(node, store), status


def passed_on(context: click.Context, left_out: Sequence[str] = ()) -> list[str]:
    """Return a command line's words again, without those that say where files and results are on this host.

    Args:
        left_out: names of further parameters to leave out.
    """
    words: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in (*_PLACES, *left_out) or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        values = list(value) if isinstance(value, tuple) else [value]
        if isinstance(parameter, click.Argument):
            words += map(str, values)
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            words += parameter.opts[:1] if value else parameter.secondary_opts[:1]
        else:
            words += [word for single in values for word in (parameter.opts[0], str(single))]
    return words


def _program(project: Project, arguments: Sequence[str]) -> Program:
    own = {key: value for key, value in os.environ.items() if key.startswith("NFVBED_") and key not in _NOT_PASSED}
    argv = [sys.executable, "-m", "nfvbed", "--root", str(project.root), *arguments]
    # The code of this checkout, whichever the environment's package points to.
    own["PYTHONPATH"] = str(_CHECKOUT)
    own.setdefault(patience.VARIABLE, PATIENCE)
    return Program(argv, Path.cwd(), own)


def _show(stream: str, data: bytes) -> None:
    target = sys.stderr if stream == "stderr" else sys.stdout
    target.write(data.decode(errors="replace"))
    target.flush()


def _show_progress(stream: str, data: bytes) -> None:
    if stream == "stderr":
        _show(stream, data)


def _take_over(node: OwnMachine, store: Store) -> RunRecord | None:
    """Copy the guest's results, and return the newest run."""
    with tempfile.TemporaryDirectory(prefix="nfvbed-node-") as folder:
        for suffix in _BESIDE:
            try:
                content = node.read(_STORE.with_name(_STORE.name + suffix))
            except DeployError:
                continue  # not begun, or closed in order
            (Path(folder) / (_STORE.name + suffix)).write_bytes(content)
        if not (Path(folder) / _STORE.name).is_file():
            return None
        with Store.open(str(Path(folder) / _STORE.name), read_only=True) as taken:
            runs = taken.runs()
            for run in runs:
                import_run(store, export_run(taken, run))
    return runs[0] if runs else None
