"""Which run is shown where none is asked for: the newest measured one with an answer, and what is newer than it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from nfvbed.compare.comparison import Comparison, require_comparable
from nfvbed.compare.verdict import Verdict
from nfvbed.errors import DamagedError, NfvbedError, NotComparableError
from nfvbed.records import Record, RunRecord, Status
from nfvbed.report import wording

LOOKED_AT: Final = 20
"""So many of the newest runs are looked at."""
DECIDED: Final = (Verdict.HIGHER, Verdict.LOWER, Verdict.SAME, Verdict.DEPENDS_ON_PLACEMENT)
UNDECIDED: Final = "undecided"

WhyNot = Callable[[RunRecord], str]
"""Says of an ended run why it has no answer; empty: it has one."""


class NewerRun(Record):
    """A run that is newer than the one shown, and has no answer."""

    run: RunRecord
    why: str

    @property
    def words(self) -> str:
        """The run with what became of it."""
        return f"{named(self.run)}: {self.why}"


@dataclass(frozen=True)
class LandingRun:
    """The run that is shown."""

    run: RunRecord
    decided: bool
    """Whether it has an answer; no run that was looked at has one, where it has not."""
    newer: tuple[NewerRun, ...]
    """Runs without an answer, newest first; the run itself is among them where it has none."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said beside it, a sentence each."""
        if self.decided:
            return tuple(f"newer, without an answer: {entry.words}" for entry in self.newer)
        place = next(place for place, entry in enumerate(self.newer) if entry.run == self.run)
        shown = f"no answer among the newest runs; shown is the newest: {self.newer[place].words}"
        return (shown, *(f"newer: {entry.words}" for entry in self.newer[:place]))


def land(runs: Sequence[RunRecord], why_not: WhyNot) -> LandingRun | None:
    """Return the run that is shown; None where there is none.

    Args:
        runs: those that may be shown, newest first.
        why_not: is asked until a run has an answer, and of ended ones alone. A run of which it raises `DamagedError` is
            shown only where none can be read.
    """
    newer: list[NewerRun] = []
    readable: list[RunRecord] = []
    for run in runs[:LOOKED_AT]:
        try:
            why = why_not(run) if run.status is not None else "it has not ended"
        except DamagedError as error:
            newer.append(NewerRun(run=run, why=f"it cannot be read ({error.where}: {error.observed})"))
            continue
        if not why:
            return LandingRun(run, True, tuple(newer))
        newer.append(NewerRun(run=run, why=why))
        readable.append(run)
    return LandingRun((*readable, *runs)[0], False, tuple(newer)) if runs else None


def why_unanswered(run: RunRecord, compared: Callable[[], Comparison]) -> str:
    """Return why a run that has ended has no answer; empty: it has one.

    A verdict answers a comparison. A survey, tests, or one variant alone have an answer where something was measured.
    What cannot be compared answers nothing, nor does a run that failed.

    Raises:
        DamagedError: the run cannot be read.
    """
    if run.status is Status.FAILED:
        return f"failed{f' ({first_line(run.reason)})' if run.reason else ''}"
    try:
        comparison = compared()
        require_comparable(comparison)
    except DamagedError:
        raise
    except NotComparableError as error:
        return f"{error.what} ({first_line(error.observed)})"
    except NfvbedError as error:
        return f"{error.what}{f' ({first_line(error.observed)})' if error.observed else ''}"
    judged = [entry.judgement.verdict for entry in comparison.differences]
    has_rates = any(row.mrr is not None for row in comparison.rows)
    if comparison.purpose == "compare" and has_rates and judged and not any(verdict in DECIDED for verdict in judged):
        return UNDECIDED
    return ""


def named(run: RunRecord) -> str:
    """Return the name of a run for a sentence."""
    return f"run {wording.short_run(run.id)} ({run.experiment}, {run.started_at[:16].replace('T', ' ')} UTC)"


def first_line(text: str) -> str:
    """Return the first line of a reason."""
    return text.partition("\n")[0]
