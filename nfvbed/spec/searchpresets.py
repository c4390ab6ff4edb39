"""Presets of throughput searches: goals, which trials count, and how long is waited.

Attributes and their names are those of the Search Goal in RFC 9971 (MLRsearch).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.model import SpecModel

NDR = "NDR"
"""No drop rate: loss ratio 0."""
PDR = "PDR"
"""Partial drop rate: loss ratio 0.5 %."""
LOSS_RATIO_OF = MappingProxyType({NDR: 0.0, PDR: 0.005})
"""What the two words mean; another loss ratio needs another name."""
LATE_RATIO = 0.02
"""Part of the intended frames that a generator may leave out in a trial that counts."""
Trials = Literal["all", "clean"]
"""Which trials a search goes by: all of them, as delivered, or those that a rule leaves which never looks at loss."""
CLEAN_LIMIT_S: Final = 0.0001
"""Longest time without a core in a clean trial: frames of so long fit the rings, and the generator gives none up."""
QUICK = "-quick"
"""Ends the name of a preset for laptops: shorter trials, wider intervals, weaker claims."""
GOAL_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$"


class Goal(SpecModel):
    """One goal of a search, complete: what makes a load a lower or an upper bound, and how close they have to come."""

    name: str = Field(pattern=GOAL_NAME)
    loss_ratio: float = Field(ge=0, lt=1)
    """Largest part of a trial's intended frames that may be lost or unsent; with more it is a bad trial."""
    exceed_ratio: float = Field(ge=0, lt=1)
    """Part of the duration sum that bad trials may take at a lower bound."""
    relative_width: float = Field(gt=0, lt=1)
    """Distance of the two bounds at which the goal is reached, as a part of the upper bound."""
    initial_trial_duration_s: float = Field(gt=0)
    """Length of the shortest trials, s."""
    final_trial_duration_s: float = Field(gt=0)
    """Length of trials that classify a load, s."""
    duration_sum_s: float = Field(gt=0)
    """Seconds of trials after which a load is classified; fewer where the rest cannot change the class."""
    preceding_targets: int = Field(ge=0, le=10)
    """Coarser searches, with shorter sums and doubled widths, that come before."""
    expansion_coefficient: int = Field(ge=2, le=100)
    """Factor by which an interval grows while a bound is missing."""

    @model_validator(mode="after")
    def words_mean_what_they_say(self) -> Self:
        meant = LOSS_RATIO_OF.get(self.name.upper())
        if meant is not None and self.loss_ratio != meant:
            raise ValueError(
                f"{self.name} means a loss ratio of {meant:g}; name the goal for {self.loss_ratio:g} again"
            )
        return self

    @model_validator(mode="after")
    def durations_grow(self) -> Self:
        initial, final, total = self.initial_trial_duration_s, self.final_trial_duration_s, self.duration_sum_s
        if not initial <= final <= total:
            raise ValueError(
                f"goal {self.name}: initial_trial_duration_s ({initial:g}) <= final_trial_duration_s ({final:g})"
                f" <= duration_sum_s ({total:g}) does not hold"
            )
        if not self.preceding_targets and initial < total:
            raise ValueError(f"goal {self.name}: without preceding_targets the first trials last duration_sum_s")
        return self


class SearchPreset(SpecModel):
    """A search with a name of its own."""

    name: str
    source: str
    """Source of its attributes."""
    goals: tuple[Goal, ...]
    trials: Trials
    late_ratio: float | None
    time_limit_s: float
    warmup_s: float
    placement_wait_s: float
    drain_s: float
    rest_s: float
    stolen_factor: float = 0.0


def _goal(name: str, exceed: float, width: float, durations_s: tuple[float, float, float]) -> Goal:
    """Make a preset's goal; the durations are of initial trials, final trials, and their sum."""
    initial, final, total = durations_s
    return Goal(
        name=name,
        loss_ratio=LOSS_RATIO_OF[name],
        exceed_ratio=exceed,
        relative_width=width,
        initial_trial_duration_s=initial,
        final_trial_duration_s=final,
        duration_sum_s=total,
        preceding_targets=2,
        expansion_coefficient=2,
    )


@dataclass(frozen=True)
class _MeasuringTimes:
    """The times of a preset, s: its limit, its warm-up, the wait for a class, the drain and the rest."""

    trials: Trials
    limits_s: tuple[float, float, float]
    pauses_s: tuple[float, float]


def _preset(name: str, source: str, goals: tuple[Goal, ...], conduct: _MeasuringTimes) -> SearchPreset:
    time_limit, warmup, wait = conduct.limits_s
    drain, rest = conduct.pauses_s
    return SearchPreset(
        name=name,
        source=source,
        goals=goals,
        trials=conduct.trials,
        late_ratio=LATE_RATIO if conduct.trials == "clean" else None,
        time_limit_s=time_limit,
        warmup_s=warmup,
        placement_wait_s=wait,
        drain_s=drain,
        rest_s=rest,
    )


PRESET_KEYS: Final = (
    "trials",
    "late_ratio",
    "stolen_factor",
    "time_limit_s",
    "warmup_s",
    "placement_wait_s",
    "drain_s",
    "rest_s",
)
"""Keys of a search, beside its goals."""
CSIT: Final = "csit"
"""The preset, and how the name of its quick form begins."""
_RFC_PAUSES_S: Final = (2.0, 5.0)
"""RFC 2544 section 23: two seconds for the last frames, and at least five until the next trial."""
_SHORT_PAUSES_S: Final = (0.05, 0.0)
_RFC2544 = "the goal that RFC 9971 gives for RFC 2544 section 24"
_TST009 = "the goal that RFC 9971 gives for ETSI GS NFV-TST 009 clause 12.3.3 with max(r) = 2, z unlimited"
_CSIT = "the goals of FD.io CSIT, in clean trials"
_LAPTOP = "shorter trials and wider intervals than the preset without `-quick`, for laptops"
PRESETS: Mapping[str, SearchPreset] = MappingProxyType(
    {
        preset.name: preset
        for preset in (
            _preset(
                "rfc2544",
                _RFC2544,
                (_goal(NDR, 0.0, 0.005, (1, 60, 60)),),
                _MeasuringTimes("all", (3600, 1, 600), _RFC_PAUSES_S),
            ),
            _preset(
                "tst009",
                _TST009,
                (_goal(NDR, 0.5, 0.005, (1, 60, 120)),),
                _MeasuringTimes("all", (5400, 1, 600), _RFC_PAUSES_S),
            ),
            _preset(
                "csit",
                _CSIT,
                tuple(_goal(n, 0.5, 0.005, (1, 1, 21)) for n in (NDR, PDR)),
                _MeasuringTimes("clean", (1200, 1, 120), _SHORT_PAUSES_S),
            ),
            _preset(
                "rfc2544-quick",
                _LAPTOP,
                (_goal(NDR, 0.0, 0.01, (0.25, 2, 2)),),
                _MeasuringTimes("all", (120, 0.5, 30), _SHORT_PAUSES_S),
            ),
            _preset(
                "tst009-quick",
                _LAPTOP,
                (_goal(NDR, 0.5, 0.01, (0.25, 2, 4)),),
                _MeasuringTimes("all", (180, 0.5, 30), _SHORT_PAUSES_S),
            ),
            _preset(
                "csit-quick",
                _LAPTOP,
                tuple(_goal(n, 0.5, 0.01, (0.05, 0.05, 1.05)) for n in (NDR, PDR)),
                _MeasuringTimes("clean", (120, 0.5, 30), _SHORT_PAUSES_S),
            ),
        )
    }
)
