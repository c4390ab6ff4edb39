"""Runs on a machine of a rack, as `python3 - ROLE...`: prints the containers of Kolla's that are not healthy, as JSON.

With each come its own last lines, those of its unit's journal, and those of its service's file. Those of Kolla's roles
that are named are told of though they are healthy: a service that refuses a password is well. It changes nothing, and
needs Python's standard library alone (3.9 or later): nothing of nfvbed is there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ENGINES = ("docker", "podman")
"""Kolla's `kolla_container_engine`."""
LABEL = "kolla_version"
"""Label of all images of Kolla's, and so of their containers: its own `cleanup-containers` goes by it."""
FORMAT = "{{.Names}}\t{{.State}}\t{{.Status}}"
LOGS = Path("/var/log/kolla")
"""Volume in which services of Kolla's write files of their own."""
TIME_LIMIT_S = 8
LINES = 15
MOST = 12
"""Containers that are told of: of more the first ones."""


def asked(argv: Sequence[str]) -> str:
    """Run a program that only reads, and return what it printed, errors too."""
    return run(argv)[1]


def run(argv: Sequence[str]) -> tuple[int, str]:
    """Run a program that only reads, and return its exit status and what it printed; 127: it is not there or hangs."""
    rights = () if os.getuid() == 0 else ("sudo", "-n")
    try:
        done = subprocess.run(
            (*rights, *argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIME_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        return 127, str(failure)
    return done.returncode, done.stdout.decode(errors="replace")


def is_healthy(state: str, status: str) -> bool:
    """Return whether a container runs, as far as its own check says, or has ended as it should."""
    if state == "running":
        return "(unhealthy)" not in status and "health: starting" not in status
    return state == "exited" and status.startswith("Exited (0)")


def is_of(name: str, roles: Sequence[str]) -> bool:
    """Return whether a container is of one of Kolla's roles, with or without its hyphen: nova_compute of nova-cell."""
    beginnings = {role.replace("-", "") for role in roles} | {role.partition("-")[0] + "_" for role in roles}
    return any(f"{name}_".startswith(one) for one in beginnings)


def containers(engine: str, listed: str, roles: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """List those that are not healthy, and then those of roles, with their last lines."""
    rows = [row for row in (line.split("\t") for line in listed.splitlines()) if len(row) == 3]
    found = [row for row in rows if not is_healthy(row[1], row[2])]
    found += [row for row in rows if is_healthy(row[1], row[2]) and row[1] == "running" and is_of(row[0], roles)]
    for name, state, status in found[:MOST]:
        unit = f"kolla-{name}-container.service"
        yield {
            "name": name,
            "state": state,
            "status": status,
            "said": last(asked((engine, "logs", "--tail", str(LINES), name))),
            "unit": unit,
            "journal": journal_of(unit),
            "file": last_of_file(name),
        }


def journal_of(unit: str) -> list[str]:
    """Return the last lines of a unit's journal."""
    words = ("--quiet", "--lines", str(LINES), "--no-pager", "--output", "cat")
    return last(asked(("journalctl", "--unit", unit, *words)))


def end_of(unit: str) -> list[str]:
    """Return how systemd says that a unit's process ended: a machine's journal may be without systemd's own lines."""
    said = asked(("systemctl", "status", "--no-pager", "--lines", "0", unit)).splitlines()
    return [line.strip() for line in said if line.strip().startswith(("Active: ", "Main PID: "))]


def last(text: str) -> list[str]:
    """Return the last lines that are not empty."""
    return [line.rstrip() for line in text.splitlines() if line.strip()][-LINES:]


def last_of_file(name: str) -> list[str]:
    """Return the last lines of a service's file of the container's name: `nova/nova-compute.log` of nova_compute."""
    paths = [path for path in LOGS.glob("*/*.log") if path.stem.replace("-", "_") == name.replace("-", "_")]
    return last(asked(("tail", "--lines", str(LINES), str(paths[0])))) if paths else []


def main() -> None:
    """Print them."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    os.environ["LC_ALL"] = "C"
    engine = next((name for name in ENGINES if shutil.which(name)), None)
    document: dict[str, Any] = {"engine": engine, "containers": [], "refused": "", "journal": []}
    if engine:
        status, listed = run((engine, "ps", "--all", "--filter", f"label={LABEL}", "--format", FORMAT))
        if status == 0:
            document["containers"] = [*containers(engine, listed, sys.argv[1:])]
        else:
            document["refused"] = "\n".join(last(listed))
            document["journal"] = [*journal_of(f"{engine}.service"), *end_of(f"{engine}.service")]
    json.dump(document, sys.stdout)


if __name__ == "__main__":
    main()
