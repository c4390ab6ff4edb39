"""Closed lists that records are written in; others import them from `nfvbed.records`."""

from enum import StrEnum


class Status(StrEnum):
    """The outcome of a trial, cell or run. Each but `ok` keeps its reason."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"
    UNSUPPORTED = "unsupported"
    BLOCKED = "blocked"
    INTERRUPTED = "interrupted"
    NOT_APPLICABLE = "not-applicable"


class Role(StrEnum):
    """Who CPU time is taken by."""

    SWITCH = "switch"
    VNF = "vnf"
    GENERATOR = "generator"


class HopKind(StrEnum):
    """The kind of counter at a hop."""

    GENERATOR_PORT = "generator-port"
    """The generator's own end of a link."""
    SWITCH_PORT = "switch-port"
    """A port of the switch, to the generator or to a VNF."""
    VNF_PORT = "vnf-port"
    """A VNF's own side of a port."""
    INSIDE = "inside"
    """Within the switch: a datapath, a bridge, a link between its parts."""


class Sessions(StrEnum):
    """The relation between the two directions' five-tuples; connection tracking treats the forms differently."""

    UNREPLIED = "unreplied"
    """Neither direction answers the other: Open vSwitch's userspace calls such a connection new for ever."""
    MIRRORED = "mirrored"
    """Frames from port 1 are the replies to those of port 0, flow by flow: connections are established."""


class MissingPrerequisite(StrEnum):
    """The missing prerequisite of a cell, where it says nothing of the cell's variant."""

    VNF = "vnf"
    """Its VNF cannot run on this host."""


class CellRole(StrEnum):
    """The role of a cell: a variant under test, or a ceiling that bounds one."""

    SUBJECT = "subject"
    LOOPBACK = "loopback"
    """The generator looped back on the port kind: its own ceiling."""
    REFERENCE = "reference"
    """testpmd io in the switch's place: the floor of switching overhead."""
    VNF = "vnf"
    """The VNF looped back alone, the generator on its ports: its own ceiling."""


class RenewedPart(StrEnum):
    """The part that a visit to a cell set up again before its trials."""

    DEPLOYMENT = "deployment"
    """The data plane, its VNFs and the generator."""
    VNF = "vnf"
    """The VNFs and the generator; the data plane was running."""
    NOTHING = "nothing"
    """All of it was running."""


CHECKSUM_TRAP = "ordinary traffic does not get through this VNF"
"""How the reason of a test begins that met a VNF which sends on frames without their checksums."""


class ResultKind(StrEnum):
    """The kind of test, in the word of files, trials and results, for tests with a result of their own.

    What files may say of one and what executes it is in `nfvbed/run/kinds/catalogue.py`, beside this word.
    """

    SEARCH = "search"
    """A throughput search (RFC 2544 section 26.1, RFC 9971)."""
    CONTINUOUS = "continuous"
    """One given load."""
    LOSS_CURVE = "loss-curve"
    """Frame loss rate at several loads (RFC 2544 section 26.3)."""
    LATENCY = "latency"
    """Latency at several loads (RFC 2544 section 26.2)."""
    SOAK = "soak"
    """A load for long, in intervals."""
    BACK_TO_BACK = "back-to-back"
    """The longest burst without loss (RFC 9004)."""
    BURST = "burst"
    """One burst of a given number of frames."""
    SYSTEM_RECOVERY = "system-recovery"
    """Time to recover from overload (RFC 2544 section 26.5)."""
    RESET = "reset"
    """Outage when the switch is restarted (RFC 2544 section 26.6, RFC 6201)."""
    LIFE_CYCLE = "life-cycle"
    """VNFs that die and come back, or are scaled, under traffic."""
    ADDRESS_CACHING = "address-caching"
    """Addresses that a bridge holds (RFC 2889 section 5.7)."""
    ADDRESS_LEARNING = "address-learning"
    """The rate at which a bridge learns addresses (RFC 2889 section 5.8)."""
    FLOW_SCALING = "flow-scaling"
    """Rate by number of flows."""
    TABLE_SCALING = "table-scaling"
    """Rate by number of table entries."""
    TCP_THROUGHPUT = "tcp-throughput"
    """Bytes per second of TCP between sockets."""
    REQUEST_RESPONSE = "request-response"
    """Transactions between sockets, and their latency."""
    UDP_THROUGHPUT = "udp-throughput"
    """Datagrams between sockets."""
    SOCKET_LATENCY = "socket-latency"
    """Latency between sockets, also under load."""
    GUEST_COMPUTE = "guest-compute"
    """The processors of a guest."""
    GUEST_MEMORY = "guest-memory"
    """The memory of a guest."""
    GUEST_TLB = "guest-tlb"
    """Misses of translation look-aside buffers by number of VNFs."""
    GUEST_MULTIQUEUE = "guest-multiqueue"
    """Queues of a guest's port against connections."""
    QUEUE_BALANCE = "queue-balance"
    """How evenly the flows to a multi-queue tap are spread over its queues."""
    COST = "cost"
    """What forwarding a packet costs: CPU time, cycles, context switches."""
    XDP_TASKS = "xdp-tasks"
    """What XDP programs cost by what they do with a frame."""
    ATTACH_RATE = "attach-rate"
    """UEs that attach to a mobile core: how many a second, and how long it takes."""
    SESSIONS = "sessions"
    """UEs that stay attached, with frames over the bearer of each."""
    RESTORATION = "restoration"
    """Functions of a mobile core that are killed: which bearers go on, and how long until all do (TS 23.007)."""
    VSPERF = "vsperf"
    """A test that the user's own VSPERF ran: its numbers, by its method."""

    @property
    def is_table(self) -> bool:
        """Whether its payload is a `TablePayload`; a search has its own, and what is left has loads."""
        return self is not ResultKind.SEARCH and not self.has_loads

    @property
    def has_loads(self) -> bool:
        """Whether its payload is a `LoadsPayload`."""
        return self in (ResultKind.CONTINUOUS, ResultKind.LOSS_CURVE, ResultKind.LATENCY, ResultKind.SOAK)


class VnfKind(StrEnum):
    """The environment that a VNF runs in."""

    PROCESS = "process"
    VM = "vm"
    CONTAINER = "container"
    """A network namespace with veth ports."""
    EXISTING = "existing"
    """The VNF runs already; nfvbed only measures through it."""


class Accelerator(StrEnum):
    """The executor of a guest's instructions."""

    NONE = "none"
    KVM = "kvm"
    TCG = "tcg"


class Preset(StrEnum):
    """The kind of a trial that belongs to no test with a result of its own."""

    MRR = "mrr"
    """Maximum load; the rate received is the maximum receive rate."""
    PACED = "paced"
    """Half of a cell's own maximum receive rate, for loss and latency."""
    COMMON = "common"
    """The load that all variants of a traffic point share, for comparing loss and latency."""
    TRACE = "trace"
    """A given number of frames."""


class GeneratorPlace(StrEnum):
    """The place of the generator, seen from what it measures."""

    SAME_HOST = "same-host"
    """On the host of the system under test: both share its memory, caches and hypervisor."""
    OTHER_HOST = "other-host"
    """On a host of its own."""
    SIMULATED = "simulated"
    """Nowhere: nothing is sent."""
    NOT_KNOWN = "not-known"
