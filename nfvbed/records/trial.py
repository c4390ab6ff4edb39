"""Frozen records between stages and in the store: integer counts, ns, frames/s; what is missing comes with a reason."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    ModelWrapValidatorHandler,
    StringConstraints,
    ValidationError,
    model_validator,
)

from nfvbed.characters import shown
from nfvbed.conservation import balance, conserved, fault_of
from nfvbed.records.models import DeferredModel
from nfvbed.records.quality import QualityWarning
from nfvbed.records.words import (
    Accelerator,
    CellRole,
    HopKind,
    MissingPrerequisite,
    Preset,
    RenewedPart,
    ResultKind,
    Role,
    Status,
    VnfKind,
)
from nfvbed.units import NS_PER_S, USUAL_MTU, FrameSize

TRIAL_FORMAT = 1
GENERATOR_GAPS = "generator_gaps"
"""Among the counters of a trial: `LoopGaps`."""
CORE_PACE = "core_pace"
"""Among the counters of a trial: the pace of its cores at both ends, and how long it was waited for."""
SLOWED = 1.15
"""A core that takes so many times as long over a piece of work as it can is slowed."""
CONNECTIONS = "connections"
"""Among the counters of a trial: what the switch's connection tracking had and did."""
PORTS = "generator.ports"
"""Step of a fact that says how fast the generator's ports on NICs are: `speeds_mbps`."""
SESSIONS = "sessions"
"""In a rig's description: the form of its traffic's sessions; absent: unreplied."""
NEIGHBOUR = "neighbour"
"""In a rig's description: the noisy neighbour beside its trials; absent: there was none."""
NOT_SEPARABLE: Literal["not-separable"] = "not-separable"
Separable = Annotated[int | Literal["not-separable"], Field(union_mode="left_to_right")]
"""A value that may be impossible to separate from another one (a bridge and a kernel VNF share softirq)."""

RunId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
"""A UUID: names of folders are made of it."""
ContentHash = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$")]
"""SHA-256 of a blob; empty: there is none."""
Reason = Annotated[str, AfterValidator(shown)]
"""A text that other programs had a part in: what controls a terminal is an escape in it."""


class Record(DeferredModel):
    """A frozen value; two records with equal fields are equal."""


class PortKind(StrEnum):
    """The kind of port that attaches the generator or a VNF to the data plane."""

    VHOST_USER = "vhost-user"
    MEMIF = "memif"
    VETH = "veth"
    TAP = "tap"
    MACVTAP = "macvtap"
    VF = "vf"
    PCI = "pci"
    NETDEV = "netdev"
    """A network device that is there already, of whatever driver: nfvbed neither makes nor sets it up."""
    NEUTRON = "neutron"
    """A port of a cloud whose kind Neutron decides, and shows to administrators alone."""
    SIMULATED = "simulated"

    @property
    def is_kernel(self) -> bool:
        """Whether it is a network device of the kernel."""
        return self in (PortKind.VETH, PortKind.TAP, PortKind.MACVTAP, PortKind.NETDEV)


TrialPreset = Annotated[Preset | ResultKind, Field(union_mode="left_to_right")]
"""What a trial is of: those of a test with a result of its own have that one's kind."""


class QueueCounts(Record):
    """Counts of the frames that one queue of a direction's port sent, with the meaning of the direction's."""

    sent: int
    received: int
    lost: int
    unsent: int
    late: int
    refused: int
    reordered: int
    duplicated: int
    corrupted: int

    @model_validator(mode="after")
    def frames_are_conserved(self) -> Self:
        """Refuse counts that cannot be."""
        beside = {"intended": self.sent + self.unsent, "surplus": 0, "sent_bytes": 0, "received_bytes": 0}
        fault = fault_of(beside | self.__dict__)
        if fault:
            raise ValueError(f"counts of a queue that cannot be: {fault}")
        return self


class DirectionCounts(Record):
    """Frames of one direction in one trial. Counts that break a law of conservation are no such value.

    What counts makes it by `counted`; the laws are `conservation.fault_of`.
    """

    intended: int
    sent: int
    received: int
    """Distinct frames, those of the drain included; at most those that were sent."""
    received_in_time: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """Those of them that came until the last one was sent; None: the generator did not tell them apart."""
    lost: int
    unsent: int = 0
    """Frames not sent within 100 us of the due time; never sent later."""
    late: int = 0
    """Unsent frames that no port refused: the generator came too late."""
    refused: int = 0
    """Frames that the port did not take at the first try (back-pressure)."""
    reordered: int = 0
    duplicated: int = 0
    """Frames that arrived once more, the surplus among them."""
    surplus: int = Field(default=0, exclude_if=lambda value: not value)
    """Frames counted back beyond those sent, by a count that cannot tell them apart: with any, as many frames as came
    twice below that line may be lost unseen, so `lost` is at least, and `received` at most, what it says."""
    corrupted: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0
    queues: tuple[QueueCounts, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Counts of each queue of the sending port, where the generator sends on several; their sums are the direction's.
    """

    @model_validator(mode="after")
    def frames_are_conserved(self) -> Self:
        """Refuse counts that cannot be."""
        in_time = self.received_in_time
        fault = fault_of(self.__dict__) or (self._fault_of_queues() if self.queues else "")
        if not fault and in_time is not None and not 0 <= in_time <= self.received:
            fault = f"received in time {in_time} of {self.received}"
        if fault:
            raise ValueError(f"counts that cannot be: {fault}")
        return self

    @property
    def in_time(self) -> int:
        """Frames that came until the last one was sent; all of them where the generator did not tell them apart."""
        return self.received if self.received_in_time is None else self.received_in_time

    def _fault_of_queues(self) -> str:
        """Return the first count that is not the sum of the queues'; empty: all are."""
        for name in QueueCounts.model_fields:
            of_queues = sum(getattr(queue, name) for queue in self.queues)
            if of_queues != getattr(self, name):
                return f"{name} {getattr(self, name)}, of the queues {of_queues}"
        return ""

    @classmethod
    def counted(
        cls,
        sent: int,
        back: int,
        *,
        unsent: int = 0,
        in_time: int | None = None,
        queues: tuple[QueueCounts, ...] = (),
        **others: int,
    ) -> Self:
        """Return the counts of both ends; frames beyond those that were sent are a surplus.

        Args:
            back: what came back of them, counted in any way.
            unsent: frames that were due and not sent.
            in_time: those that came back until the last one was sent; None: not told apart.
            others: further counts, by their names; a surplus that was found already is among the duplicated.

        Raises:
            ValueError: a count is negative, or they contradict each other.
        """
        found = balance(sent, back)
        others["surplus"] = others.get("surplus", 0) + found.surplus
        others["duplicated"] = others.get("duplicated", 0) + found.surplus
        return cls(
            intended=sent + unsent,
            sent=sent,
            received=found.received,
            received_in_time=None if in_time is None else min(in_time, found.received),
            lost=found.lost,
            unsent=unsent,
            queues=queues,
            **others,
        )


class CpuTime(Record):
    """CPU time of one role on one core during one trial, in ns."""

    role: Role
    core: int | None
    user_ns: Separable
    system_ns: Separable
    softirq_ns: Separable
    guest_ns: Separable = 0
    busy_ns: Separable
    """All of it together, from the most exact source there is; a poller's is its run time."""
    stolen_ns: int | None = None
    """Time that the thread that lost most was kept from its core by others or the hypervisor; None: not known."""
    held_ns: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """The same without the waits for others' short turns; what rings do not bridge. None: not known."""
    steal_ns: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """The hypervisor's part of it; None: not known apart."""
    steal_step_ns: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """Steps in which that part is counted; 0: exactly, or there has been none since the host started."""
    source: str


class LoopGaps(Record):
    """Rounds of the generator's loop that took longer than their frames explain: its thread was kept from its core."""

    count: int = Field(ge=0)
    """Gaps of more than 20 us."""
    total_ns: int = Field(ge=0)
    longest_ns: int = Field(ge=0)
    """0: there was none."""


class Cost(Record):
    """The cost of forwarding: the switch's busy TSC cycles over the packets it forwarded."""

    busy_cycles: Separable
    rounding_cycles: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """Busy cycles are known to so many above or below, as the switch rounds; None: it does not."""
    packets: int
    source: str
    """Source of "busy": PMD statistics, scheduler run time, ..."""

    @property
    def cycles_per_packet(self) -> float | None:
        """Cycles per packet, or None where it cannot be separated or nothing was forwarded."""
        if self.busy_cycles == NOT_SEPARABLE or not self.packets:
            return None
        return self.busy_cycles / self.packets


class CorePair(Record):
    """One-way cache-line time between two cores that share the work, in ns."""

    cores: tuple[int, int]
    before: float
    after: float


class CoreDistance(Record):
    """One-way cache-line time between the cores that share the work, in ns: the greatest where there are several pairs.

    A pair is one of the switch's cores with the generator's or a VNF's.
    """

    before: float
    after: float
    pairs: tuple[CorePair, ...] = ()
    """Each of them, where there are several."""


class Engine(Record):
    """The engine that generated the traffic."""

    name: str
    version: str


class TrialRecord(Record):
    """One trial, written when it ended and never edited."""

    format: int = TRIAL_FORMAT
    run: RunId
    cell: str
    sequence: int
    """Number of the trial in its run, from 1; one that is repeated after a failure gets a new number."""
    round: int
    preset: TrialPreset
    renewed: RenewedPart | None = None
    """Parts that its visit (one cell in one round) set up again; None: stored before format 4."""
    started_at: str
    """UTC, ISO 8601."""
    intended_load_pps: int | None
    """Aggregate over the directions; None: maximum load."""
    offered_load_pps: int
    """Aggregate of what was sent, over the trial's duration."""
    forwarded_rate_pps: int
    """Aggregate of what was received, over the trial's duration; of the MRR without what came in the drain."""
    directions: tuple[DirectionCounts, ...]
    duration_ns: int
    latency_hdr: tuple[str | None, ...] = ()
    """Per direction: HdrHistogram V2 compressed, base64, values in ns."""
    cpu: tuple[CpuTime, ...] = ()
    generator_busy_ns: int = 0
    cost: Cost | None = None
    switch_counters: dict[str, Any] = Field(default_factory=dict)
    core_distance_ns: CoreDistance | None = None
    engine: Engine
    simulated: bool = False
    warnings: tuple[QualityWarning, ...] = ()
    status: Status = Status.OK
    reason: Reason = ""

    @model_validator(mode="wrap")
    @classmethod
    def stored_counts_are_conserved(cls, values: Any, validate: ModelWrapValidatorHandler[Self]) -> Self:
        """Correct the counts of earlier versions, which could be below zero, or more than was sent.

        A corrected record says so: by its warnings, and by a rate without the surplus. It is looked for what to correct
        in a record that is refused alone: a store has thousands of others.
        """
        try:
            return validate(values)
        except ValidationError:
            ways = values.get("directions") if isinstance(values, dict) else None
            if not ways or not isinstance(ways[0], Mapping):
                raise
        found = [conserved(way) for way in ways]
        fresh = any(way.get("surplus", 0) > was.get("surplus", 0) for way, was in zip(found, ways, strict=True))
        return validate({**values, "directions": found} | (_of_surplus(values, found) if fresh else {}))

    @property
    def has_surplus(self) -> bool:
        """Whether more frames were counted back than were sent: its loss is at least, its rate at most, as said."""
        return any(d.surplus for d in self.directions)

    @property
    def generator_gaps(self) -> LoopGaps | None:
        """Gaps of the generator's loop, kept with its other counts; None: it did not tell them."""
        told = self.switch_counters.get(GENERATOR_GAPS)
        return None if told is None else LoopGaps.model_validate(told)

    @property
    def slowed(self) -> tuple[bool, bool] | None:
        """Whether a core was slowed before the trial, and after it; None: the cores' pace was not measured."""
        told = self.switch_counters.get(CORE_PACE)
        if told is None:
            return None
        before, after = (max(told.get(end, {}).values(), default=1.0) >= SLOWED for end in ("before", "after"))
        return before, after

    @property
    def loss_ratio(self) -> float | None:
        """Lost over sent frames, both directions; with a surplus at least so many. None when nothing was sent."""
        sent = sum(d.sent for d in self.directions)
        return sum(d.lost for d in self.directions) / sent if sent else None


def _of_surplus(values: dict[str, Any], ways: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what changes in a stored trial in whose counts a surplus was found: its rate, and its warnings."""
    duration_ns = values.get("duration_ns") or 0
    most = sum(way["received"] for way in ways) * NS_PER_S // duration_ns if duration_ns else 0
    added = (QualityWarning.DUPLICATED.value, QualityWarning.LOSS_AT_LEAST.value)
    return {
        "forwarded_rate_pps": min(values.get("forwarded_rate_pps", 0), most),
        "warnings": tuple(dict.fromkeys((*values.get("warnings", ()), *added))),
    }


class CellRecord(Record):
    """One square of the matrix: what is measured, repeated over the rounds."""

    id: str
    """Unique within a run: `ovs-dpdk/p2p/64`, `ovs-dpdk/pvp+process-io/64`, `loopback:veth/p2p/64`."""
    run: RunId
    variant: str
    role: CellRole = CellRole.SUBJECT
    topology: str
    vnf: str = ""
    vnf_resolved: str = ""
    """VNF that the label means on this variant: `process-bridge` where it is `native`."""
    frame_size: FrameSize
    flows: int
    bidirectional: bool = True
    port_kind: PortKind
    config_hash: ContentHash
    rig_hash: ContentHash
    simulated: bool = False
    status: Status = Status.OK
    reason: Reason = ""
    lacks: MissingPrerequisite | None = Field(default=None, exclude_if=lambda value: value is None)


class RunRecord(Record):
    """One execution of an experiment on one host."""

    id: RunId
    """UUID version 7."""
    experiment: str
    site: str
    host_hash: ContentHash
    plan_hash: ContentHash
    started_at: str
    ended_at: str | None = None
    status: Status | None = None
    """Status at its end; None while it runs."""
    reason: Reason = ""
    doctor_hash: ContentHash = ""


class FactRecord(Record):
    """A timed step of a deployment or an onboarding."""

    run: RunId
    cell: str | None
    round: int | None
    step: str
    """`deploy`, `deploy.ovsdb`, `destroy`, ..."""
    duration_ns: int
    detail: dict[str, Any] = Field(default_factory=dict)


class GeneratorPort(Record):
    """One of the two ports that the generator opens."""

    engine: Literal["dpdk", "xdp", "simulated"]
    spec: str
    """nfvgen's `--port` value."""
    kind: PortKind
    netns: str | None = None
    """Path of the network namespace the generator runs in."""
    queues: int = Field(default=1, ge=1, exclude_if=lambda value: value == 1)
    """Queues that the generator sends on; the other side receives on as many."""
    ring_size: int = Field(default=1024, exclude_if=lambda value: value == 1024)
    """Descriptors of each of its rings, where `spec` says how many."""


class WorkThread(Record):
    """A thread whose CPU time is accounted to a role."""

    role: Role
    pid: int
    tid: int
    core: int | None
    name: str
    polling: bool = False


GuestNic = Literal["any", "virtio", "e1000", "rtl8139"]
"""A guest's NIC: virtio-net, or an emulated one."""


class VnfPort(Record):
    """The place where a port of a VNF attaches to the data plane."""

    name: str
    vnf: int
    """Place of the VNF in the path, from 0."""
    port: int
    """0 towards outside end 0, 1 towards outside end 1."""
    kind: PortKind
    address: str
    """vhost-user, memif: the socket, which the VNF makes where it listens; others: the VNF's end, in `netns`."""
    netns: str | None = None
    """Path of the network namespace that the address is in."""
    mac: str
    queues: int = 1
    queue_size: int = 1024
    listens: bool = True
    nic: GuestNic = "any"
    """NIC model that a guest has on it; any: the one that the VNF asks for."""
    offloads: bool = True
    """Permission for the VNF to leave checksums and segmentation to it, where it would."""
    vhost: bool | None = None
    """Use of vhost-net, by which the kernel moves a guest's frames, not QEMU; None: where the host can."""


class VnfHandle(Record):
    """A VNF that runs; enough to look into it and to end it from another process."""

    name: str
    kind: VnfKind
    forwarding: str
    ports: tuple[VnfPort, ...]
    pids: tuple[int, ...] = ()
    cgroup: str = ""
    cores: tuple[int, ...] = ()
    shares_core: bool = False
    accelerator: Accelerator = Accelerator.NONE
    threads: tuple[WorkThread, ...] = ()
    control: dict[str, JsonValue] = Field(default_factory=dict)
    """State that its driver wrote (`state.py`)."""
    versions: dict[str, str] = Field(default_factory=dict)
    steps: tuple[tuple[str, int], ...] = ()
    facts: dict[str, Any] = Field(default_factory=dict)


class Deployment(Record):
    """A data plane that is deployed; enough to measure it, to look into it and to take it down from another process."""

    id: str
    variant: str
    site: str
    topology: str
    role: CellRole = CellRole.SUBJECT
    ports: tuple[GeneratorPort, ...]
    """Ports of the generator in the order of the path: two, or one or none where VNFs are its ends."""
    vnf_ports: tuple[tuple[VnfPort, ...], ...] = ()
    order: tuple[int, ...] = Field(default=(), exclude_if=lambda value: not value)
    """VNFs in the order of the path, where it was changed (`nfvbed steer`); empty: as they are numbered."""
    vnfs: tuple[VnfHandle, ...] = ()
    threads: tuple[WorkThread, ...] = ()
    run_directory: str = ""
    control: dict[str, JsonValue] = Field(default_factory=dict)
    """State that its data plane wrote (`state.py`): sockets, namespaces, interface names."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Versions of what is under test; part of the configuration hash."""
    steps: tuple[tuple[str, int], ...] = ()
    """(step, duration in ns), in order."""
    warnings: tuple[QualityWarning, ...] = ()
    """About every trial on it: what it was set up with is not what was asked for."""
    mtu: int = Field(default=USUAL_MTU, exclude_if=lambda value: value == USUAL_MTU)
    """MTU that was asked of every port of the path; more than the default one where jumbo frames were planned."""
    simulated: bool = False


class Hop(Record):
    """Packet counters of one hop (`br0 port p0`), in the order of the path."""

    name: str
    kind: HopKind = HopKind.INSIDE
    vnf: int | None = None
    """Place of the VNF that it is at."""
    port: int | None = None
    """Number of the port: 0 towards outside end 0, 1 towards outside end 1."""
    rx_packets: int | None = None
    tx_packets: int | None = None
    drops: dict[str, int] = Field(default_factory=dict)
    counted_by: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """Who counts the drops, which gives their names a meaning (`drops.py`); None: several, or it is not known."""


class SwitchCounters(Record):
    """The switch's own view, cumulative."""

    packets: int
    """Frames received on the measured ports."""
    busy_cycles: Separable
    rounding_cycles: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """Busy cycles are known to so many above or below, as the switch rounds them; None: it does not."""
    source: str
    raw: dict[str, Any] = Field(default_factory=dict)


def rounding_of(counted: Iterable[SwitchCounters]) -> int | None:
    """Return the number of busy cycles to which a sum or difference of readings is known; None: none is rounded."""
    known = [one.rounding_cycles for one in counted if one.rounding_cycles is not None]
    return sum(known) if known else None


class Readiness(StrEnum):
    """The readiness of a variant on this host."""

    READY = "ready"
    DEGRADED = "degraded"
    UNSUPPORTED = "unsupported"


class Support(Record):
    """A variant's readiness with the reason that a probe found and what fixes it."""

    variant: str
    readiness: Readiness
    reason: str = ""
    fix: str = ""
