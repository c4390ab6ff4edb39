"""Named stages, run one after the other: their times are recorded, and a failed start goes on where it failed."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nfvbed.wholefile import append_whole, write_whole


@dataclass(frozen=True)
class Stage:
    """One step of a start."""

    name: str
    summary: str
    """What it does, for the progress display."""
    work: Callable[[], str]
    """Returns what there is to say of it afterwards; empty: nothing."""
    lasting: bool = True
    """Whether it is done for as long as the nodes run; else it is done again by each start."""


class Progress(Protocol):
    """Shows stages while they run."""

    def begin(self, number: int, total: int, stage: Stage) -> None:
        """Show that a stage begins."""

    def end(self, stage: Stage, seconds: float, outcome: str) -> None:
        """Show that it has succeeded."""

    def skip(self, number: int, total: int, stage: Stage) -> None:
        """Show that an earlier start did it."""

    def fail(self, stage: Stage, seconds: float) -> None:
        """Show that it has failed; the error follows."""


class SilentProgress:
    """Shows nothing, for a start within something that shows its own steps."""

    def begin(self, number: int, total: int, stage: Stage) -> None:
        """Show nothing."""

    def end(self, stage: Stage, seconds: float, outcome: str) -> None:
        """Show nothing."""

    def skip(self, number: int, total: int, stage: Stage) -> None:
        """Show nothing."""

    def fail(self, stage: Stage, seconds: float) -> None:
        """Show nothing."""


class StageRecord:
    """Which stages are done, with their times; a file beside the ledger, so it ends with the nodes."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def done(self) -> dict[str, float]:
        """Return the seconds of each stage that is done."""
        try:
            found: dict[str, float] = json.loads(self._path.read_text())
        except FileNotFoundError:
            return {}
        return found

    def mark(self, stage: str, seconds: float) -> None:
        """Record that a stage is done."""
        write_whole(self._path, json.dumps({**self.done(), stage: round(seconds, 2)}))


def run_stages(stages: Sequence[Stage], record: StageRecord, progress: Progress, durations: Path) -> dict[str, float]:
    """Run the stages that are not done; return the seconds of each that ran.

    Args:
        durations: the file to which each start adds a line.
    """
    taken: dict[str, float] = {}
    failed = ""
    try:
        for number, stage in enumerate(stages, 1):
            if stage.lasting and stage.name in record.done():
                progress.skip(number, len(stages), stage)
                continue
            progress.begin(number, len(stages), stage)
            started, failed = time.monotonic(), stage.name
            try:
                outcome = stage.work()
            except BaseException:
                progress.fail(stage, time.monotonic() - started)
                raise
            taken[stage.name], failed = round(time.monotonic() - started, 2), ""
            record.mark(stage.name, taken[stage.name])
            progress.end(stage, taken[stage.name], outcome)
    finally:
        _append(durations, {"at": round(time.time()), "seconds": taken, "failed": failed})
    return taken


def _append(path: Path, line: dict[str, object]) -> None:
    append_whole(path, json.dumps(line).encode() + b"\n", 0o644)
