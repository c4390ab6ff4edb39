"""Visits and pairs: what one cell showed in one round, and the rounds that two cells share.

A visit is several short trials at maximum load. Its rate is that of all of them together, whatever state the host was
in: their forwarded rates, weighted by their durations, so that what came only in the drain is in none. Beside it are
the rates of the trials that ran in one placement class from beginning to end, so that two visits of a round can be
matched by class. The class is chosen by distances alone, never by rates, and so favours neither side.

Visits of a round that met the host in different states are *levelled*: what each class does to each of the two
variants is read from that variant's own trials, never from a comparison of the two, and the mean of both is taken off
every trial. Where classes do to one what they do to the other, no trace of the states is left; where they do not, a
levelled pair is the mean of the ratios in both classes. A host that changes often would else hide a twofold difference.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import exp, log
from statistics import fmean
from typing import Final

from nfvbed.compare.rows.placement import MIXED, NOWHERE, SINGLE
from nfvbed.compare.samples.ranks import LARGEST_LOG
from nfvbed.compare.samples.statistics import median
from nfvbed.compare.verdict import Pair
from nfvbed.records import Preset, RenewedPart, Status, TrialRecord

ALL_STATES: Final = "all"
"""In place of a placement class: every trial counts, in whatever state the host was."""
LEVELLING_TRIALS: Final = 2
"""Whole trials of a variant in a class from which on its median there is used."""


@dataclass(frozen=True, slots=True)
class LabelledTrial:
    """A trial and the placement class it was given."""

    trial: TrialRecord
    label: str
    ends: tuple[str, str] | None = None
    """The classes before and after it; None where nothing was measured."""


@dataclass(frozen=True, slots=True)
class ShortTrial:
    """One trial of a visit."""

    rate_pps: float
    ends: tuple[str, str] | None = None
    """The states of the host before and after it: the class, and whether a core was slowed."""


@dataclass(frozen=True, slots=True)
class ClassVisit:
    """The trials of a visit that ran in one class from beginning to end."""

    trials: int
    rate_pps: float
    """Median."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One cell in one round: its trials at maximum load, both directions together."""

    round: int
    rate_pps: float
    """Forwarded rates of all trials, weighted by their durations."""
    by_class: dict[str, ClassVisit]
    """Nearest class first; trials within which the class changed are in none."""
    trials: int
    short_trials: tuple[ShortTrial, ...] = ()
    renewed: RenewedPart | None = None
    """What was set up again before it; None: not known (older runs)."""


def visits_of(trials: Sequence[LabelledTrial], classes: Sequence[str]) -> tuple[Visit, ...]:
    """Return a cell's visits from its usable trials at maximum load, in order of rounds.

    Args:
        trials: those of one cell.
        classes: those of its host, nearest first.
    """
    rounds: dict[int, list[LabelledTrial]] = {}
    for entry in trials:
        if entry.trial.preset is Preset.MRR and entry.trial.status is Status.OK:
            rounds.setdefault(entry.trial.round, []).append(entry)
    return tuple(_visit(number, rounds[number], classes) for number in sorted(rounds))


def _visit(number: int, entries: Sequence[LabelledTrial], classes: Sequence[str]) -> Visit:
    forwarded = sum([entry.trial.forwarded_rate_pps * entry.trial.duration_ns for entry in entries])
    duration_ns = sum([entry.trial.duration_ns for entry in entries])
    rates: dict[str, list[float]] = {name: [] for name in classes if name != MIXED}
    for entry in entries:
        if entry.label in rates:
            rates[entry.label].append(float(entry.trial.forwarded_rate_pps))
    return Visit(
        round=number,
        rate_pps=forwarded / duration_ns if duration_ns else 0.0,
        by_class={
            name: ClassVisit(trials=len(found), rate_pps=median(found)) for name, found in rates.items() if found
        },
        trials=len(entries),
        short_trials=tuple(
            [ShortTrial(rate_pps=float(entry.trial.forwarded_rate_pps), ends=_states(entry)) for entry in entries]
        ),
        renewed=entries[0].trial.renewed,
    )


def _states(entry: LabelledTrial) -> tuple[str, str] | None:
    """Return the states of the host at both ends of a trial: slowed cores make another one of each class."""
    if entry.trial.slowed is None:
        return entry.ends
    ends = zip(entry.ends or (SINGLE, SINGLE), entry.trial.slowed, strict=True)
    before, after = (f"{name}, slowed" if slowed and name != NOWHERE else name for name, slowed in ends)
    return before, after


def pair(candidate: Sequence[Visit], baseline: Sequence[Visit]) -> tuple[Pair, ...]:
    """Return the visits of two cells of one run paired by their rounds, in order of rounds.

    Where both sides of a round have trials in one class, these are compared. Of several such classes the one with most
    trials on the poorer side is taken, and of equals the nearest. Else all trials of both visits are compared, levelled
    where the classes of their ends are known.
    """
    others = {visit.round: visit for visit in baseline}
    # Most rounds have a class in common: then nothing is levelled.
    effects = cache(partial(class_effects, candidate, baseline))
    return tuple([_pair(visit, others[visit.round], effects) for visit in candidate if visit.round in others])


def steadiness_samples(
    candidate: Sequence[Visit], baseline: Sequence[Visit]
) -> tuple[tuple[tuple[float, float], ...], bool]:
    """Return the logarithms of both sides' rates in their common rounds, for comparing how they spread.

    Visits are levelled where that can be done for all of them: a host that changes its state is then in neither spread.

    Returns:
        A pair for each round, in order of rounds; and whether they are levelled. Rounds in which a side forwarded
        nothing have no place in a spread, and are left out.
    """
    others = {visit.round: visit for visit in baseline}
    both = [(visit, others[visit.round]) for visit in candidate if visit.round in others]
    both = [pair for pair in both if all(visit.rate_pps > 0 for visit in pair)]
    effects = class_effects(candidate, baseline)
    levelled = [(_levelled(own, effects), _levelled(other, effects)) for own, other in both]
    found = tuple((own, other) for own, other in levelled if own is not None and other is not None)
    if found and len(found) == len(both):
        return found, True
    return tuple((log(own.rate_pps), log(other.rate_pps)) for own, other in both), False


def class_effects(candidate: Sequence[Visit], baseline: Sequence[Visit]) -> dict[str, float]:
    """Return what each class does to rates: the mean over both variants of each one's own class medians.

    Returns:
        Logarithms by class, up to a constant; only classes that are known of both variants, or of one that links them
        to such a class. Empty where there is none.
    """
    sides = [_class_medians(visits) for visits in (candidate, baseline)]
    common = sides[0].keys() & sides[1].keys()
    if not common:
        return {}
    levels = [fmean(side[name] for name in common) for side in sides]
    own = [{name: value - level for name, value in side.items()} for side, level in zip(sides, levels, strict=True)]
    return {name: fmean(side[name] for side in own if name in side) for name in sides[0].keys() | sides[1].keys()}


def _class_medians(visits: Sequence[Visit]) -> dict[str, float]:
    rates: dict[str, list[float]] = {}
    for trial in (trial for visit in visits for trial in visit.short_trials):
        if trial.ends is not None and trial.ends[0] == trial.ends[1] and trial.rate_pps > 0:
            rates.setdefault(trial.ends[0], []).append(log(trial.rate_pps))
    return {name: median(logs) for name, logs in rates.items() if name and len(logs) >= LEVELLING_TRIALS}


def _levelled(visit: Visit, effects: Mapping[str, float]) -> float | None:
    """Return the logarithm of a visit's rate with the effects of classes taken off; None where that cannot be done.

    A trial that changed its class counts as half in each. The median of the trials is taken, as one in three may have
    been robbed of its time.
    """
    if any(trial.rate_pps <= 0 for trial in visit.short_trials):
        return None
    logs = [
        log(trial.rate_pps) - log((exp(effects[trial.ends[0]]) + exp(effects[trial.ends[1]])) / 2)
        for trial in visit.short_trials
        if trial.ends is not None and all(end in effects for end in trial.ends)
    ]
    return median(logs) if logs else None


def _pair(visit: Visit, other: Visit, effects_of_classes: Callable[[], Mapping[str, float]]) -> Pair:
    common = [name for name in visit.by_class if name in other.by_class]
    if not common:
        effects = effects_of_classes()
        levelled = _levelled(visit, effects), _levelled(other, effects)
        if levelled[0] is not None and levelled[1] is not None:
            return Pair(round=visit.round, log_ratio=levelled[0] - levelled[1], levelled=True)
        return Pair(round=visit.round, log_ratio=log_ratio(visit.rate_pps, other.rate_pps))
    name = max(common, key=lambda entry: min(visit.by_class[entry].trials, other.by_class[entry].trials))
    ratio = log_ratio(visit.by_class[name].rate_pps, other.by_class[name].rate_pps)
    return Pair(round=visit.round, log_ratio=ratio, placement=name)


def log_ratio(rate_pps: float, other_pps: float) -> float:
    """Return the logarithm of a ratio; of two sides that forwarded nothing, none was ahead."""
    if rate_pps > 0 and other_pps > 0:
        return log(rate_pps / other_pps)
    return (rate_pps > 0) * LARGEST_LOG - (other_pps > 0) * LARGEST_LOG
