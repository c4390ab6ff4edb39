"""Hidden changes of class: how many trials look whole and are not, of rows, searches and latency alike."""

from collections.abc import Mapping, Sequence
from typing import Final

from nfvbed.compare.rows.changes import ChangesOfHost, Ends
from nfvbed.compare.rows.rundata import RunData
from nfvbed.records import Preset, Record, Status, TrialRecord
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
    ended = [(entry.run.id, trial) for entry in runs for trial in entry.trials if trial.status is Status.OK]
    seen = [ends.get((run, trial.sequence)) for run, trial in ended]
    of_host = ChangesOfHost(seen, [_s(trial) for _, trial in ended])
    found = []
    for entry in runs:
        for (cell, test), trials in _groups(entry).items():
            both = [(ends.get((entry.run.id, trial.sequence)), _s(trial)) for trial in trials]
            whole = [(end[0], duration) for end, duration in both if end is not None and end[0] and end[0] == end[1]]
            part = of_host.hidden_in(whole)
            found += [
                HiddenShare(
                    run=entry.run.id,
                    cell=cell,
                    test=test,
                    trials=len(whole),
                    estimated=round(part.estimated, 6),
                    at_most=round(part.at_most, 6),
                )
            ] * bool(whole)
    return tuple(found)


def _groups(entry: RunData) -> dict[tuple[str, str], list[TrialRecord]]:
    """Return the trials of each row and test."""
    found: dict[tuple[str, str], list[TrialRecord]] = {}
    results: dict[str, list[ResultRecord]] = {}
    for result in entry.results:
        results.setdefault(result.cell, []).append(result)
    for trial in entry.trials:
        if trial.status is not Status.OK:
            continue
        mine = results.get(trial.cell, [])
        of_test = (result.test for result in mine if result.holds(trial.sequence))
        test = MRR if trial.preset in OF_ROWS else next(of_test, None)
        if test is not None:
            found.setdefault((trial.cell, test), []).append(trial)
    return found


def _s(trial: TrialRecord) -> float:
    return trial.duration_ns / NS_PER_S
