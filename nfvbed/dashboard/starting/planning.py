"""What a choice would do, as the command line says it: nothing is changed."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from nfvbed.dashboard.jobs.folder import Jobs
from nfvbed.dashboard.results.shared import SharedReadings
from nfvbed.dashboard.starting.on_site import refusals
from nfvbed.dashboard.starting.starting import Action, RunChoices
from nfvbed.errors import BusyError, NfvbedError
from nfvbed.host.workspace.trialsign import going_trial
from nfvbed.records import Record
from nfvbed.spec.loader import Project

TIME_S: Final = 90.0
PATIENCE_S: Final = 10.0
"""How long a plan waits for the end of a trial; those of a comparison last about a second."""
FRESH_S: Final = 3.0
"""How long a plan answers who asks again."""
QUEUE_S: Final = 30.0
"""How long it waits for plans that others asked for."""
_LOOK_S: Final = 0.05
MOST_DRY: Final = 4
"""Variants of which is asked what to deploy them would do; each takes some seconds."""


class PlannedCell(Record):
    """A row of a plan."""

    id: str
    trials: int
    """In the first round."""
    tests: str
    """Kinds of what is measured."""
    lacks: str = ""
    """Why the site cannot have it, whatever state it is in."""


class DryRun(Record):
    """What to deploy a variant would do."""

    variant: str
    says: str
    possible: bool


class PlanView(Record):
    """A plan on a page."""

    command: str
    """By which the same is asked of the command line."""
    cells: tuple[PlannedCell, ...] = ()
    left_out: tuple[str, ...] = ()
    """What of the experiment does not apply on the site, cells that are not applicable or skipped; each with why."""
    rounds: tuple[int, int] = (0, 0)
    trials_at_most: int = 0
    seconds: tuple[float, float] = (0.0, 0.0)
    """At least and at most."""
    simulated: bool = False
    problem: str = ""
    """Why there is none."""
    dry_runs: tuple[DryRun, ...] = ()


class Planner:
    """Asks the command line, one question at a time, and none while a job or a trial runs."""

    def __init__(self, jobs: Jobs, project: Project, patience_s: float = PATIENCE_S) -> None:
        self._jobs = jobs
        self._patience_s = patience_s
        self._project = project
        self._one = threading.Lock()
        self._shared: SharedReadings[PlanView] = SharedReadings("this plan", FRESH_S, TIME_S)

    def plan(self, wanted: RunChoices) -> PlanView:
        """Return what a choice would do; a plan that was made a moment ago is not made again.

        Raises:
            BusyError: something runs that this would disturb.
            UsageError: the choice lacks something.
        """
        return self._shared.read(wanted, lambda: self._made(wanted))

    def _made(self, wanted: RunChoices) -> PlanView:
        for job in self._jobs.alive():
            raise BusyError(
                "no plan is made while a job runs, as that would disturb it",
                where=f"job {job.spec.id}",
                observed=f"nfvbed {' '.join(job.spec.arguments)}",
                fix=f"wait for its end, or cancel it: /jobs/{job.spec.id}",
            )
        if not self._one.acquire(timeout=QUEUE_S):
            raise BusyError("another plan is being made", observed=f"for {QUEUE_S:g} s", fix="try again in a moment")
        try:
            self._wait_for_the_end_of_a_trial()
            site = self._project.load_site(wanted.site)
            found = self._planned(wanted)
            deployed = () if Action.DEPLOY in refusals(site) else wanted.variants[:MOST_DRY]
            dry = tuple(self._dry_run(name, wanted) for name in deployed)
            return found.model_copy(update={"dry_runs": dry})
        finally:
            self._one.release()

    def _wait_for_the_end_of_a_trial(self) -> None:
        """Wait until no process of this host is in a trial; a moment between two trials is enough.

        Raises:
            BusyError: a trial lasts too long; the message says whose it is, and since when.
        """
        until = time.monotonic() + self._patience_s
        while (trial := going_trial()) is not None:
            if time.monotonic() > until:
                raise BusyError(
                    "no plan is made while a trial is running, as that would disturb it",
                    observed=str(trial),
                    fix="try again when it has ended",
                )
            time.sleep(_LOOK_S)

    def _planned(self, wanted: RunChoices) -> PlanView:
        if not wanted.experiment:
            return PlanView(command="")
        arguments = ("plan", wanted.experiment, *wanted.of_run)
        command = f"nfvbed {' '.join(arguments)}"
        status, out, said = self._ask(*arguments, "--json")
        if status:
            return PlanView(command=command, problem=said)
        return _shown(command, json.loads(out))

    def _dry_run(self, variant: str, wanted: RunChoices) -> DryRun:
        topology = ("--topology", wanted.topology) if wanted.topology else ()
        status, out, said = self._ask("deploy", variant, "--site", wanted.site, *topology, "--dry-run")
        return DryRun(variant=variant, says=(said if status else out).strip(), possible=status == 0)

    def _ask(self, *arguments: str) -> tuple[int, str, str]:
        try:
            with self._on_all_cores():
                done = self._run(arguments)
        except subprocess.TimeoutExpired as error:
            raise _too_long(arguments) from error
        return done.returncode, done.stdout, done.stderr.removeprefix("nfvbed: ").strip()

    def _run(self, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "nfvbed", *arguments],
            cwd=self._jobs.root,
            env={**os.environ, "NFVBED_ROOT": str(self._jobs.root), "NFVBED_STORE": self._jobs.store},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIME_S,
            check=False,
        )

    @contextlib.contextmanager
    def _on_all_cores(self) -> Iterator[None]:
        """Let what this thread starts have the cores of jobs: the server's own are fewer."""
        own = os.sched_getaffinity(0)
        os.sched_setaffinity(0, self._jobs.cores)
        try:
            yield
        finally:
            os.sched_setaffinity(0, own)


def _too_long(arguments: tuple[str, ...]) -> NfvbedError:
    return BusyError(
        f"no answer within {TIME_S:.0f} s", where=f"nfvbed {' '.join(arguments)}", fix="ask it on the command line"
    )


def _shown(command: str, plan: Mapping[str, Any]) -> PlanView:
    first: dict[str, list[str]] = {}
    for trial in plan["first_round"]:
        first.setdefault(trial["cell"], []).append(trial["test"] if trial["test"] != "mrr" else trial["preset"])
    left_out = (*plan["not_applicable"], *plan["skipped"])
    return PlanView(
        command=command,
        cells=tuple(
            PlannedCell(
                id=cell["id"],
                trials=len(first.get(cell["id"], ())),
                tests=", ".join(dict.fromkeys(first.get(cell["id"], ()))),
                lacks=cell["lacks"],
            )
            for cell in plan["cells"]
        ),
        left_out=(
            *plan["left_out_on_site"],
            *(f"{entry['cell']}: {entry['reason']}" for entry in left_out),
        ),
        rounds=(plan["rounds"]["at_least"], plan["rounds"]["at_most"]),
        trials_at_most=plan["trials_at_most"],
        seconds=(plan["estimate_s"]["at_least"], plan["estimate_s"]["at_most"]),
        simulated=plan["simulated"],
    )
