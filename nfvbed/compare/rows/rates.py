"""The maximum receive rate of a row: its visits, their median and its interval, and the rates of each class."""

from collections.abc import Iterable, Sequence
from statistics import median as exact_median

from pydantic import Field

from nfvbed.compare.rows.placement import MIXED
from nfvbed.compare.rows.visits import LabelledTrial, Visit, visits_of
from nfvbed.compare.samples.statistics import Interval, interquartile_range, median, median_interval
from nfvbed.records import Record, TrialRecord
from nfvbed.units import FrameSize, layer1_bits_per_s, layer2_bits_per_s


class ClassRate(Record):
    """What a cell did in one placement class, by trials that ran in it from beginning to end."""

    name: str
    trials: int
    median_pps: float


class RateSummary(Record):
    """The maximum receive rate: visits at maximum load, both directions together."""

    rounds: int
    """Visits, one a round: the samples."""
    trials: int
    median_pps: float
    """Over the visits."""
    interval: Interval | None
    """Interval of that median; from fewer than six visits the range."""
    iqr_pps: float
    samples_pps: tuple[float, ...]
    """One for each visit, in order of rounds."""
    visits: tuple[Visit, ...]
    by_class: tuple[ClassRate, ...]
    """Nearest class first."""
    layer1_bits_per_s: float
    layer2_bits_per_s: float
    offered_pps: float
    loss_ratio: float | None
    """Lost over sent frames: what maximum load is too much by. No measure of loss at a load that can be carried."""
    surplus: int = Field(default=0, exclude_if=lambda value: not value)
    """Counted back beyond what was sent: with any, the loss ratio is at least, and the rates at most, those given."""
    refused_ratio: float | None
    """Frames not taken by the port at the first try, of all tries: how full the switch was."""
    generator_busy: float | None
    """Part of the trial in which the generator's loop had work."""


def summarise_rate(entries: Sequence[LabelledTrial], frame_size: FrameSize, classes: Sequence[str]) -> RateSummary:
    """Return a summary of the usable trials at maximum load of one cell.

    Args:
        entries: at least one.
        classes: those of its host, nearest first.
    """
    trials = [entry.trial for entry in entries]
    visits = visits_of(entries, classes)
    samples = tuple(visit.rate_pps for visit in visits)
    rate = median(samples)
    sent, refused = total(trials, "sent"), total(trials, "refused")
    busy = [trial.generator_busy_ns / trial.duration_ns for trial in trials if trial.generator_busy_ns]
    return RateSummary(
        rounds=len(visits),
        trials=len(trials),
        median_pps=rate,
        interval=median_interval(samples),
        iqr_pps=interquartile_range(samples),
        samples_pps=samples,
        visits=visits,
        by_class=tuple(_class_rates(entries, classes)),
        layer1_bits_per_s=layer1_bits_per_s(rate, frame_size),
        layer2_bits_per_s=layer2_bits_per_s(rate, frame_size),
        offered_pps=median([trial.offered_load_pps for trial in trials]),
        loss_ratio=total(trials, "lost") / sent if sent else None,
        surplus=total(trials, "surplus"),
        refused_ratio=refused / (sent + refused) if sent + refused else None,
        generator_busy=exact_median(busy) if busy else None,
    )


def total(trials: Iterable[TrialRecord], count: str) -> int:
    """Sum a count of frames over all directions of trials."""
    return sum([getattr(direction, count) for trial in trials for direction in trial.directions])


def _class_rates(entries: Sequence[LabelledTrial], classes: Sequence[str]) -> Iterable[ClassRate]:
    for name in classes:
        rates = [float(entry.trial.forwarded_rate_pps) for entry in entries if entry.label == name != MIXED]
        if rates:
            yield ClassRate(name=name, trials=len(rates), median_pps=median(rates))
