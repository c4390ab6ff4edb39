"""What a search found, with everything that RFC 9971 asks a report to state."""

from typing import Any

from pydantic import Field, model_validator

from nfvbed.records import GeneratorPlace, Record
from nfvbed.search.stop import Irregularity
from nfvbed.search.voidsummary import VoidSummary
from nfvbed.spec.conformance import Conformance, conformance, deviations
from nfvbed.spec.search import Search
from nfvbed.spec.searchpresets import Goal

SEARCH_FORMAT = 1
LOAD_UNIT = "frames/s"


class LoadRange(Record):
    """The loads that a search may try, frames/s over all directions."""

    min_load_pps: int = Field(ge=1)
    max_load_pps: int = Field(ge=2)
    limit: Irregularity = Irregularity.MAX_LOAD
    """Limit that sets the largest load, and so the reason why a result that reaches it is irregular."""


class Bound(Record):
    """A load that was classified for a goal, with the trials that did it. Loads and frames are of all directions."""

    load_pps: int
    trials: int
    bad_trials: int
    """Above the goal's loss ratio."""
    good_s: float
    """Seconds of trials within the goal's loss ratio, short ones among them."""
    bad_s: float
    intended_frames: int
    """Late ones are not among them."""
    late_frames: int = 0
    """Left out by a generator that was kept from its core; the system was not asked for them."""
    missing_late_frames: int = 0
    """The same where nothing is excluded: they are among the missing ones."""
    lost_frames: int
    """Sent and not received."""
    unsent_frames: int
    back_pressure_trials: int
    """In which a port refused frames."""
    full_generator_trials: int
    """Bad ones in which the generator had nothing left while the system under test had."""
    generator_trials: int
    """Bad ones that the generator, not the system under test, made bad."""
    late_trials: int = 0
    """Bad ones in which late frames alone, where they are missing ones, are above the loss ratio, and no fewer than
    those that were sent and lost."""
    void_trials: int = 0
    """Measured again at this load, by a rule that never looks at loss."""

    @property
    def late_ratio(self) -> float:
        """Late over all intended frames: so much less than the load was offered."""
        every = self.intended_frames + self.late_frames
        return self.late_frames / every if every else 0.0


class GoalResult(Record):
    """What is known for one goal. Irregular results are marked, and their figures are not a throughput."""

    goal: Goal
    irregularity: Irregularity | None = None
    """None: the result is regular."""
    explanation: str = ""
    """What was observed, where the result is irregular."""
    conditional_throughput_pps: int | None = None
    """Forwarded at the relevant lower bound; the headline. None without such a bound."""
    lower_bound: Bound | None = None
    """Relevant lower bound; without an upper bound the effective one."""
    upper_bound: Bound | None = None
    """Relevant upper bound."""
    conformance: tuple[Conformance, ...] = ()
    """What it may claim of each standard, derived from the goal; of an irregular result nothing of most."""

    @property
    def regular(self) -> bool:
        """Whether both bounds exist, come as close as the goal asks, and are the system's own."""
        return self.irregularity is None

    @property
    def relative_width(self) -> float | None:
        """Distance of the bounds, as a part of the upper one; None where one is missing."""
        if self.lower_bound is None or self.upper_bound is None:
            return None
        return 1 - self.lower_bound.load_pps / self.upper_bound.load_pps


class PlacementSummary(Record):
    """In which placement class a search ran, and what that cost."""

    label: str
    """The class of all trials that were used; several, joined by `+`, only where the search ended for it."""
    rejected_trials: int
    """Measured again: of another class, or of several."""
    changed_trials: int
    """Those of them within which the class changed."""
    changes_per_trial: float
    """Estimated changes of class within a trial of final length."""


class SearchResult(Record):
    """What one search found."""

    format: int = SEARCH_FORMAT
    search: Search
    """All attributes, those of the goals among them."""
    label: str
    """The preset, which trials count, how many were void, and what was changed."""
    excludes: tuple[str, ...] = ()
    """What does not count; empty: nothing is excluded, or the result is of a version that did not say."""
    loads: LoadRange
    unit: str = LOAD_UNIT
    directions: int
    """All loads and rates are sums over so many directions; divided by it they are those of one interface."""
    goals: tuple[GoalResult, ...]
    """In the order of the search's."""
    stopped: Irregularity | None = None
    """Why the search as a whole ended early; None: it ended by itself."""
    explanation: str = ""
    trials: int
    """Those used; the warm-up and rejected ones are not among them."""
    disturbed_trials: int = 0
    """Measured again: the generator left out more frames than the search allows."""
    stolen_trials: int = 0
    """Measured again: what they lost was due while the system's threads were kept from their cores."""
    surplus_trials: int = Field(default=0, exclude_if=lambda value: not value)
    """Used trials that counted more frames back than were sent: the path may double frames at any load."""
    relative_to: str | None = None
    """Cell of testpmd in the switch's place whose search of the same round this one's is divided by; None: none."""
    void: VoidSummary | None = None
    """Where only clean trials count."""
    trial_time_s: float
    """Seconds of traffic of all trials, rejected ones and the warm-up among them."""
    duration_s: float
    """Time of the search, everything included."""
    placement: PlacementSummary
    generator_place: GeneratorPlace = GeneratorPlace.NOT_KNOWN
    """Where the generator was; not known of a version that did not say."""
    deviations: tuple[str, ...] = ()
    """What set-up and trials did otherwise than the standards describe it, as RFC 9971 asks a report to say."""

    @model_validator(mode="before")
    @classmethod
    def says_what_it_conforms_to(cls, values: Any) -> Any:
        """Derive it, whatever made or stored the result: from the goals, which each has."""
        if not isinstance(values, dict) or not {"search", "goals", "directions"} <= values.keys():
            return values
        what = Search.model_validate(values["search"])
        place = GeneratorPlace(values.get("generator_place", GeneratorPlace.NOT_KNOWN))
        return {
            **values,
            "goals": tuple(_judged(what, GoalResult.model_validate(goal)) for goal in values["goals"]),
            "deviations": deviations(what, place, values["directions"]),
        }

    @property
    def regular(self) -> bool:
        """Whether all goals have regular results."""
        return all(goal.regular for goal in self.goals)

    @property
    def nothing_came(self) -> str:
        """Return a sentence where no frame came back, for any goal; empty: some did."""
        silent = [goal for goal in self.goals if goal.irregularity is Irregularity.NOTHING_CAME_BACK]
        return silent[0].explanation if len(silent) == len(self.goals) else ""

    @property
    def left_out(self) -> tuple[str, ...]:
        """What does not count, also of a result of a version that did not say; empty: nothing is left out."""
        return self.excludes or self.search.excludes

    def of(self, name: str) -> GoalResult:
        """Return the result of a goal, by its name.

        Raises:
            KeyError: there is no such goal.
        """
        found = {result.goal.name: result for result in self.goals}
        return found[name]


def _judged(what: Search, found: GoalResult) -> GoalResult:
    irregularity = "" if found.irregularity is None else found.irregularity.value
    return found.model_copy(update={"conformance": conformance(what, found.goal, irregularity)})
