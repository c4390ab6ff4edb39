"""Trials with their places among the host's states, the same while a run goes on and when it is compared."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from nfvbed.compare.rows.placement import MIXED, Placement, analyse
from nfvbed.compare.rows.visits import LabelledTrial
from nfvbed.records import Preset, TrialRecord

OF_A_VISIT: Final = (Preset.MRR, Preset.PACED, Preset.COMMON)


def analyse_trials(trials: Sequence[tuple[str, TrialRecord]]) -> Placement:
    """Return the states of one host, found from its trials.

    Args:
        trials: those of all its runs, each with the run's id, in order.
    """
    # The trials of a visit follow each other in two seconds; those of a test that is not a visit's come one by one.
    rounds = [(run, trial.round) if trial.preset in OF_A_VISIT else None for run, trial in trials]
    found = analyse([trial.core_distance_ns for _, trial in trials], rounds)
    return replace(found, labels=tuple(_label(*each) for each in zip(trials, found.labels, strict=True)))


def _label(of: tuple[str, TrialRecord], label: str) -> str:
    """Return a trial's class; a visit's trial whose cores were slowed is in none, as if they had moved meanwhile."""
    _, trial = of
    return MIXED if trial.preset in OF_A_VISIT and any(trial.slowed or ()) else label


def label_run(trials: Sequence[TrialRecord]) -> tuple[tuple[str, ...], tuple[LabelledTrial, ...]]:
    """Return the classes that one run's trials show, nearest first, and the trials with their places among them."""
    placement = analyse_trials([(trial.run, trial) for trial in trials])
    placed = zip(trials, placement.labels, placement.ends, strict=True)
    return placement.classes, tuple(LabelledTrial(trial=trial, label=label, ends=ends) for trial, label, ends in placed)
