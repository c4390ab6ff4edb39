"""Shows a run while it runs: a bar on a terminal, plain lines elsewhere; never silent for long."""

import threading
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from nfvbed.plan.cells import MRR_THEN_PACED, DeploymentKey
from nfvbed.plan.plan import PlannedTrial
from nfvbed.plan.standing import Standing
from nfvbed.records import CellRole, QualityWarning, RunRecord, Status, TrialRecord
from nfvbed.results import ResultRecord
from nfvbed.run.observer import Observer

QUIET_S = 2.0
"""Trials that end sooner after the last line than this get no line of their own."""
SILENCE_S = 10.0
"""After so long without a line, one says that it still works."""
TICK_S = 1.0
QUIET_WARNINGS = {QualityWarning.SIMULATED}


class PlainProgress(Observer):
    """Lines for logs: at most one every two seconds for trials, at least one every ten seconds."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = 0.0
        self._doing = "starting"
        self._since = time.monotonic()
        self._ended = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> "PlainProgress":
        self._ticker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._ticker.join()

    def run_started(self, run: RunRecord, resumed: bool, estimate_s: float) -> None:
        """Tell the run's id, for `--resume`, and how long it takes."""
        self._say(f"run {run.id} of {run.experiment} {'goes on' if resumed else 'begins'}, about {span(estimate_s)}")

    def cell_set_aside(self, cell: str, reason: str) -> None:
        """Tell what is not measured, and why."""
        self._say(f"{cell} is left out: {reason.splitlines()[0]}")

    def deployment_started(self, key: DeploymentKey, round_number: int) -> None:
        """Tell what is set up."""
        self._does(f"round {round_number}: deploying {named(key)}")

    def trial_started(self, trial: PlannedTrial, duration_s: float) -> None:
        """Remember what runs, in case it takes long."""
        about = "" if trial.is_trial else "about "
        self._does(f"round {trial.round}: {trial.cell} {named_unit(trial)}, {about}{duration_s:.3g} s", quiet=True)

    def trial_ended(self, record: TrialRecord) -> None:
        """Tell the rate, but not of every short trial."""
        if time.monotonic() - self._last >= QUIET_S:
            self._say(outcome(record))

    def test_ended(self, result: ResultRecord) -> None:
        """Tell what came of a test."""
        self._say(result_line(result))

    def deployment_ended(self, key: DeploymentKey) -> None:
        """Remember that it goes on."""
        self._does(f"{named(key)} was taken down", quiet=True)

    def round_ended(self, round_number: int, standing: Standing, left_s: float) -> None:
        """Tell what is missing and how long it takes."""
        self._say(f"round {round_number} is complete; {remaining(standing, left_s)}")

    def run_ended(self, run: RunRecord) -> None:
        """Tell how it ended."""
        self._say(f"run {run.id} ended: {run.status.value if run.status else 'unknown'}")

    def _does(self, what: str, quiet: bool = False) -> None:
        self._doing, self._since = what, time.monotonic()
        if not quiet and time.monotonic() - self._last >= QUIET_S:
            self._say(what)

    def _say(self, line: str) -> None:
        self._last = time.monotonic()
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)

    def _tick(self) -> None:
        while not self._ended.wait(TICK_S):
            if time.monotonic() - self._last >= SILENCE_S:
                self._say(f"still {self._doing} ({time.monotonic() - self._since:.0f} s)")


class BarProgress(Observer):
    """A bar for people: what runs, how far the round is, what is missing.

    It is drawn once a second only: drawing takes time on the cores that are measured.
    """

    def __init__(self, console: Console) -> None:
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._progress = Progress(*columns, TimeElapsedColumn(), console=console, refresh_per_second=1)
        self._task = self._progress.add_task("starting", total=None)
        self._ended = 0

    def __enter__(self) -> "BarProgress":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def run_started(self, run: RunRecord, resumed: bool, estimate_s: float) -> None:
        """Tell the run's id, for `--resume`, and how long it takes."""
        self._say(f"run {run.id} of {run.experiment} {'goes on' if resumed else 'begins'}, about {span(estimate_s)}")

    def cell_set_aside(self, cell: str, reason: str) -> None:
        """Tell what is not measured, and why."""
        self._say(f"{cell} is left out: {reason.splitlines()[0]}")

    def deployment_started(self, key: DeploymentKey, round_number: int) -> None:
        """Show what is set up."""
        self._progress.update(self._task, description=f"round {round_number}: deploying {named(key)}")

    def trial_started(self, trial: PlannedTrial, duration_s: float) -> None:
        """Show what runs."""
        self._progress.update(self._task, description=f"round {trial.round}: {trial.cell} {named_unit(trial)}")

    def trial_ended(self, record: TrialRecord) -> None:
        """Count it; those of a longer test count together, when it ends."""
        if record.preset in MRR_THEN_PACED:
            self._count()

    def test_ended(self, result: ResultRecord) -> None:
        """Tell what came of a test."""
        self._count()
        self._say(result_line(result))

    def _count(self) -> None:
        self._ended += 1
        self._progress.update(self._task, completed=self._ended)

    def round_ended(self, round_number: int, standing: Standing, left_s: float) -> None:
        """Tell what is missing, and stretch the bar to it."""
        missing = sum(standing.missing.values())
        self._progress.update(self._task, total=self._ended + missing)
        self._say(f"round {round_number} is complete; {remaining(standing, left_s)}")

    def run_ended(self, run: RunRecord) -> None:
        """Tell how it ended."""
        self._say(f"run {run.id} ended: {run.status.value if run.status else 'unknown'}")

    def _say(self, line: str) -> None:
        self._progress.console.print(line, highlight=False, markup=False, soft_wrap=True)


def progress_on(console: Console) -> PlainProgress | BarProgress:
    """Give what fits the console."""
    return BarProgress(console) if console.is_terminal else PlainProgress(console)


def named(key: DeploymentKey) -> str:
    """Name a deployment."""
    role = "" if key.role is CellRole.SUBJECT else f" ({key.role.value})"
    return f"{key.variant}{role} {key.topology}{' with ' + key.vnf if key.vnf else ''}"


def named_unit(trial: PlannedTrial) -> str:
    """Name a trial by its kind, a longer test by its label."""
    return trial.preset.value if trial.is_trial else trial.test


def result_line(result: ResultRecord) -> str:
    """Say in one line how a test ended."""
    line = f"round {result.round}: {result.cell} {result.test} ended"
    if result.status is not Status.OK:
        line += f" {result.status.value}"
    line += f": {result.reason.splitlines()[0]}" if result.reason else ""
    return line + (" (simulated)" if result.simulated else "")


def outcome(record: TrialRecord) -> str:
    """Say in one line what a trial gave."""
    line = f"round {record.round}: {record.cell} {record.preset.value} {record.forwarded_rate_pps / 1e6:.3f} Mpps"
    if record.loss_ratio:
        line += f", loss {record.loss_ratio:.2%}"
    warnings = [warning.value for warning in record.warnings if warning not in QUIET_WARNINGS]
    line += f" [{', '.join(warnings)}]" if warnings else ""
    return line + (" (simulated)" if record.simulated else "")


def remaining(standing: Standing, left_s: float) -> str:
    """Say what is missing."""
    if standing.enough:
        return f"every cell has enough in class {standing.placement}"
    cells = len(standing.missing)
    rounds = max(standing.missing.values())
    need = "1 cell needs" if cells == 1 else f"{cells} cells need"
    return f"{need} up to {rounds} more in class {standing.placement}, about {span(left_s)}"


def span(seconds: float) -> str:
    """Write a time as people do."""
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"
