"""While a measurement runs, another user of the machine can neither hold it up nor end it, nor say what it says."""

import contextlib
import json
import stat
import subprocess
from pathlib import Path

from nfvbed.host.workspace import trialsign
from tests.another_user import NOBODY, seen_by_all
from tests.functional.lab_host import assert_back_to, in_run_directory, marked_processes
from tests.functional.test_lab_resume import EXPERIMENT

WAITS = """
import pathlib, sys, time
from nfvbed.cli.main import main
from nfvbed.host.workspace.trialsign import trial_going
from nfvbed.store import Store
add, stored = Store.add_trial, []
def waiting(store, trial):
    add(store, trial)
    stored.append(trial)
    if len(stored) == 2:
        with trial_going(trial.run):
            print("measuring", flush=True)
            while not pathlib.Path(sys.argv[1]).exists():
                time.sleep(0.05)
Store.add_trial = waiting
sys.exit(main(sys.argv[2:]))
"""
"""In the middle of a visit, with all that it has open, and the sign of a trial."""
REACH = Path(__file__).with_name("reach.py")
MACHINES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/kvm", "/dev/net/tun", "/dev/vhost-net")
"""Devices of the machine, whose rights are the machine's to say."""


def held(pid: int) -> set[str]:
    """Return what a process has open, as /proc names it."""
    found = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.add(str(entry.readlink()))
    return found


def opened(pids: list[int]) -> set[str]:
    """Return the files that processes have open and that have a name still."""
    places = {place for pid in pids for place in held(pid) if place.startswith("/") and not place.startswith("/proc/")}
    return {place for place in places if Path(place).exists()} - set(MACHINES)


def sockets(pids: list[int]) -> set[str]:
    """Return the names of Unix sockets that these processes have; of abstract ones with an @."""
    found = set()
    for pid in pids:
        own = held(pid)
        for line in Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]:
            parts = line.split(maxsplit=7)
            if len(parts) == 8 and f"socket:[{parts[6]}]" in own:
                found.add(parts[7])
    return found


def listening(pids: list[int]) -> set[str]:
    """Return the TCP and UDP ports of this network namespace that these processes listen on."""
    own = Path("/proc/self/ns/net").readlink()
    here = [pid for pid in pids if Path(f"/proc/{pid}/ns/net").readlink() == own]
    theirs = {place for pid in here for place in held(pid)}
    found = set()
    for kind in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/self/net/{kind}").read_text().splitlines()[1:]:
            parts = line.split()
            if f"socket:[{parts[9]}]" in theirs and parts[3] in ("0A", "07"):
                found.add(f"{kind} {parts[1]}")
    return found


def reached(given: dict[str, list[object]]) -> dict[str, list[str]]:
    """Return what another user can do."""
    done = subprocess.run(
        ["/usr/bin/python3", "-I", "-c", REACH.read_text()],
        input=json.dumps(given), text=True, capture_output=True, check=True, cwd="/",
        user=NOBODY, group=NOBODY, extra_groups=[], env={},
    )  # fmt: skip
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def test_another_user_can_do_nothing_to_a_measurement(before, mark, nfvbed):
    with seen_by_all() as folder:
        experiment, store = folder / "killed.yml", folder / "results" / "results.sqlite"
        experiment.write_text(EXPERIMENT.format(variant="ovs-dpdk").replace("[64, 128]", "[64]"))
        go_on = folder / "go-on"
        arguments = (go_on, "run", experiment, "--store", store, "--no-doctor")
        measuring = nfvbed(*arguments, program=("-c", WAITS))
        try:
            assert any(line == "measuring\n" for line in measuring.stdout), measuring.stderr.read()
            pids = marked_processes(mark)
            run = in_run_directory()
            assert len(pids) > 2 and run and trialsign.trial_is_going()
            handles = sorted(str(path) for path in Path("/run/netns").glob("nfvbed-*"))
            below = [str(path) for path in (*run, *store.parent.iterdir(), *Path("/dev/shm").iterdir())]
            files = {*opened(pids), *below, "/run/nfvbed", *handles}
            made = [path for path in files if Path(path).is_dir()]
            found = reached(
                {
                    "files": sorted(files),
                    "sockets": sorted(sockets(pids)),
                    "processes": pids,
                    "folders": [*sorted(made), "/run/nfvbed", str(store.parent)],
                }
            )
            # The handle of a namespace can be looked at, which enters nothing; the names in the run directory, too.
            looked_at = {*handles, "/run/nfvbed"}
            left = {what: done for what, done in found.items() if what not in looked_at and what not in outside(files)}
            assert left == {}, json.dumps(left, indent=1)
            assert all("write" not in found.get(what, ()) for what in looked_at)
            assert listening(pids) == set()
        finally:
            go_on.touch()
            _, err = measuring.communicate(timeout=180)
        assert measuring.returncode == 0, err
        assert_back_to(before, mark)


def outside(files: set[str]) -> set[str]:
    """Return files of the machine and of the installation, which were there before and are no part of a measurement."""
    root = str(Path(__file__).parents[2])
    return {path for path in files if path.startswith(("/usr/", "/lib", "/sys/", root)) and not is_writable(path)}


def is_writable(path: str) -> bool:
    return bool(stat.S_IMODE(Path(path).stat().st_mode) & 0o022)
