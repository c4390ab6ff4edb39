"""The dashboard in a process of its own, with limits that a test need not wait for: `python -m tests.dashboard_server`.

Takes a document on its standard input: `store`, `project` (a folder of its own; none: results are only read), `limits`
and files: fields of `ServerOptions`, and `tls`, a certificate with its key.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from nfvbed.dashboard.access.connections import Limits
from nfvbed.dashboard.access.serveroptions import ServerOptions, access_of, bind, server_of
from nfvbed.dashboard.app import make_app
from nfvbed.dashboard.audit import Audit
from nfvbed.dashboard.jobs.folder import Jobs
from nfvbed.dashboard.operations import Operations
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.store import Store

ROOT = Path(__file__).parents[1]


@contextmanager
def serving(
    store: Path, project: Path | None = None, limits: dict[str, float] | None = None, **listening: str
) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """Serve a store; yield the port and the process."""
    asked = {"store": str(store), "project": str(project or ""), "limits": limits or {}, "listening": listening}
    argv = [sys.executable, "-m", "tests.dashboard_server"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(argv, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=ROOT, **pipes) as process:
        try:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(f"{json.dumps(asked)}\n")
            process.stdin.flush()
            yield int(process.stdout.readline()), process
        finally:
            process.terminate()
            process.wait(30)


def main() -> None:
    """Serve."""
    asked = json.loads(sys.stdin.readline())
    files = {name: Path(path) for name, path in asked["listening"].items()}
    tls = files.pop("tls", None)
    listening = ServerOptions(operate=bool(asked["project"]), tls=(tls, tls) if tls else None, **files)
    operations = None
    if asked["project"]:
        folder, audit = Path(asked["project"]), Audit(Path(asked["project"]) / "audit.jsonl")
        jobs = Jobs(folder / "jobs", ROOT, asked["store"], audit, frozenset(os.sched_getaffinity(0)))
        operations = Operations(open_project(ROOT), audit, jobs)
    bound, _ = bind(listening)
    port = bound.getsockname()[1]
    with Store.open(asked["store"], read_only=True, migrated=False) as store:
        app = make_app(store, replace(access_of(listening), cookie=f"dashboard-{port}"), operations=operations)
        server = server_of(app, listening, bound, Limits(**asked["limits"]))
        print(port, flush=True)
        server.run(sockets=[bound])


if __name__ == "__main__":
    main()
