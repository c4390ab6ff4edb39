"""Hidden changes of class: how many trials look whole and are not, of rows, searches and latency alike."""

from collections.abc import Mapping, Sequence
from typing import Final

from nfvbed.compare.rows.changes import ChangesOfHost, Ends
from nfvbed.compare.rows.rundata import RunData
from nfvbed.records import Preset, Record, Status
from nfvbed.records.results import ResultRecord
from nfvbed.units import NS_PER_S

MRR: Final = "mrr"
OF_ROWS: Final = (Preset.MRR, Preset.PACED, Preset.COMMON)

EndsOfTrials = Mapping[tuple[str, int], Ends | None]
"""The classes of both ends of each trial, by run and sequence; None: not measured."""


class HiddenShare(Record):
    """The share for one row, or for one other test of it."""

    run: str
    cell: str
    test: str
    """`mrr` of the row itself; else the label of a test."""
    trials: int
    """Trials whose two ends are in one class."""
    estimated: float
    """Part of them that left it in between."""
    at_most: float
    """The same with a confidence of 95 %."""


def hidden_shares(runs: Sequence[RunData], ends: EndsOfTrials) -> tuple[HiddenShare, ...]:
    """Return the hidden shares of all rows and tests of one host's runs, estimated from all of its trials together.

    Args:
        runs: those of one host.
    """
    seen: list[_Seen] = []
    groups = [(entry.run.id, _groups(entry, ends, seen)) for entry in runs]
    of_host = ChangesOfHost([end for end, _ in seen], [duration for _, duration in seen])
    found = []
    for run, of_run in groups:
        for (cell, test), trials in of_run.items():
            whole = [(end[0], duration) for end, duration in trials if end is not None and end[0] and end[0] == end[1]]
            if not whole:
                continue
            part = of_host.hidden_in(whole)
            estimated, at_most = round(part.estimated, 6), round(part.at_most, 6)
            found.append(
                HiddenShare(run=run, cell=cell, test=test, trials=len(whole), estimated=estimated, at_most=at_most)
            )
    return tuple(found)


_Seen = tuple[Ends | None, float]
"""The classes of a trial's ends, and its duration in s."""


def _groups(entry: RunData, ends: EndsOfTrials, seen: list[_Seen]) -> dict[tuple[str, str], list[_Seen]]:
    """Return what each row and test saw of the host; what any trial saw is added to `seen`."""
    run = entry.run.id
    found: dict[tuple[str, str], list[_Seen]] = {}
    results: dict[str, list[ResultRecord]] = {}
    for result in entry.results:
        results.setdefault(result.cell, []).append(result)
    for trial in entry.trials:
        if trial.status is not Status.OK:
            continue
        saw = ends.get((run, trial.sequence)), trial.duration_ns / NS_PER_S
        seen.append(saw)
        mine = results.get(trial.cell, [])
        of_test = (result.test for result in mine if result.holds(trial.sequence))
        test = MRR if trial.preset in OF_ROWS else next(of_test, None)
        if test is not None:
            found.setdefault((trial.cell, test), []).append(saw)
    return found
