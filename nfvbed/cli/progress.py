"""Shows a run while it runs: a bar on a terminal, plain lines elsewhere; never silent for long."""

import threading
import time
from collections.abc import Callable
from types import TracebackType

from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.progress_bar import ProgressBar
from rich.table import Column
from rich.text import Text

from nfvbed.cli.console import Console
from nfvbed.plan.cells import OF_A_VISIT, DeploymentKey
from nfvbed.plan.plan import PlannedTrial
from nfvbed.records import CellRole, RunRecord, Status, TrialRecord
from nfvbed.records.results import ResultRecord
from nfvbed.run.observer import Observer, RoundEnd, TimeLeft
from nfvbed.units import USUAL_MTU

SILENCE_S = 29.0
"""After so long without a line, one says that it still works."""
TICK_S = 1.0
BAR_WIDTH = 20
"""Leaves room for what runs and both times on 80 columns."""


class PlainProgress(Observer):
    """Lines for logs: one a round, and one where there was none for half a minute."""

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

    def run_started(self, run: RunRecord, resumed: bool, left_s: TimeLeft) -> None:
        """Print the run's id, for `--resume`, and how long it takes."""
        self._say(begun(run, resumed, left_s()))

    def cell_excluded(self, cell: str, reason: str) -> None:
        """Print what is not measured, and why."""
        self._say(f"{cell} is left out: {reason.splitlines()[0]}")

    def deployment_started(self, key: DeploymentKey, round_number: int) -> None:
        """Remember what is set up, in case it takes long."""
        self._does(f"round {round_number}: deploying {named(key)}")

    def trial_started(self, trial: PlannedTrial, duration_s: float) -> None:
        """Remember what runs, in case it takes long."""
        about = "" if trial.is_trial else "about "
        self._does(f"round {trial.round}: {trial.cell} {named_unit(trial)}, {about}{duration_s:.3g} s")

    def test_ended(self, result: ResultRecord) -> None:
        """Tell of a test that has no result."""
        if result.status is not Status.OK:
            self._say(result_line(result))

    def deployment_ended(self, key: DeploymentKey) -> None:
        """Remember that it goes on."""
        self._does(f"{named(key)} was taken down")

    def round_ended(self, end: RoundEnd) -> None:
        """Tell how many rounds there are, what is decided, and how long the rest takes."""
        self._say(round_line(end))

    def run_ended(self, run: RunRecord) -> None:
        """Tell how it ended."""
        self._say(f"run {run.id} ended: {run.status.value if run.status else 'unknown'}")

    def _does(self, what: str) -> None:
        self._doing, self._since = what, time.monotonic()

    def _say(self, line: str) -> None:
        self._last = time.monotonic()
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)

    def _tick(self) -> None:
        while not self._ended.wait(TICK_S):
            if time.monotonic() - self._last >= SILENCE_S:
                self._say(f"still {self._doing} ({time.monotonic() - self._since:.0f} s)")


class Timer:
    """Elapsed time, and the time left as it was estimated last."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._ends_at: float | None = None

    def expect(self, left_s: float) -> None:
        """Take a new estimate; none (0) where time is virtual."""
        self._ends_at = self._clock() + left_s if left_s > 0 else None

    @property
    def elapsed_s(self) -> float:
        """Since it was made."""
        return self._clock() - self._began

    @property
    def left_s(self) -> float | None:
        """Seconds left by the last estimate; below 0 where that was too short, None without one."""
        return None if self._ends_at is None else self._ends_at - self._clock()

    @property
    def share(self) -> float:
        """Part of the whole time that is over; 0 without an estimate."""
        left_s = self.left_s
        whole_s = self.elapsed_s + max(left_s or 0.0, 0.0)
        return self.elapsed_s / whole_s if left_s is not None and whole_s > 0 else 0.0

    @property
    def words(self) -> str:
        """Both, as people write times."""
        left_s = self.left_s
        if left_s is None:
            return span(self.elapsed_s)
        left = f"about {span(left_s)} left" if left_s > 0 else "longer than estimated"
        return f"{span(self.elapsed_s)}, {left}"


class _TimeBar(BarColumn):
    """The bar is of time: it moves within a long test too."""

    def __init__(self, timer: Timer) -> None:
        super().__init__(bar_width=BAR_WIDTH)
        self._timer = timer

    def render(self, task: Task) -> ProgressBar:
        """Draw the part of the time that is over."""
        pulse = self._timer.left_s is None and not task.finished
        share = 1.0 if task.finished else self._timer.share
        return ProgressBar(total=1.0, completed=share, width=self.bar_width, pulse=pulse)


class _Times(ProgressColumn):
    """The column of a bar with the time that passed and the time that is left."""

    def __init__(self, timer: Timer) -> None:
        super().__init__(table_column=Column(no_wrap=True))
        self._timer = timer

    def render(self, task: Task) -> Text:
        """Return both as one text."""
        return Text(self._timer.words, style="progress.remaining")


class BarProgress(Observer):
    """A bar for people: what runs, how much of the time is over, how much is left.

    It is drawn once a second only: drawing takes time on the cores that are measured.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._timer = Timer(clock)
        self._estimate: TimeLeft = lambda: 0.0
        named = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis"))
        columns = (SpinnerColumn(), named, _TimeBar(self._timer), _Times(self._timer))
        self._progress = Progress(*columns, console=console, refresh_per_second=1)
        self._task = self._progress.add_task("starting", total=None)

    def __enter__(self) -> "BarProgress":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def run_started(self, run: RunRecord, resumed: bool, left_s: TimeLeft) -> None:
        """Print the run's id, for `--resume`, and how long it takes."""
        self._estimate = left_s
        self._timer.expect(left_s())
        self._say(begun(run, resumed, left_s()))

    def cell_excluded(self, cell: str, reason: str) -> None:
        """Print what is not measured, and why."""
        self._say(f"{cell} is left out: {reason.splitlines()[0]}")

    def deployment_started(self, key: DeploymentKey, round_number: int) -> None:
        """Show what is set up."""
        self._progress.update(self._task, description=f"round {round_number}: deploying {named(key)}")

    def trial_started(self, trial: PlannedTrial, duration_s: float) -> None:
        """Show what runs."""
        self._progress.update(self._task, description=f"round {trial.round}: {trial.cell} {named_unit(trial)}")

    def trial_ended(self, record: TrialRecord) -> None:
        """Estimate again; the trials of a longer test count together, when it ends."""
        if record.preset in OF_A_VISIT:
            self._timer.expect(self._estimate())

    def test_ended(self, result: ResultRecord) -> None:
        """Print the result of a test, and estimate again."""
        self._timer.expect(self._estimate())
        self._say(result_line(result))

    def round_ended(self, end: RoundEnd) -> None:
        """Tell how many rounds there are, what is decided, and how long the rest takes."""
        self._timer.expect(end.left_s)
        self._say(round_line(end))

    def run_ended(self, run: RunRecord) -> None:
        """Tell how it ended."""
        if run.status is Status.OK:
            self._progress.update(self._task, description="done", total=1, completed=1)
        self._timer.expect(0.0)
        self._say(f"run {run.id} ended: {run.status.value if run.status else 'unknown'}")

    def _say(self, line: str) -> None:
        self._progress.console.print(line, highlight=False, markup=False, soft_wrap=True)


def progress_on(console: Console) -> PlainProgress | BarProgress:
    """Return what fits the console."""
    return BarProgress(console) if console.is_terminal else PlainProgress(console)


def begun(run: RunRecord, resumed: bool, left_s: float) -> str:
    """Return which run begins, and how long it takes; nothing of that where time is virtual."""
    about = f", about {span(left_s)}" if left_s > 0 else ""
    return f"run {run.id} of {run.experiment} {'goes on' if resumed else 'begins'}{about}"


def named(key: DeploymentKey) -> str:
    """Return the name of a deployment."""
    role = "" if key.role is CellRole.SUBJECT else f" ({key.role.value})"
    jumbo = "" if key.mtu == USUAL_MTU else f", MTU {key.mtu}"
    return f"{key.variant}{role} {key.topology}{' with ' + key.vnf if key.vnf else ''}{jumbo}"


def named_unit(trial: PlannedTrial) -> str:
    """Return the name of a trial by its kind, of a longer test by its label."""
    return trial.preset.value if trial.is_trial else trial.test


def result_line(result: ResultRecord) -> str:
    """Return in one line how a test ended."""
    line = f"round {result.round}: {result.cell} {result.test} ended"
    if result.status is not Status.OK:
        line += f" {result.status.value}"
    line += f": {result.reason.splitlines()[0]}" if result.reason else ""
    return line + (" (simulated)" if result.simulated else "")


def round_line(end: RoundEnd) -> str:
    """Return in one line how far a run is after a round."""
    least, most = end.of
    parts = [f"round {end.number} of {f'{least} to {most}' if least < most else most}"]
    if end.points:
        parts.append(f"{end.decided} of {end.points} points decided")
    lacking = [lack for lack in end.completeness.missing.values() if lack.of_a_test]
    if lacking:
        cells = "1 cell lacks" if len(lacking) == 1 else f"{len(lacking)} cells lack"
        parts.append(f"{cells} repetitions ({max(lacking, key=lambda lack: lack.needed - lack.have).text})")
    if end.left_s > 0 and not end.ends:
        parts.append(f"about {span(end.left_s)} left")
    return ", ".join(parts)


def span(seconds: float) -> str:
    """Return a time as people write it."""
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"
