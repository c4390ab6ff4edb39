"""How long VNFs took to onboard on each variant, until the first frame came through them."""

from collections.abc import Iterable, Sequence
from statistics import median

from nfvbed.records import CellRole, FactRecord, Record

_ONBOARD = "onboard."
_FIRST_FRAME = "first-frame"


class StepTime(Record):
    """How long one step took, in ns."""

    step: str
    """Without `onboard.`; of a VNF: `vnf1.create`."""
    median_ns: float
    low_ns: int
    """Shortest."""
    high_ns: int
    """Longest."""
    count: int


class OnboardingTime(Record):
    """The VNFs of one path on one variant."""

    variant: str
    topology: str
    vnf: str
    """Label of the VNFs."""
    first_frame: StepTime
    """From when they were asked for."""
    steps: tuple[StepTime, ...]
    """What was timed of it, in the order in which it was done; steps may be parts of others."""


def onboarding_times(facts: Sequence[FactRecord]) -> tuple[OnboardingTime, ...]:
    """Return the times of each variant and path whose VNFs were waited for until frames came through them.

    Args:
        facts: timed steps of one or several runs; ceilings are left out.
    """
    groups: dict[tuple[str, str, str], dict[str, list[int]]] = {}
    for fact in facts:
        if fact.step.startswith(_ONBOARD) and fact.detail.get("role") == CellRole.SUBJECT.value:
            variant, topology, vnf = (str(fact.detail.get(key, "")) for key in ("variant", "topology", "vnf"))
            steps = groups.setdefault((variant, topology, vnf), {})
            steps.setdefault(fact.step.removeprefix(_ONBOARD), []).append(fact.duration_ns)
    return tuple(
        OnboardingTime(
            variant=variant,
            topology=topology,
            vnf=vnf,
            first_frame=_time(_FIRST_FRAME, steps[_FIRST_FRAME]),
            steps=tuple(_time(step, times) for step, times in steps.items() if step != _FIRST_FRAME),
        )
        for (variant, topology, vnf), steps in groups.items()
        if _FIRST_FRAME in steps
    )


def _time(step: str, times_ns: Iterable[int]) -> StepTime:
    found = sorted(times_ns)
    return StepTime(step=step, median_ns=median(found), low_ns=found[0], high_ns=found[-1], count=len(found))
