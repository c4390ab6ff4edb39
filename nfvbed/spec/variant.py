"""`deploy/variants/*.yml`: one data plane each."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from nfvbed.records import PortKind
from nfvbed.spec.layout import OfferedTopology
from nfvbed.spec.model import SpecModel
from nfvbed.spec.vnf import NATIVE, VnfUse


class LinuxBridgeOptions(SpecModel):
    """The kernel's bridge between veth ports."""

    dataplane: Literal["linux-bridge"]
    core_use: Literal["threaded-napi", "rps", "inline"] = "threaded-napi"
    """Which core does the bridge's work: a NAPI thread or RPS on the switch's core, or the sender's own softirq."""
    netfilter: bool = False
    """Whether bridged frames pass iptables (bridge-nf-call-iptables)."""
    offloads: bool = True
    """Checksum, segmentation and receive offloads of the ports."""
    learning: bool = True
    fdb_max_learned: int | None = Field(None, ge=1)
    """Addresses that each bridge may learn (Linux 6.7 or later); None: no limit but memory."""


class OvsDpdkOptions(SpecModel):
    """Open vSwitch with the DPDK datapath."""

    dataplane: Literal["ovs-dpdk"]
    pmd_cores: int = Field(1, ge=1, le=64)
    n_rxq: int = Field(1, ge=1, le=64)
    rx_queue_size: int = Field(1024, ge=64, le=4096)
    emc: bool = True
    """Exact match cache (emc-insert-inv-prob 100, as by default) or none."""
    smc: bool = False
    socket_memory_mib: int = Field(256, ge=64, le=65536)
    flows: Literal["port-to-port", "normal"] = "port-to-port"
    """`port-to-port`: one OpenFlow rule per direction; `normal`: a learning switch (p2p alone)."""
    steering: Literal["static", "controller", "onos"] = "static"
    """Who writes the rules of the cables: nfvbed, its OpenFlow controller, or the site's ONOS."""
    mac_table_size: int | None = Field(None, ge=10, le=1_000_000)
    """Addresses that a bridge with `flows: normal` may learn; None: Open vSwitch's default."""


class SimulatedOptions(SpecModel):
    """A simulated system under test with a known answer. Never a measurement."""

    dataplane: Literal["simulated"]
    capacity_pps: float = Field(5_000_000, gt=0)
    """Aggregate frames/s of the 64 B class in the fast state, port to port; each VNF is one more crossing."""
    far_capacity_pps: float | None = Field(None, gt=0)
    """Capacity in the slow hidden state; None: there is one state."""
    state_change_per_s: float = Field(0.0, ge=0)
    """Mean changes of the hidden state a second."""
    vnf_capacity_pps: float = Field(4_000_000, gt=0)
    """The same of each VNF alone, whatever the hidden state."""
    noise: float = Field(0.015, ge=0, lt=1)
    """Relative standard deviation of a trial's capacity."""
    byte_cost: float = Field(0.0, ge=0)
    """Relative loss of capacity per byte above 64."""
    burst_probability_per_s: float = Field(0.0, ge=0)
    """Chance per second that a burst of frames is lost."""
    burst_max_frames: int = Field(50, ge=1)
    warm_up_s: float = Field(0.0, ge=0)
    """Seconds of traffic until it is warm."""
    cold_share: float = Field(0.0, ge=0, lt=1)
    """Relative loss of capacity until then."""
    hysteresis: float = Field(0.0, ge=0, lt=1)
    """Relative loss of capacity after a trial above capacity, until load below it has lasted `recovery_s`."""
    recovery_s: float = Field(0.0, ge=0)
    buffer_frames: int | None = Field(None, ge=0)
    """Frames that it holds of a burst until it has forwarded them, each direction; what exceeds them is lost.
    None: a full ring holds the generator back, and nothing is lost."""
    congestion_s: float = Field(0.0, ge=0)
    """Seconds after an overload within a trial in which it goes on losing every second frame."""
    outage_s: float = Field(1.0, gt=0)
    """Seconds that a reset lasts."""
    latency_ns: float = Field(5_000, gt=0)
    flow_cache: int | None = Field(None, ge=1)
    """Flows that a cache holds; a frame of another one costs more. None: every flow is as good as another."""
    flow_miss_cost: float = Field(0.0, ge=0)
    """What such a frame costs more, in crossings of the switch."""
    entry_cost: float = Field(0.0, ge=0)
    """What a frame costs more, in crossings, for ten times the table entries."""
    mac_table_size: int | None = Field(None, ge=2)
    """Addresses that it can learn, the test port's own among them; None: no limit."""
    learning_rate_pps: float | None = Field(None, gt=0)
    """New addresses a second that it learns; of more a part is missed. None: all."""
    seed: int = 1


VariantOptions = Annotated[LinuxBridgeOptions | OvsDpdkOptions | SimulatedOptions, Field(discriminator="dataplane")]


class Variant(SpecModel):
    """One data plane, as declared."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    title: str
    summary: str = ""
    port_kind: PortKind
    """How the outside (the generator) is attached."""
    topologies: tuple[OfferedTopology, ...]
    """`pvNp`: chains of every length."""
    native_vnf: VnfUse | None = None
    """The VNF that belongs to it: what `forwarding: native` stands for in an experiment."""
    hugepages_mib: int = Field(0, ge=0)
    options: VariantOptions

    @model_validator(mode="after")
    def its_vnf_is_named(self) -> Self:
        if self.native_vnf is not None and self.native_vnf.forwarding == NATIVE:
            raise ValueError("native_vnf says what native is; give it a forwarding of its own")
        return self
