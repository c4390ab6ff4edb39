"""Throughput searches as files declare them: a preset, and what is to differ from it.

Attributes and their names are those of the Search Goal in RFC 9971 (MLRsearch).
"""

from typing import Any, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from nfvbed.spec.model import SpecModel
from nfvbed.spec.searchpresets import (
    CLEAN_LIMIT_S,
    CSIT,
    GOAL_NAME,
    LATE_RATIO,
    PRESET_KEYS,
    PRESETS,
    QUICK,
    Goal,
    SearchPreset,
    Trials,
)
from nfvbed.spec.validate import suggestion


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

    def completed(self, preset: SearchPreset) -> Goal:
        """Fill in from a preset what was left out.

        Raises:
            ValueError: the attributes do not fit together.
        """
        base = next((goal for goal in preset.goals if goal.name == self.name), preset.goals[0])
        given = {key: value for key, value in self.model_dump().items() if value is not None}
        return Goal(**{**base.model_dump(), **given})


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
    trials: Trials | None = None
    """Trials that count: `all`, with nothing excluded, or `clean`, those in which the generator and the system were not
    kept from their cores, whatever they lost (ADR 0026); None: the preset's."""
    clean_limit_s: float = Field(CLEAN_LIMIT_S, gt=0, le=1)
    """Time that the generator's loop may be held up in a clean trial, and that each thread of the system may be kept
    from its core, s."""
    late_ratio: float | None = Field(None, ge=0, lt=1)
    """Largest part of its frames that the generator may leave out, with nothing pushing back; a trial with more is
    measured again. What it left out within that is not lost, and the reported throughput is lower by it (ADR 0009).
    None: the preset's; of `all` trials late frames are missing frames, and none is measured again."""
    stolen_factor: float | None = Field(None, ge=0, le=10)
    """Factor on the time that others, or the hypervisor, kept the system's threads from their cores: a trial above a
    goal's loss ratio that lost no more frames than were due in so long is measured again, which flatters the system
    (ADR 0010, ADR 0026); 0: never; None: the preset's, which is 0."""
    drain_s: float | None = Field(None, ge=0, le=10)
    """Longest wait for frames after the last one was sent, s; None: the preset's."""
    rest_s: float | None = Field(None, ge=0, le=600)
    """Pause between two trials, s; None: the preset's."""
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
        given = {key: getattr(self, key) for key in PRESET_KEYS if getattr(self, key) is not None}
        kept = {key: getattr(preset, key) for key in PRESET_KEYS} | _with_rule(self.trials, preset)
        changed = [key for key, value in given.items() if key != "trials" and value != kept[key]]
        changed += ["clean_limit_s"] if self.clean_limit_s != CLEAN_LIMIT_S else []
        return Search(
            preset=preset.name,
            changed=(*_changes(goals, preset), *changed),
            goals=goals,
            min_load_pps=self.min_load_pps,
            max_load_pps=self.max_load_pps,
            clean_limit_s=self.clean_limit_s,
            trial_overhead_s=self.trial_overhead_s,
            **(kept | given),
        )


class Search(SpecModel):
    """A search with all its attributes, as it is run and stored."""

    preset: str
    changed: tuple[str, ...] = ()
    """What is not the preset's: attributes of goals, `NDR.relative_width`; a goal that the preset lacks or that is left
    out, by its name; keys of the search. Which trials count is in the label by itself."""
    goals: tuple[Goal, ...] = Field(min_length=1)
    time_limit_s: float
    min_load_pps: int
    max_load_pps: int | None
    warmup_s: float
    trials: Trials = "all"
    clean_limit_s: float = CLEAN_LIMIT_S
    late_ratio: float | None = LATE_RATIO
    """None: late frames are missing frames."""
    stolen_factor: float = 0.0
    trial_overhead_s: float
    placement_wait_s: float
    drain_s: float | None = None
    """None: as long as the generator waits by itself."""
    rest_s: float = 0.0

    @property
    def label(self) -> str:
        """The name under which results are shown: `rfc2544`, `csit (clean 1 s trials; changed: NDR.relative_width)`."""
        return self.labelled()

    def labelled(self, void: str = "") -> str:
        """Return the label of a result.

        Args:
            void: says how many trials were void, where only clean ones count; empty: not known yet.
        """
        said = []
        if self.trials == "clean":
            said.append(f"clean {self.final_trial_duration_s:g} s trials" + (f", {void}" if void else ""))
        elif self.is_as_delivered:
            said.append("as delivered")
        elif self.preset in PRESETS and PRESETS[self.preset].trials != self.trials:
            said.append("all trials")
        said += [f"changed: {', '.join(self.changed)}"] if self.changed else []
        return f"{self.preset} ({'; '.join(said)})" if said else self.preset

    @property
    def is_as_delivered(self) -> bool:
        """Whether it takes the host as it is, and so is one sample of it; a document's preset is that document's."""
        excluding = self.trials == "clean" or self.late_ratio is not None or self.stolen_factor
        return self.preset.startswith(CSIT) and not excluding

    @property
    def excludes(self) -> tuple[str, ...]:
        """What does not count, as RFC 9971 asks a report to say; nothing: empty."""
        found = []
        if self.trials == "clean":
            found.append(
                f"trials in which the generator's loop was held up, or a thread of the system was kept from its core,"
                f" for more than {self.clean_limit_s * 1e6:g} us, whatever they lost"
            )
        if self.late_ratio is not None:
            found.append(
                f"frames that the generator was late with, up to {self.late_ratio:.1%} of a trial, and trials with more"
            )
        if self.stolen_factor:
            found.append(f"trials that lost no more than was due in {self.stolen_factor:g} times the stolen time")
        return tuple(found)

    def with_trials_of(self, shortest_s: float) -> "Search":
        """Return the search with no shorter trials than these."""
        return self.model_copy(update={"goals": tuple(_lengthened(goal, shortest_s) for goal in self.goals)})

    @property
    def final_trial_duration_s(self) -> float:
        """The longest trials of any goal."""
        return max(goal.final_trial_duration_s for goal in self.goals)


def quick_name(preset: str) -> str:
    """Return the name of a preset's form for laptops."""
    return preset if preset.endswith(QUICK) else preset + QUICK


def _lengthened(goal: Goal, shortest_s: float) -> Goal:
    final = max(goal.final_trial_duration_s, shortest_s)
    return goal.model_copy(
        update={
            "initial_trial_duration_s": max(goal.initial_trial_duration_s, shortest_s),
            "final_trial_duration_s": final,
            "duration_sum_s": max(goal.duration_sum_s, final),
        }
    )


def _with_rule(trials: Trials | None, preset: SearchPreset) -> dict[str, Any]:
    """Return the attributes that go with a rule for trials that is not the preset's."""
    if trials in (None, preset.trials):
        return {}
    return {"trials": trials, "late_ratio": LATE_RATIO if trials == "clean" else None}


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
