"""Switching from variant to variant: whether each works as the doctor says, leaves nothing, and how long it takes."""

import time
from collections.abc import Callable, Sequence
from statistics import median

from nfvbed.compare.agreement import VariantOutcome, disagreements
from nfvbed.errors import BusyError, NfvbedError
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.footprint import Footprint
from nfvbed.measure.trace import TraceReport, run_trace
from nfvbed.records import Deployment, Hop, Record, Support, VnfKind
from nfvbed.records.readings import Part, available
from nfvbed.sites.site import Site
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.generator import Generator
from nfvbed.units import NS_PER_S
from nfvbed.vnfs.readiness import wait_until_forwarding

FRAMES = 1_000
"""Sent in each direction once a first frame has come through."""
FRAME_SIZE_BYTES = 64
FIRST_FRAMES = 4
FIRST_FRAME_TIMEOUT_S = 20.0
NANOSECONDS = Callable[[], int]


class Candidate(Record):
    """A variant as it is to be deployed."""

    variant: Variant
    topology: str
    vnf: VnfChoice | None = None
    """Its VNFs; None where the topology has none."""
    support: Support
    """What the doctor says of it."""

    @property
    def boots(self) -> bool:
        """Whether a virtual machine is booted for it."""
        return self.vnf is not None and self.vnf.kind is VnfKind.VM


class Visit(Record):
    """One variant's deployment in one pass over all variants."""

    number: int
    """Number of the pass, from 1."""
    variant: str
    topology: str
    worked: bool
    """Whether frames came through."""
    reason: str = ""
    """Why none did."""
    complete: bool = False
    """Whether each of the frames that were sent came through, in both directions."""
    received: tuple[int, ...] = ()
    """Frames by direction."""
    exact: bool = True
    """Whether as many were sent as asked for; a generator that is kept from its core sends fewer."""
    lost_at: str = ""
    deploy_ns: int = 0
    """From the call to the first frame that came through, the generator's start included."""
    destroy_ns: int = 0
    switch_ns: int | None = None
    """The last variant's destruction and this one's deployment until its first frame; None: there was none before."""
    steps: tuple[tuple[str, int], ...] = ()
    """Times of the deployment, of the generator's start, and of the wait for the first frame, ns."""
    left: tuple[str, ...] = ()
    """What was left after its destruction and not before the loop."""


class SwitchLoopReport(Record):
    """The visits of all passes of a loop, and the problems that were found."""

    visits: tuple[Visit, ...]
    problems: tuple[str, ...]
    """Empty: each variant gave the same in each pass, left nothing, and did what the doctor says."""

    def times_s(self, variant: str) -> list[float]:
        """Return the times to switch to a variant, seconds, sorted."""
        own = [visit.switch_ns for visit in self.visits if visit.variant == variant and visit.worked]
        return sorted(time_ns / NS_PER_S for time_ns in own if time_ns is not None)

    def median_s(self, variant: str) -> float | None:
        """Return the median of them; None where there is none."""
        times = self.times_s(variant)
        return median(times) if times else None


class SwitchLoop:
    """Deploys variants one after another and looks at what each leaves.

    Args:
        site: where it deploys; its host is taken already, so that what appears is the loop's.
        before: what was on the host then.
        heard: is called with each visit as it ends.
        clock: nanoseconds.
    """

    def __init__(
        self,
        site: Site,
        before: Footprint,
        heard: Callable[[Visit], None] = lambda _: None,
        clock: NANOSECONDS = time.monotonic_ns,
    ) -> None:
        self._site = site
        self._before = before
        self._heard = heard
        self._clock = clock
        self._last_destroy_ns: int | None = None

    def run(self, candidates: Sequence[Candidate], passes: int) -> SwitchLoopReport:
        """Deploy all variants in turn, also those that the doctor calls unsupported: they are tried, and must not work.

        Every other pass goes backwards, so that a variant follows another one.

        Raises:
            BusyError: the host is another nfvbed's.
        """
        visits: list[Visit] = []
        for number in range(1, passes + 1):
            ordered = list(candidates) if number % 2 else list(reversed(candidates))
            for candidate in ordered:
                visit = self._visit(candidate, number)
                visits.append(visit)
                self._heard(visit)
        return SwitchLoopReport(visits=tuple(visits), problems=problems(visits, [c.support for c in candidates]))

    def _visit(self, candidate: Candidate, number: int) -> Visit:
        """Deploy one variant, send frames through it, take it down, look."""
        found = Visit(number=number, variant=candidate.variant.name, topology=candidate.topology, worked=False)
        before_ns = self._last_destroy_ns
        try:
            found = self._through(candidate, found)
        except BusyError:
            raise
        except NfvbedError as error:
            found = found.model_copy(update={"reason": str(error).splitlines()[0], "worked": False})
        if found.worked and before_ns is not None:
            found = found.model_copy(update={"switch_ns": before_ns + found.deploy_ns})
        return found.model_copy(update={"left": tuple(self._before.left_behind())})

    def _through(self, candidate: Candidate, found: Visit) -> Visit:
        began = self._clock()
        steps = Steps()
        deployment = self._site.deploy(candidate.variant, candidate.topology, vnf=candidate.vnf)
        try:
            with steps.timed("generator"):
                generator = self._site.open_generator(deployment)
            try:
                with steps.timed("first-frame"):
                    self._wait(generator, deployment)
                deploy_ns = self._clock() - began
                report = run_trace(self._site, deployment, generator, FRAME_SIZE_BYTES, FRAMES)
            finally:
                closing = self._clock()
                generator.close()
        except BaseException:
            self._site.destroy(deployment)
            raise
        self._site.destroy(deployment)
        self._last_destroy_ns = destroy_ns = self._clock() - closing
        times = {"deploy_ns": deploy_ns, "destroy_ns": destroy_ns, "steps": (*deployment.steps, *steps.done)}
        return found.model_copy(update=times | _seen(report))

    def _wait(self, generator: Generator, deployment: Deployment) -> None:
        def hops() -> tuple[Hop, ...]:
            return available(self._site.look(deployment, Part.HOPS).hops) or ()

        watch = (hops, lambda: self._site.verify(deployment))
        wait_until_forwarding(generator, FIRST_FRAMES, FIRST_FRAME_TIMEOUT_S, watch, deployment)


def topology_for(variant: Variant, wanted: Sequence[str]) -> str:
    """Return the first of some topologies that a variant has; empty where it has none of them."""
    return next((name for name in wanted if not variant.lacks(name) and not layout(name).one_way), "")


def problems(visits: Sequence[Visit], supports: Sequence[Support]) -> tuple[str, ...]:
    """Return what is wrong: left-overs, passes that differ, lost frames, and where the doctor is not right."""
    found = [f"{visit.variant}, pass {visit.number}: left behind {text}" for visit in visits for text in visit.left]
    for name in dict.fromkeys(visit.variant for visit in visits):
        own = [visit for visit in visits if visit.variant == name]
        # A pass in which fewer were sent than asked for says nothing of how many come through.
        counts = {visit.received for visit in own if visit.exact}
        if len({(visit.worked, visit.complete) for visit in own}) > 1 or len(counts) > 1:
            found.append(f"{name}: the passes differ: {'; '.join(_said(visit) for visit in own)}")
        found += [
            f"{name}, pass {visit.number}: frames were lost at {visit.lost_at}"
            for visit in own
            if visit.worked and not visit.complete
        ]
    return (*found, *disagreements(supports, outcomes(visits)))


def outcomes(visits: Sequence[Visit]) -> list[VariantOutcome]:
    """Return what became of each variant: it works where it worked in all passes."""
    found = []
    for name in dict.fromkeys(visit.variant for visit in visits):
        bad = [visit for visit in visits if visit.variant == name and not visit.worked]
        found.append(VariantOutcome(variant=name, worked=not bad, reason=bad[0].reason if bad else ""))
    return found


def unlike_manifest(supports: Sequence[Support], manifest: dict[str, str]) -> tuple[str, ...]:
    """Return a sentence for each variant whose readiness by the doctor is not that of a manifest.

    Args:
        manifest: readiness by variant.
    """
    return tuple(
        f"{support.variant}: the doctor says {support.readiness.value}, the manifest "
        f"{manifest.get(support.variant, 'nothing')}"
        for support in supports
        if manifest.get(support.variant) != support.readiness.value
    )


def _seen(report: TraceReport) -> dict[str, object]:
    lost = next((direction for direction in report.directions if not direction.complete), None)
    received = tuple(direction.received for direction in report.directions)
    return {
        "worked": all(received),
        "complete": report.complete,
        "received": received,
        "exact": all(direction.sent == direction.frames for direction in report.directions),
        "lost_at": (lost.lost_at or "") if lost else "",
        "reason": "" if all(received) else "no frame came through",
    }


def _said(visit: Visit) -> str:
    if not visit.worked:
        return f"pass {visit.number} did not work ({visit.reason})"
    frames = " and ".join(str(count) for count in visit.received)
    return f"pass {visit.number} {frames} frames"
