"""What is deployed on this host, as a value; a way to wait for it: the kernel empties namespaces in the background.

And the small nfvbed that tests interrupt and kill.
"""

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from pyroute2 import IPRoute

from nfvbed.host.cgroups import unified_mount
from tests.functional.disturbed import PATIENCE_S, wait_until

MARK = "NFVBED_TEST_MARK"
"""Environment variable that everything a test starts inherits: its processes are found by it, not by name."""
DRIVER = Path(__file__).with_name("lab_driver.py")
ROOT = Path(__file__).parents[2]


PAGES = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
"""Count of hugepages of nfvbed's size; `/proc/sys/vm/nr_hugepages` counts pages of the host's default size."""


def in_run_directory() -> list[Path] | None:
    """Return what is below the run directory, sorted; None where it is not there. What vanishes meanwhile is left out.

    A `Path.glob` fails there: nfvbed renames a directory when its ledger is written.
    """
    walked = list(os.walk("/run/nfvbed"))
    found = sorted(Path(folder, name) for folder, folders, names in walked for name in (*folders, *names))
    return found if walked else None


def snapshot(mark: str) -> dict[str, Any]:
    """Namespaces, links, mounts, cgroups, hugepages, processes and run directory."""
    with IPRoute() as route:
        links = sorted(link.get_attr("IFLA_IFNAME") for link in route.get_links())
    mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    return {
        "namespaces": sorted(p.name for p in Path("/run/netns").glob("nfvbed-*")),
        "links": links,
        "mounts": sorted(m for m in mounts if "nfvbed" in m),
        "cgroups": sorted(p.name for p in unified_mount().glob("nfvbed-*")),
        "hugepages": int(PAGES.read_text()),
        "processes": marked_processes(mark),
        "run": in_run_directory(),
    }


def marked_processes(mark: str) -> list[int]:
    """Processes, zombies aside, that have the mark in their environment; not this one."""
    wanted = f"{MARK}={mark}".encode()
    return sorted(pid for pid in _pids() if pid != os.getpid() and wanted in _environment(pid))


def _pids() -> list[int]:
    return [int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()]


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def wait_for_processes(mark: str, count: int) -> None:
    """Wait until there are so many marked processes: a shell's child comes, and one of a killed parent goes, later."""
    wait_until(lambda: len(marked_processes(mark)) == count)
    assert len(marked_processes(mark)) == count


def assert_back_to(before: dict[str, Any], mark: str) -> None:
    """Wait until the host is as it was."""
    wait_until(lambda: not _changes(before, mark))
    assert (changes := _changes(before, mark)) == {}, f"before and now: {changes}"


def _changes(before: dict[str, Any], mark: str) -> dict[str, tuple[Any, Any]]:
    """What is not as it was: before and now."""
    now = snapshot(mark)
    return {what: (before[what], now[what]) for what in before if now[what] != before[what]}


def settled_snapshot(mark: str) -> dict[str, Any]:
    """Look when the pool has no page left that an ended program held: those are counted in it, and go on their own."""
    wait_until(lambda: int(PAGES.with_name("surplus_hugepages").read_text()) == 0)
    return snapshot(mark)


@contextlib.contextmanager
def left_as_found(site, mark):
    """Hold the host for a site; with its lock held, what appears and disappears is ours."""
    site.begin()
    before = settled_snapshot(mark)
    try:
        yield site
        assert_back_to(before, mark)
    finally:
        site.close()


def start(mark, *arguments):
    """Start the driver (lab_driver.py) as a process of its own, in a session of its own."""
    environment = os.environ | {MARK: mark, "PYTHONPATH": f"{ROOT}:{DRIVER.parent}", "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [sys.executable, DRIVER, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


def measure(experiment, store, *options):
    """Run an experiment into a store, as a user does; it must not fail."""
    done = subprocess.run(
        [sys.executable, "-m", "nfvbed", "run", experiment, "--store", str(store), *options],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def run(mark, *arguments):
    """Run the driver to its end; give exit status, output and errors."""
    process = start(mark, *arguments)
    out, err = process.communicate(timeout=2 * PATIENCE_S)
    return process.returncode, out, err
