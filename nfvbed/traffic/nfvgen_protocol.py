"""The messages of `nfvgen/1` (docs/reference/nfvgen-protocol.md) as frozen models; unknown keys are refused."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from nfvbed.records.models import DeferredModel
from nfvbed.traffic.generator import Addressing

SCHEMA = "nfvgen/1"

Count = Annotated[int, Field(ge=0)]


class Message(DeferredModel):
    """A part of a message. Strict: a number in quotes is a fault of the sender, not a number."""

    model_config = ConfigDict(strict=True)


class ErrorBody(Message):
    """The reason for a refused request, or a failed trial."""

    code: Literal["bad-request", "out-of-range", "busy", "idle", "port", "internal"]
    message: str
    field: str | None = None
    limit: int | str | None = None
    """The smallest or largest value that fits."""
    fix: str = ""
    """What to do, where the generator knows."""


class Answer(Message):
    """The answer to one request."""

    schema_: Literal["nfvgen/1"] = Field(alias="schema")
    id: int | None
    ok: bool
    result: dict[str, Any] | None = None
    error: ErrorBody | None = None


class PortMessage(Message):
    """One port, as `hello` describes it."""

    name: str
    driver: str
    mac: str
    link: Literal["up", "down"]
    speed_mbps: Count | None


class HelloResult(Message):
    """The generator's description, and its limits."""

    name: str
    version: str
    engine: str
    engine_version: str
    pid: Count
    thread_id: Count
    core: int
    cores: list[Count] = Field(default_factory=list)
    """All of them, `core` first; none: it has but that one."""
    thread_ids: list[Count] = Field(default_factory=list)
    """Ids of the threads on them."""
    queues: Annotated[int, Field(ge=1)] = 1
    """Queues that it sends on, of either port."""
    tsc_hz: Count
    min_frame_size_bytes: Count
    max_frame_size_bytes: Count
    max_flows: Count
    capabilities: list[str]
    ports: Annotated[list[PortMessage], Field(min_length=2, max_length=2)]


class LatencyMessage(Message):
    """Latency of one direction: buckets by their lower end."""

    unit: Literal["ns"]
    min: Count | None = None
    max: Count | None = None
    sum: Count | None = None
    counts: list[Annotated[list[Count], Field(min_length=2, max_length=2)]] = Field(default_factory=list)


class GapMessage(Message):
    """The longest time in which no frame came although some were missing, from the start of sending."""

    from_ns: Count
    to_ns: Count | None = None


class TimelineMessage(Message):
    """Bins in which frames were missing: number, sent, refused, received."""

    bin_ns: Count
    bins: list[Annotated[list[Count], Field(min_length=4, max_length=4)]]
    gap: GapMessage | None


class QueueMessage(Message):
    """Counts of the frames that one queue of a direction's port sent."""

    sent: Count
    unsent: Count
    late: Count
    refused: Count
    received: Count
    lost: Count
    reordered: Count
    duplicated: Count
    corrupted: Count


class DirectionMessage(Message):
    """Counts of one direction; `tx` and `rx` are port numbers."""

    tx: Literal[0, 1]
    rx: Literal[0, 1]
    intended: Count
    sent: Count
    received: Count
    received_in_time: Count | None = None
    lost: Count
    unsent: Count
    late: Count
    refused: Count
    reordered: Count
    duplicated: Count
    surplus: Count = 0
    """Duplicated frames that were counted back beyond those sent, by a generator that cannot tell frames apart; nfvgen
    can.
    """
    corrupted: Count
    sent_bytes: Count
    received_bytes: Count
    latency: LatencyMessage | None = None
    timeline: TimelineMessage | None = None
    queues: list[QueueMessage] = Field(default_factory=list)
    """Counts of each queue, where it sends on several."""


class GapsMessage(Message):
    """Rounds of the sending loop that took longer than their frames explain."""

    count: Count
    total_ns: Count
    longest_ns: Count


class TrialMessage(Message):
    """Counts of one trial, so far or at its end."""

    duration_ns: Count
    busy_ns: Count
    gaps: GapsMessage | None = None
    directions: Annotated[list[DirectionMessage], Field(min_length=1, max_length=2)]
    foreign: Annotated[list[Count], Field(min_length=2, max_length=2)]
    missed: Annotated[list[Count], Field(min_length=2, max_length=2)] | None = None
    """Frames that the generator's own ports dropped on arrival, and that count as lost; None: it does not tell."""
    clock: Literal["tsc", "monotonic"]


class StatsResult(Message):
    """The generator's activity, and its current or last trial."""

    state: Literal["idle", "running", "done", "failed"]
    elapsed_ns: Count
    error: str | ErrorBody | None = None
    trial: TrialMessage | None = None


class GtpuMessage(Message):
    """Bearers: the ends of S1-U, the server, and rows of UE address, uplink TEID, downlink TEID."""

    enb: str
    sgw: str
    server: str
    bearers: list[tuple[str, int, int]]


class StackMessage(Message):
    """The headers below the payload."""

    vlan: int | None = None
    ip: Literal[4, 6] = 4
    vxlan: int | None = None
    gtpu: GtpuMessage | None = None


class LoadPhaseMessage(Message):
    """A second stretch of a trial."""

    rate_pps: int
    duration_ns: int


class StartMessage(Message):
    """The keys of `start` that nfvbed sets; the others keep the generator's defaults."""

    duration_ns: int
    frames: int | None
    rate_pps: int | None
    directions: list[list[int]]
    frame_sizes: list[list[int]]
    flows: int
    stack: StackMessage
    learning_frames: int
    drain_ns: int
    check: bool
    stamp: bool
    then: LoadPhaseMessage | None = None
    timeline_ns: int | None = None


def addressing_keys(addressing: Addressing) -> dict[str, Any]:
    """Return the keys of `start` that differ from the generator's defaults."""
    default = Addressing()
    keys = {key: getattr(addressing, key) for key in ("flow_address", "flow_macs", "macs", "ipv4")}
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in keys.items()
        if value != getattr(default, key)
    }
