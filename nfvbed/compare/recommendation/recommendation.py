"""Which data plane a host's stored results speak for, given a need: an order as far as verdicts hold, and no further.

The answer is of one traffic point: that with most variants, of these one with a clear first place where there is one,
through VNFs before port to port. The others say what would change it. Nothing is measured here, and nothing simulated
or emulated is ranked.
"""

import shlex
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, Protocol

from nfvbed.compare.agreement import supports_of
from nfvbed.compare.commands import MOST_COMPARED, deciding_command, vnf_setting
from nfvbed.compare.recommendation.candidates import ExaminedRun, Point, points_of
from nfvbed.compare.recommendation.needs import MEASURES, Measure, Need
from nfvbed.compare.recommendation.rankings import Ranking, rank
from nfvbed.compare.recommendation.rankreversals import RankReversal, find_flips, flips_by_flows
from nfvbed.compare.recommendation.rawethernet import Carrier, RawEthernetEvidence, find_carriers
from nfvbed.compare.verdict import Rules
from nfvbed.records import Readiness, Record, Status
from nfvbed.records.trafficpoint import TrafficPoint
from nfvbed.spec.vnf import NATIVE
from nfvbed.units import FrameSize

RECOMMENDATION_FORMAT: Final = 1
BASE: Final = "demo"
"""The experiment that commands begin from: it compares, and all else of it is set."""
CHECKSUM: Final = "checksum trap"
SOCKETS: Final = "sockets"
LAB: Final = "lab"
"""The site of both experiments."""
COMPARED_BY_DEFAULT: Final = ("linux-bridge", "ovs-dpdk")
SAME_VNF: Final = {"name": "vloop", "kind": "process", "forwarding": "io"}
"""A raw-Ethernet VNF that every data plane can have."""
SAME_LABEL: Final = "process-io"
SOCKETS_SIZE: Final = 1518
"""The frame size of that experiment."""


Measures = Callable[[str], Container[str]]
"""Says which cells of variants a command would measure, by their names; none where it would be refused."""


class _CandidateCells:
    """All cells that there could be."""

    def __contains__(self, cell: object) -> bool:
        return isinstance(cell, str)


def unchecked(command: str) -> Container[str]:
    """Return every cell: a command has no user to ask."""
    return _CandidateCells()


class RecommendationRequest(Record):
    """The need, and the traffic points that a ranking is limited to."""

    need: Need
    topology: str | None = None
    """Only this path; None: that with most variants."""
    vnf: str | None = None
    """Only with the VNFs of this label."""
    frame_size: FrameSize | None = None
    flows: int | None = None


class UsedRun(Record):
    """A run that was looked at."""

    run: str
    started_at: str
    experiment: str
    purpose: Literal["compare", "survey"]
    status: Status = Status.OK
    """How it ended: of a run that failed or was interrupted the cells count that did not fail."""


Why = Literal["nothing-measured", "decide", "not-measured", "sockets"]


class Proposal(Record):
    """An experiment to run."""

    why: Why
    variants: tuple[str, ...]
    command: str


class Recommendation(Record):
    """The answer, with what it rests on and what would change it."""

    format: int = RECOMMENDATION_FORMAT
    need: Need
    measure: Measure
    host_hash: str
    runs: tuple[UsedRun, ...]
    """Runs of this host, the newest first."""
    enough: bool
    """Whether there are two variants or more that can be compared."""
    reason: str = ""
    """Why there is not enough data."""
    answer: Ranking | None = None
    elsewhere: tuple[Ranking, ...] = ()
    """Other traffic points at which two variants or more have a place."""
    flips: tuple[RankReversal, ...] = ()
    """Where the first place is another's."""
    carriers: tuple[Carrier, ...] = ()
    """Answers to the need `raw-ethernet`."""
    not_measured: tuple[str, ...] = ()
    """Variants that the doctor calls available, without any figure at the answer's traffic point."""
    unavailable: tuple[str, ...] = ()
    """Variants that the doctor calls unsupported here."""
    proposals: tuple[Proposal, ...] = ()


def recommend(
    runs: Sequence[ExaminedRun], wanted: RecommendationRequest, host_hash: str, measures: Measures
) -> Recommendation:
    """Return a ranking of what the runs of one host measured.

    Args:
        runs: those of the host, the newest first; none where it has none.
        measures: is asked of every command before it is proposed, and for every variant in it.
    """
    measure = MEASURES[wanted.need]
    carriers = find_carriers(runs) if wanted.need is Need.RAW_ETHERNET else ()
    points = [_without_traps(point, carriers) for point in points_of(runs, wanted.need) if _fits(point, wanted)]
    rankings = [rank(point, measure) for point in points]
    # Who can be compared at a point is only known now; order is stable, so that importance decides among equals.
    usable = [found for found in rankings if len(found.ranked) > 1]
    usable.sort(key=lambda found: (-len(found.ranked), not found.is_clear))
    answer = usable[0] if usable else next((found for found in rankings if found.ranked), None)
    flips = find_flips(usable[0], usable[1:]) if usable else ()
    if usable and not measure.at_common_load:
        flips += flips_by_flows(usable[0], runs)
    known, unavailable = _doctor(runs)
    seen = (
        {entry.variant for entry in answer.ranked} | {entry.variant for entry in answer.left_out} if answer else set()
    )
    missing = tuple(name for name in known if name not in seen)
    found = Recommendation(
        need=wanted.need,
        measure=measure,
        host_hash=host_hash,
        runs=tuple(_used(run) for run in runs),
        enough=bool(usable),
        reason="" if usable else _why_not(runs, rankings),
        answer=answer,
        elsewhere=tuple(usable[1:]),
        flips=flips,
        carriers=carriers,
        not_measured=missing,
        unavailable=unavailable,
    )
    proposals = tuple(_proposals(found, runs, _traffic(found, wanted, points), measures, points))
    if not found.enough and not proposals:
        found = found.model_copy(update={"reason": f"{found.reason}, and no two variants here can measure it"})
    return found.model_copy(update={"proposals": proposals})


def _fits(point: Point, wanted: RecommendationRequest) -> bool:
    traffic = point.traffic
    return (
        wanted.topology in (None, traffic.topology)
        and wanted.vnf in (None, traffic.vnf)
        and wanted.frame_size in (None, traffic.frame_size)
        and wanted.flows in (None, traffic.flows)
    )


def _without_traps(point: Point, carriers: Sequence[Carrier]) -> Point:
    """Leave out who lost a stack's frames in a test between sockets, which the rate does not show."""
    lost = {
        entry.variant: entry.detail
        for entry in carriers
        if entry.vnf == point.traffic.vnf and entry.carries is RawEthernetEvidence.TRAP
    }
    kept = {name: found for name, found in point.by_variant.items() if name not in lost}
    left_out = {name: f"{CHECKSUM}: {why}" for name, why in lost.items() if name in point.by_variant}
    return Point(point.traffic, kept, point.left_out | left_out, point.ran_without)


def _used(run: ExaminedRun) -> UsedRun:
    record = run.data.run
    purpose = run.rules.purpose
    return UsedRun(
        run=record.id,
        started_at=record.started_at,
        experiment=record.experiment,
        purpose=purpose,
        status=record.status or Status.INTERRUPTED,
    )


def _doctor(runs: Sequence[ExaminedRun]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the variants that the newest doctor's report calls available, and those it calls unsupported."""
    supports = next((found for run in runs if (found := supports_of(run.doctor))), ())
    available = tuple(entry.variant for entry in supports if entry.readiness is not Readiness.UNSUPPORTED)
    named = {entry.variant for entry in supports} - set(available)
    simulated = {cell.variant for run in runs for cell in run.data.cells if cell.simulated} | {"simulated"}
    return tuple(name for name in available if name not in simulated), tuple(sorted(named))


def _why_not(runs: Sequence[ExaminedRun], rankings: Sequence[Ranking]) -> str:
    if not runs:
        return "no run of this host is stored"
    if not rankings:
        return "no stored run of this host measured such traffic"
    if not any(found.ranked for found in rankings):
        reasons = list(dict.fromkeys(entry.reason for found in rankings for entry in found.left_out))
        return reasons[0] if reasons else "nothing was measured"
    names = sorted({entry.variant for found in rankings for entry in found.ranked})
    only = f"only {names[0]} was" if len(names) == 1 else "no two variants were"
    return f"{only} measured in a way that can be ranked"


def _proposals(
    found: Recommendation,
    runs: Sequence[ExaminedRun],
    traffic: TrafficPoint,
    measures: Measures,
    points: Sequence[Point],
) -> Iterable[Proposal]:
    """Yield the commands that would make, or change, the answer."""
    answer = found.answer
    comparing = _VariantComparison(traffic, _site_of(found, runs), runs)
    if not found.enough:
        yield from _proposed("nothing-measured", comparing, tuple(_unranked(found, points)), measures)
    elif answer is not None and answer.lacks_rounds:
        yield from _proposed("decide", comparing, answer.first, measures)
    if found.enough and answer is not None and found.not_measured:
        first = answer.first[0]
        for proposal in _proposed("not-measured", comparing, (first, *found.not_measured), measures):
            if first in proposal.variants:
                yield proposal
    if found.need is Need.RAW_ETHERNET:
        yield from _between_sockets(found, runs, measures)


def _proposed(why: Why, writer: "_Writer", names: Sequence[str], measures: Measures) -> Iterable[Proposal]:
    """Yield the command for the first variants that it would measure; none where it would measure too few.

    Where too few of those that are wanted fit, those that are compared by default are taken too.

    Args:
        names: variants, the most wanted first.
        measures: is asked of each variant by itself, and of all of them.
    """

    def takes(names: Sequence[str]) -> bool:
        cells = measures(writer.command(names))
        return all(writer.cell(name) in cells for name in names)

    fitting = tuple(islice((name for name in dict.fromkeys(names) if takes((name,))), MOST_COMPARED))
    if len(fitting) < writer.least:
        others = (name for name in COMPARED_BY_DEFAULT if name not in fitting and takes((name,)))
        fitting += tuple(islice(others, MOST_COMPARED - len(fitting)))
    if len(fitting) >= writer.least and takes(fitting):
        yield Proposal(why=why, variants=fitting, command=writer.command(fitting))


def _site_of(found: Recommendation, runs: Sequence[ExaminedRun]) -> str:
    """Return the site of the newest run with a rate, of those that the answer rests on where there is one."""
    ranked = {entry.run for entry in found.answer.ranked} if found.answer else set()
    measured = [run for run in runs if any(row.mrr for row in run.rows)]
    own = [run for run in measured if run.data.run.id in ranked] or measured
    return own[0].data.run.site if own else ""


def _traffic(found: Recommendation, wanted: RecommendationRequest, points: Sequence[Point]) -> TrafficPoint:
    """Return where to measure: at the answer's point, else where there was something, else as asked."""
    if found.answer is not None:
        answer = found.answer
        return TrafficPoint(answer.topology, answer.vnf, answer.frame_size, answer.flows, answer.bidirectional)
    if points:
        return points[0].traffic
    return TrafficPoint(wanted.topology or "pvp", wanted.vnf or "", wanted.frame_size or 64, wanted.flows or 1, True)


def _between_sockets(found: Recommendation, runs: Sequence[ExaminedRun], measures: Measures) -> Iterable[Proposal]:
    """Yield the command that sends a stack's frames through a VNF of which only the generator's are known."""
    untried = [carrier for carrier in found.carriers if carrier.carries is RawEthernetEvidence.FRAMES]
    if found.carriers and not untried:
        return
    labels = [carrier.vnf for carrier in untried]
    label = found.answer.vnf if found.answer and found.answer.vnf in labels else next(iter(labels), "")
    carrying = [carrier.variant for carrier in untried if carrier.vnf == label]
    between = _BetweenSockets(label, _site_of(found, runs), runs)
    yield from _proposed("sockets", between, carrying, measures)


def _unranked(found: Recommendation, points: Sequence[Point]) -> Iterable[str]:
    """Yield the variants to compare: those with a figure, those that ran without one, those available."""
    yield from [entry.variant for entry in found.answer.ranked] if found.answer else []
    yield from [name for point in points[:1] for name in point.ran_without]
    yield from found.not_measured


def _vnf(label: str, runs: Sequence[ExaminedRun]) -> str:
    """Return the setting that has the VNF of a label again, from the rig of a run that had it; empty: not known."""
    if label == NATIVE:
        return vnf_setting(label, {})
    rigs = [
        run.data.rigs.get(cell.rig_hash, {}).get("vnf") or {}
        for run in runs
        for cell in run.data.cells
        if cell.vnf == label
    ]
    if label == SAME_LABEL:
        rigs.append(SAME_VNF)
    return next((text for rig in rigs if "kind" in rig and (text := vnf_setting(label, rig))), "")


class _Writer(Protocol):
    """Writes a command for some variants."""

    @property
    def least(self) -> int:
        """So many variants have to be in it."""

    def command(self, names: Sequence[str]) -> str:
        """Return it."""

    def cell(self, name: str) -> str:
        """Return the cell of a variant that it is for."""


@dataclass(frozen=True)
class _VariantComparison:
    """Compares variants at one traffic point."""

    traffic: TrafficPoint
    site: str
    runs: Sequence[ExaminedRun]
    least: int = 2

    @property
    def _label(self) -> str:
        return self.traffic.vnf if self.traffic.vnf or self.traffic.topology == "p2p" else SAME_LABEL

    def command(self, names: Sequence[str]) -> str:
        """Return it."""
        traffic = self.traffic
        settings = ["baseline=null"]
        if traffic.topology != "p2p":
            vnf = _vnf(self._label, self.runs)
            settings += [vnf] if vnf else []
            settings.append("vnf_frame_sizes=null")
        if traffic.flows != 1:
            settings.append(f"traffic.flows={traffic.flows}")
        if not traffic.bidirectional:
            settings.append("traffic.bidirectional=false")
        if self.site not in ("", LAB):
            settings.append(f"site={self.site}")
        return deciding_command(BASE, names, (traffic.topology, traffic.frame_size), settings, Rules().looks[-1])

    def cell(self, name: str) -> str:
        """Return the cell of a variant at that point."""
        label = f"+{self._label}" if self._label else ""
        return f"{name}/{self.traffic.topology}{label}/{self.traffic.frame_size}"


@dataclass(frozen=True)
class _BetweenSockets:
    """Sends a stack's frames through a VNF that handles whole frames."""

    label: str
    """Label of the VNF; empty: one that every data plane can have."""
    site: str
    runs: Sequence[ExaminedRun]
    least: int = 1

    def command(self, names: Sequence[str]) -> str:
        """Return it."""
        named = [word for name in names for word in ("--variant", name)]
        site = [] if self.site in ("", LAB) else ["--site", self.site]
        vnf = _vnf(self.label or SAME_LABEL, self.runs)
        changed = [*(("--set", vnf) if vnf else ()), "--set", "baseline=null"]
        return shlex.join(["nfvbed", "run", SOCKETS, *named, "--topology", "pvp", *site, *changed])

    def cell(self, name: str) -> str:
        """Return the cell of a variant with that VNF."""
        return f"{name}/pvp+{self.label or SAME_LABEL}/{SOCKETS_SIZE}"
