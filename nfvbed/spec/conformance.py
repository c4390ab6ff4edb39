"""The claims that a throughput search may make of each standard, from its goals; and other deviations.

The levels are those of RFC 2544 section 3. A result is *unconditionally* compliant where it has all that a standard
asks for and all that it recommends, *conditionally* where it has all that it asks for. What is asked of a goal, and
what is recommended, is as RFC 9971 says under "MLRsearch Compliant with RFC 2544" and "... with TST009". Levels are of
goals; what the set-up and the trials do otherwise is told beside them, as RFC 9971 asks of a report.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import isclose
from types import MappingProxyType
from typing import Any, Final

from nfvbed.records.words import GeneratorPlace
from nfvbed.spec.model import SpecModel
from nfvbed.spec.search import Search
from nfvbed.spec.searchpresets import LOSS_RATIO_OF, PRESETS, Goal

FULL_TRIAL_S: Final = 60.0
"""RFC 2544 section 24: trials SHOULD last at least so long."""
DRAIN_S: Final = 2.0
REST_S: Final = 5.0
"""RFC 2544 section 23: the wait for the last frames, and until the next trial."""
RECOMMENDED_EXCEED_RATIO: Final = 0.5


class Standard(StrEnum):
    """A standard that a search may conform to."""

    RFC2544 = "RFC 2544 section 24"
    TST009 = "ETSI TST 009 clause 12.3.3"
    CSIT = "FD.io CSIT"
    RFC9971 = "RFC 9971"


class Level(StrEnum):
    """The level of conformance."""

    UNCONDITIONAL = "unconditional"
    CONDITIONAL = "conditional"
    NONE = "none"


class Conformance(SpecModel):
    """The claim of one search goal for one standard."""

    standard: Standard
    level: Level
    reasons: tuple[str, ...] = ()
    """Why it is not higher."""

    def __str__(self) -> str:
        """Write it in a line."""
        why = f" ({'; '.join(self.reasons)})" if self.reasons else ""
        return f"{self.standard.value}: {self.level.value}{why}"


@dataclass(frozen=True)
class _Deviation:
    """The parts of a standard that a goal does not meet."""

    asked: tuple[str, ...]
    recommended: tuple[str, ...]


def conformance(what: Search, goal: Goal, irregularity: str = "") -> tuple[Conformance, ...]:
    """Return what a goal of a search may claim of each standard.

    Args:
        goal: one of its goals, of any origin: presets are judged as any other.
        irregularity: why there is no regular result; empty: there is one, or it is not known yet.
    """
    return tuple(_judged(standard, judge(what, goal), irregularity) for standard, judge in _JUDGES.items())


def deviations(what: Search, place: GeneratorPlace, directions: int) -> tuple[str, ...]:
    """Return what set-up and trials do otherwise than the standards say, whatever the goals are.

    Args:
        directions: in which frames are sent: 1 or 2.
    """
    waited = "as the generator does by itself" if what.drain_s is None else f"{what.drain_s:g} s"
    drained = what.drain_s is not None and what.drain_s >= DRAIN_S
    found = {
        _PLACES[place]: place is not GeneratorPlace.OTHER_HOST,
        "frames go one way (RFC 2544 section 14: both)": directions < 2,
        f"no pause after learning frames, not {DRAIN_S:g} s (section 23 b)": True,
        f"last frames waited for {waited}, not {DRAIN_S:g} s (section 23 d)": not drained,
        f"{what.rest_s:g} s between trials, not {REST_S:g} s (section 23 e)": what.rest_s < REST_S,
        "loads are no steps (TST 009, Offered Load Step Size)": any(
            one.level is not Level.NONE
            for goal in what.goals
            for one in conformance(what, goal)
            if one.standard is Standard.TST009
        ),
    }
    return tuple(text for text, deviates in found.items() if deviates)


def stated(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored search's result with its conformance, as it is judged now.

    Args:
        payload: in the form of `search/result.py`.
    """
    what = Search.model_validate(payload["search"])
    place = GeneratorPlace(payload.get("generator_place", GeneratorPlace.NOT_KNOWN))
    goals = [
        {
            **goal,
            "conformance": [
                one.model_dump(mode="json")
                for one in conformance(what, Goal.model_validate(goal["goal"]), goal.get("irregularity") or "")
            ],
        }
        for goal in payload["goals"]
    ]
    return {**payload, "goals": goals, "deviations": list(deviations(what, place, payload["directions"]))}


def applicable(found: Iterable[Conformance], preset: str) -> tuple[Conformance, ...]:
    """Return the claims that say something of a search: what it conforms to, and what its preset's name promises."""
    expected = next((standard for name, standard in _EXPECTED.items() if preset.startswith(name)), None)
    return tuple(
        one
        for one in found
        if one.standard is expected or (one.level is not Level.NONE and one.standard is not Standard.CSIT)
    )


def _judged(standard: Standard, found: _Deviation, irregularity: str) -> Conformance:
    asked = found.asked
    if irregularity and standard is not Standard.RFC9971:
        # RFC 9971 has irregular results, which are marked; the others have none.
        asked = (f"no regular result: {irregularity}", *asked)
    if asked:
        return Conformance(standard=standard, level=Level.NONE, reasons=asked)
    if found.recommended:
        return Conformance(standard=standard, level=Level.CONDITIONAL, reasons=found.recommended)
    return Conformance(standard=standard, level=Level.UNCONDITIONAL)


def _said(lacks: Mapping[str, bool]) -> tuple[str, ...]:
    return tuple(text for text, is_lacking in lacks.items() if is_lacking)


def _left_out(what: Search) -> dict[str, bool]:
    return {"trials or frames are left out": bool(what.excludes)}


def _short(goal: Goal) -> dict[str, bool]:
    final = goal.final_trial_duration_s
    return {f"final trials of {final:g} s, not at least {FULL_TRIAL_S:g} s": final < FULL_TRIAL_S}


def _rfc2544(what: Search, goal: Goal) -> _Deviation:
    asked = {
        f"loss ratio {goal.loss_ratio:g}, not 0": goal.loss_ratio > 0,
        f"exceed ratio {goal.exceed_ratio:g}, not 0": goal.exceed_ratio > 0,
    }
    return _Deviation(_said(asked | _left_out(what)), _said(_short(goal)))


def _tst009(what: Search, goal: Goal) -> _Deviation:
    tries = round(goal.duration_sum_s / goal.final_trial_duration_s)
    whole = tries > 1 and isclose(tries * goal.final_trial_duration_s, goal.duration_sum_s)
    one_of_them = whole and isclose(goal.exceed_ratio, 1 - 1 / tries)
    asked = {
        f"loss ratio {goal.loss_ratio:g}, not 0": goal.loss_ratio > 0,
        f"sum {goal.duration_sum_s:g} s and exceed ratio {goal.exceed_ratio:g} do not make one of several trials of"
        f" {goal.final_trial_duration_s:g} s enough": not one_of_them,
    }
    return _Deviation(_said(asked | _left_out(what)), _said(_short(goal)))


def _csit(what: Search, goal: Goal) -> _Deviation:
    known = {one.loss_ratio: one for one in PRESETS["csit"].goals}
    like = known.get(goal.loss_ratio, PRESETS["csit"].goals[0])
    ratios = " or ".join(f"{ratio:g}" for ratio in LOSS_RATIO_OF.values())
    asked = {
        f"loss ratio {goal.loss_ratio:g}, not {ratios}": goal.loss_ratio not in known,
        f"exceed ratio {goal.exceed_ratio:g}, not {like.exceed_ratio:g}": goal.exceed_ratio != like.exceed_ratio,
    }
    words = {
        "final_trial_duration_s": "final trials of {} s, not {} s",
        "duration_sum_s": "sum {} s, not {} s",
        "relative_width": "width {}, not {}",
    }
    recommended = {
        text.format(f"{getattr(goal, key):g}", f"{getattr(like, key):g}"): getattr(goal, key) != getattr(like, key)
        for key, text in words.items()
    }
    return _Deviation(_said(asked | _left_out(what)), _said(recommended))


def _rfc9971(what: Search, goal: Goal) -> _Deviation:
    """Judge a goal by what RFC 9971 recommends: every search here has what it requires."""
    short_of_trials = (what.drain_s or 0.0) < DRAIN_S or what.rest_s < REST_S
    recommended = {
        f"exceed ratio {goal.exceed_ratio:g}, not {RECOMMENDED_EXCEED_RATIO:g}": (
            goal.exceed_ratio != RECOMMENDED_EXCEED_RATIO
        ),
        f"width {goal.relative_width:g} below the loss ratio": goal.relative_width < goal.loss_ratio,
        "goals with final trials of different lengths": len({one.final_trial_duration_s for one in what.goals}) > 1,
        "trials or frames are left out": bool(what.excludes),
        "pauses around trials are shorter than RFC 2544 section 23 has them": short_of_trials,
        "no pause after learning frames": not short_of_trials,
    }
    return _Deviation((), _said(recommended))


_JUDGES: Final[Mapping[Standard, Callable[[Search, Goal], _Deviation]]] = MappingProxyType(
    {
        Standard.RFC2544: _rfc2544,
        Standard.TST009: _tst009,
        Standard.CSIT: _csit,
        Standard.RFC9971: _rfc9971,
    }
)
_EXPECTED: Final = MappingProxyType({"rfc2544": Standard.RFC2544, "tst009": Standard.TST009, "csit": Standard.CSIT})
"""By how the name of a preset begins."""
_PLACES: Final[Mapping[GeneratorPlace, str]] = MappingProxyType(
    {
        GeneratorPlace.SAME_HOST: ("generator and system under test on one host (RFC 2544 section 6: a tester apart)"),
        GeneratorPlace.OTHER_HOST: "the generator has a host of its own",
        GeneratorPlace.SIMULATED: "simulated: no frame was sent",
        GeneratorPlace.NOT_KNOWN: (
            "not known whether the generator has a host of its own (RFC 2544 section 6: a tester apart)"
        ),
    }
)
