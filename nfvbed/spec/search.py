"""Throughput searches as files declare them: a preset, and what is to differ from it.

Attributes and their names are those of the Search Goal in RFC 9971 (MLRsearch).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from nfvbed.spec.model import SpecModel
from nfvbed.spec.validate import suggestion

NDR = "NDR"
"""No drop rate: loss ratio 0."""
PDR = "PDR"
"""Partial drop rate: loss ratio 0.5 %."""
LOSS_RATIO_OF = MappingProxyType({NDR: 0.0, PDR: 0.005})
"""What the two words mean; another loss ratio needs another name."""
LATE_RATIO = 0.02
"""Part of the intended frames that a generator may leave out in a trial that counts."""
STOLEN_FACTOR = 2.0
"""Of stolen time: the kernel counts a hypervisor's in ticks of 10 ms, about 0.7 of it where this was measured."""
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


class GoalSpec(SpecModel):
    """One goal as a file holds it; what is left out is as in the preset's goal of that name, else in its first one."""

    name: str = Field(pattern=GOAL_NAME)
    loss_ratio: float | None = Field(None, ge=0, lt=1)
    """Largest part of a trial's intended frames that may be lost or unsent; with more it is a bad trial."""
    exceed_ratio: float | None = Field(None, ge=0, lt=1)
    """Part of the duration sum that bad trials may take at a lower bound."""
    relative_width: float | None = Field(None, gt=0, lt=1)
    """Distance of the two bounds at which the goal is reached, as a part of the upper bound."""
    initial_trial_duration_s: float | None = Field(None, gt=0)
    """Length of the shortest trials, s."""
    final_trial_duration_s: float | None = Field(None, gt=0)
    """Length of trials that classify a load, s."""
    duration_sum_s: float | None = Field(None, gt=0)
    """Seconds of trials after which a load is classified."""
    preceding_targets: int | None = Field(None, ge=0, le=10)
    """Coarser searches that come before."""
    expansion_coefficient: int | None = Field(None, ge=2, le=100)
    """Factor by which an interval grows while a bound is missing."""

    def completed(self, preset: "SearchPreset") -> Goal:
        """Fill in from a preset what was left out.

        Raises:
            ValueError: the attributes do not fit together.
        """
        base = next((goal for goal in preset.goals if goal.name == self.name), preset.goals[0])
        given = {key: value for key, value in self.model_dump().items() if value is not None}
        return Goal(**{**base.model_dump(), **given})


class SearchPreset(SpecModel):
    """A search with a name of its own."""

    name: str
    source: str
    """Source of its attributes."""
    goals: tuple[Goal, ...]
    time_limit_s: float
    warmup_s: float
    placement_wait_s: float


class SearchSpec(SpecModel):
    """A throughput search: a preset, and what is to differ from it."""

    preset: str = "csit"
    """Preset: `rfc2544`, `tst009`, `csit`, or one of them with `-quick`."""
    goals: tuple[GoalSpec, ...] = ()
    """Goals of the search, found together; none: the preset's."""
    time_limit_s: float | None = Field(None, gt=0)
    """Seconds after which the search ends, with the bounds that it has; None: the preset's."""
    min_load_pps: int = Field(10_000, ge=1)
    """Smallest load that is tried, in frames/s over both directions."""
    max_load_pps: int | None = Field(None, ge=2)
    """Largest load that is tried, in frames/s over both directions; None: the ceiling of the generator."""
    warmup_s: float | None = Field(None, ge=0)
    """Length of a first trial, at the largest load, that does not count; None: the preset's."""
    late_ratio: float = Field(LATE_RATIO, ge=0, lt=1)
    """Largest part of its frames that the generator may leave out, with nothing pushing back; a trial with more is
    measured again. What it left out within that is not lost, and the reported throughput is lower by it (ADR 0009)."""
    stolen_factor: float = Field(STOLEN_FACTOR, ge=0, le=10)
    """Factor on the time that others, or the hypervisor, kept the system's threads from their cores: a trial above a
    goal's loss ratio that lost no more frames than were due in so long is measured again; 0: never (ADR 0010)."""
    trial_overhead_s: float = Field(0.15, ge=0)
    """Seconds that a trial is expected to take beside its traffic; the time that the last one took counts from then
    on."""
    placement_wait_s: float | None = Field(None, gt=0)
    """Longest time of a search without a trial of its placement class, s; None: the preset's."""

    @field_validator("preset")
    @classmethod
    def preset_is_known(cls, name: str) -> str:
        if name not in PRESETS:
            raise ValueError(f"unknown preset {name!r}: {suggestion(name, PRESETS)}")
        return name

    @field_validator("goals")
    @classmethod
    def goals_fit(cls, goals: tuple[GoalSpec, ...], info: ValidationInfo) -> tuple[GoalSpec, ...]:
        if "preset" in info.data:
            _check_together([goal.completed(PRESETS[info.data["preset"]]) for goal in goals])
        return goals

    @model_validator(mode="after")
    def loads_leave_room(self) -> Self:
        if self.max_load_pps is not None and self.max_load_pps <= self.min_load_pps:
            raise ValueError(f"max_load_pps ({self.max_load_pps}) must be above min_load_pps ({self.min_load_pps})")
        return self

    def resolved(self, quick: bool = False) -> "Search":
        """Return the search with all its attributes.

        Args:
            quick: take the preset's form for laptops; attributes that the file gives stay as they are.

        Raises:
            ValueError: the file's goals do not fit the quick preset.
        """
        preset = PRESETS[quick_name(self.preset) if quick else self.preset]
        goals = tuple(goal.completed(preset) for goal in self.goals) or preset.goals
        _check_together(goals)
        own = {key: getattr(self, key) for key in ("time_limit_s", "warmup_s", "placement_wait_s")}
        return Search(
            preset=preset.name,
            changed=_changes(goals, preset),
            goals=goals,
            min_load_pps=self.min_load_pps,
            max_load_pps=self.max_load_pps,
            late_ratio=self.late_ratio,
            stolen_factor=self.stolen_factor,
            trial_overhead_s=self.trial_overhead_s,
            **{key: getattr(preset, key) if value is None else value for key, value in own.items()},
        )


class Search(SpecModel):
    """A search with all its attributes, as it is run and stored."""

    preset: str
    changed: tuple[str, ...] = ()
    """Goals' attributes that are not the preset's: `NDR.relative_width`; a goal that the preset lacks or that is left
    out, by its name."""
    goals: tuple[Goal, ...] = Field(min_length=1)
    time_limit_s: float
    min_load_pps: int
    max_load_pps: int | None
    warmup_s: float
    late_ratio: float = LATE_RATIO
    stolen_factor: float = STOLEN_FACTOR
    trial_overhead_s: float
    placement_wait_s: float

    @property
    def label(self) -> str:
        """The name under which results are shown: `csit`, `csit-quick`, `csit (changed: NDR.relative_width)`."""
        return f"{self.preset} (changed: {', '.join(self.changed)})" if self.changed else self.preset

    @property
    def final_trial_duration_s(self) -> float:
        """The longest trials of any goal."""
        return max(goal.final_trial_duration_s for goal in self.goals)


def quick_name(preset: str) -> str:
    """Return the name of a preset's form for laptops."""
    return preset if preset.endswith(QUICK) else preset + QUICK


def _check_together(goals: list[Goal] | tuple[Goal, ...]) -> None:
    for index, goal in enumerate(goals):
        for other in goals[:index]:
            if goal.name == other.name:
                raise ValueError(f"two goals are named {goal.name}")
            if goal.model_copy(update={"name": other.name}) == other:
                raise ValueError(f"goals {other.name} and {goal.name} are the same; change an attribute of one")


def _changes(goals: tuple[Goal, ...], preset: SearchPreset) -> tuple[str, ...]:
    known = {goal.name: goal for goal in preset.goals}
    changed = []
    for goal in goals:
        if goal.name not in known:
            changed.append(goal.name)
            continue
        keys = (key for key in Goal.model_fields if getattr(goal, key) != getattr(known[goal.name], key))
        changed += [f"{goal.name}.{key}" for key in keys]
    left_out = [name for name in known if name not in {goal.name for goal in goals}]
    return tuple(changed + [f"no {name}" for name in left_out])


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


def _preset(name: str, source: str, goals: tuple[Goal, ...], limits_s: tuple[float, float, float]) -> SearchPreset:
    """Make a preset; the limits are the search's, its warm-up, and the wait for a placement class."""
    time_limit, warmup, wait = limits_s
    return SearchPreset(
        name=name, source=source, goals=goals, time_limit_s=time_limit, warmup_s=warmup, placement_wait_s=wait
    )


_RFC2544 = "RFC 2544 section 24; RFC 9971, MLRsearch Compliant with RFC 2544"
_TST009 = "ETSI GS NFV-TST 009 clause 12.3.3, max(r) = 2, z unlimited; RFC 9971, MLRsearch Compliant with TST009"
_CSIT = "FD.io CSIT, RFC 9971"
_LAPTOP = "for laptops, after "
PRESETS: Mapping[str, SearchPreset] = MappingProxyType(
    {
        preset.name: preset
        for preset in (
            _preset("rfc2544", _RFC2544, (_goal(NDR, 0.0, 0.005, (1, 60, 60)),), (3600, 1, 600)),
            _preset("tst009", _TST009, (_goal(NDR, 0.5, 0.005, (1, 60, 120)),), (5400, 1, 600)),
            _preset("csit", _CSIT, tuple(_goal(n, 0.5, 0.005, (1, 1, 21)) for n in (NDR, PDR)), (1200, 1, 120)),
            _preset("rfc2544-quick", _LAPTOP + _RFC2544, (_goal(NDR, 0.0, 0.01, (0.25, 2, 2)),), (120, 0.5, 30)),
            _preset("tst009-quick", _LAPTOP + _TST009, (_goal(NDR, 0.5, 0.01, (0.25, 2, 4)),), (180, 0.5, 30)),
            _preset(
                "csit-quick",
                _LAPTOP + _CSIT,
                tuple(_goal(n, 0.5, 0.01, (0.25, 0.25, 2.75)) for n in (NDR, PDR)),
                (120, 0.5, 30),
            ),
        )
    }
)
