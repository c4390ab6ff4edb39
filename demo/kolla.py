"""The rack in a box: `make demo-kolla`.

kolla-ansible deploys a controller and two computes on machines that are namespaces of this one. The VNF vloop comes in
through the rack's Tacker, and the generator's machine sends frames through it: on two data planes, which are compared.
Then all of it is taken down. Every step is a command that its user can type; its length is printed, and the memory and
disk that all of it took at most.

A step that fails, Ctrl-C and SIGTERM take the rack down; with `--keep` it stays after a step that failed, and the same
command goes on with that step. So it does where this program was killed.
"""

import argparse
import json
import os
import secrets
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import cast, get_args

import steps

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import BusyError, NfvbedError
from nfvbed.host.workspace.footprint import Footprint
from nfvbed.signals import end_like_interrupt, signals_held
from nfvbed.sites.kolla import boxevidence
from nfvbed.sites.kolla.boxevidence import BoxDeployment, Step
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.wholefile import write_whole

SITE = ("--site", "box")
CONFIRMED = ("--yes", "box")
FIRST, SECOND = "ovs-dpdk", "ovs-afxdp"
RECORD = steps.ROOT / ".nfvbed" / "demo-kolla.json"
PMD = "dpif-netdev/pmd-rxq-show"
MARK = "NFVBED_DEMO"
OF_A_BOX = "box"
"""In the names of a box's control groups and mounts: namespaces and links of others come and go meanwhile."""
INTERRUPTED = 130
Words = tuple[str, ...]
STOP: Words = ("rack", "stop", *SITE)


@dataclass
class Done:
    """What an earlier command has done of the demonstration, on the rack that runs.

    Args:
        path: of the file that keeps it.
    """

    path: Path
    seconds: dict[str, float] = field(default_factory=dict)
    """Lengths of the steps by their text."""
    runs: list[str] = field(default_factory=list)
    """Ids of the runs."""

    @classmethod
    def of(cls, path: Path) -> "Done":
        """Read the file, where there is one."""
        found = json.loads(path.read_text()) if path.is_file() else {}
        return cls(path, **found)

    def keep(self) -> None:
        """Write the file."""
        write_whole(self.path, json.dumps({"seconds": self.seconds, "runs": self.runs}), 0o600)

    def forget(self) -> None:
        """Remove the file: nothing of the rack is there."""
        self.path.unlink(missing_ok=True)
        self.seconds, self.runs = {}, []


def plan(second: str) -> tuple[Words, ...]:
    """Return the steps up to the comparison, in order."""
    return (
        ("rack", "start", *SITE),
        # Both, before the first one's twenty minutes.
        *(("doctor", *SITE, "--variant", variant) for variant in (FIRST, second)),
        ("deploy", FIRST, *SITE),
        ("rack", "status", *SITE),
        *(("rack", "shell", *SITE, machine, "docker", "ps") for machine in ("controller", "compute1", "compute2")),
        ("rack", "shell", *SITE, "compute1", "docker", "exec", "ovsdpdk_vswitchd", "ovs-appctl", PMD),
        ("verify", *SITE),
        *measured(),
        ("deploy", second, *SITE, "--redeploy", *CONFIRMED),
        ("verify", *SITE),
        *measured(),
    )


def measured() -> tuple[Words, ...]:
    """Return the steps that measure what is deployed: guests are emulated here, so that a few rounds say all."""
    short = ("--topology", "pvp", "--frame-size", "64", "--purpose", "survey", "--repetitions", "1")
    return (
        ("onboard", "vloop", *SITE),
        ("rack", "console", *SITE),
        ("run", "pvp", *SITE, *short),
        ("offboard", *SITE),
    )


class Evidence:
    """What the steps show of each variant: kept with the project, for the reference's table of support.

    Args:
        root: of the project.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._variant = ""
        self._passed: list[Step] = []

    def follow(self, words: Words) -> None:
        """Take a step that ended well into account."""
        if words[0] == "deploy":
            self._variant, self._passed = words[1], []
        if self._variant and words[0] in get_args(Step):
            self._passed.append(cast(Step, words[0]))

    def note(self) -> None:
        """Write down what the variant that is deployed has passed."""
        if not self._passed:
            return
        project = open_project(self._root)
        release, site = project.load_kolla_release(NEWEST), project.load_site("box")
        pulled = isinstance(site, KollaSiteSpec) and site.images == "pull"
        boxevidence.note(
            self._root,
            BoxDeployment(
                variant=self._variant,
                release=release.name,
                on=datetime.now(UTC).date(),
                kolla_ansible=release.kolla_ansible,
                images="Kolla's" if pulled else "ours",
                passed=tuple(self._passed),
            ),
        )


class Demonstration:
    """The steps on the rack in a box.

    Args:
        done: what is done of them.
        evidence: what they show.
    """

    def __init__(self, done: Done, evidence: Evidence) -> None:
        self._done = done
        self._evidence = evidence
        self.lengths = dict[str, float]()
        """Of the steps by their text, in seconds."""

    def perform(self, wanted: Sequence[Words]) -> int:
        """Run the steps that are not done, and compare the runs; return the exit status of the step that failed."""
        for number, words in enumerate(wanted, 1):
            name = f"{number:2} {' '.join(words)}"
            if name in self._done.seconds:
                self.lengths[name] = self._done.seconds[name]
                print(f"\n$ nfvbed {' '.join(words)}\n  (done already, {self.lengths[name]:.0f} s)", flush=True)
                self._evidence.follow(words)
                continue
            status, self.lengths[name] = steps.run(words)
            if status:
                return status
            self._done.seconds[name] = self.lengths[name]
            self._evidence.follow(words)
            self._evidence.note()
            if words[0] == "run":
                self._done.runs.append(newest_run())
            self._done.keep()
        return steps.compare(self._done.runs)

    def take_down(self, status: int) -> int:
        """Take the cloud down where all went well, and the machines in any case; return the exit status.

        Args:
            status: of the steps before.
        """
        if status == 0:
            status, self.lengths["   destroy"] = steps.run(("destroy", *SITE, *CONFIRMED))
            if status == 0:
                self._evidence.follow(("destroy",))
                self._evidence.note()
        stopped, self.lengths["   rack stop"] = steps.run(("rack", "stop", *SITE))
        if stopped == 0:
            self._done.forget()
        return status or stopped


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration, and return the exit status of the step that failed, else 0.

    Raises:
        BusyError: the rack runs, and an earlier demonstration did not start it.
    """
    parser = argparse.ArgumentParser(description="kolla-ansible deploys a rack in a box, on two data planes")
    parser.add_argument("second", nargs="?", default=SECOND, help=f"second variant (default: {SECOND})")
    parser.add_argument("--keep", action="store_true", help="leave the rack as it is after a step that failed")
    given = parser.parse_args(arguments)
    end_like_interrupt()
    done = begun()
    os.environ[MARK] = secrets.token_hex(8)
    before = Footprint.take(f"{MARK}={os.environ[MARK]}")
    shown, status, kept, started = Demonstration(done, Evidence(steps.ROOT)), 0, False, time.monotonic()
    with steps.Resources() as taken:
        try:
            status = shown.perform(plan(given.second))
            kept = status != 0 and given.keep
        except KeyboardInterrupt:
            status = INTERRUPTED
        if not kept:
            with signals_held():
                status = shown.take_down(status)
    show(shown.lengths, time.monotonic() - started, taken)
    if kept:
        print("the rack stays; the same command goes on with this step, and nfvbed rack stop takes it down")
        return status
    left = [one for one in before.left_behind() if OF_A_BOX in one or one.startswith("process: ")]
    print(f"left behind: {', '.join(left)}" if left else "nothing is left behind but what was prepared")
    return status or (1 if left else 0)


def begun() -> Done:
    """Return what an earlier demonstration has done on the rack that runs.

    Raises:
        BusyError: the rack runs, and no earlier demonstration started it.
    """
    done, up = Done.of(RECORD), is_up()
    if up and not done.seconds:
        raise BusyError(
            "the rack in a box is up already",
            where="site box",
            observed="this demonstration did not start it, and would take it down",
            fix="nfvbed destroy --site box, then nfvbed rack stop --site box",
        )
    if not up:
        done.forget()
    return done


def is_up() -> bool:
    """Return whether a machine of the box runs."""
    found = json.loads(steps.answer(("rack", "status", *SITE, "--json")))
    return any(one["pid"] is not None for one in found["machines"])


def newest_run() -> str:
    """Return the id of the run that has just ended."""
    return str(json.loads(steps.answer(("runs", "latest", "--json")))[0]["id"])


def show(lengths: dict[str, float], seconds: float, taken: steps.Resources) -> None:
    """Print the lengths of the steps, and what all of it took."""
    print()
    for name, length in lengths.items():
        print(f"{length:7.0f} s  {name}")
    print(f"{seconds:7.0f} s     demo-kolla: at most {taken.memory_mib} MiB of memory and hugepages", end="")
    print(f", {taken.disk_mib} MiB of disk; {taken.kept_mib} MiB of it stay prepared")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except NfvbedError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
