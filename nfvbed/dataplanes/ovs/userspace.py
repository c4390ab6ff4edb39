"""Options of Open vSwitch's userspace datapath: its polling threads, its receive queues and its caches."""

from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.dataplanes.ovs.options import OvsOptions
from nfvbed.dataplanes.ovs.packagesets import VersionNeed
from nfvbed.errors import UnsupportedError
from nfvbed.records import VnfKind
from nfvbed.spec.layout import Layout
from nfvbed.spec.model import SpecModel
from nfvbed.spec.options import PortName, refuse_existing
from nfvbed.spec.rings import RingSize
from nfvbed.spec.vnf import KERNEL_FORWARDING, VnfChoice, vnic_of

MOST_SLEEP_US = 10_000


class AutoLoadBalance(SpecModel):
    """When receive queues are moved between polling threads automatically (`pmd-auto-lb`)."""

    interval_min: int = Field(1, ge=1, le=20_000)
    """Time between two looks (`pmd-auto-lb-rebal-interval`)."""
    load_percent: int = Field(95, ge=1, le=100)
    """Load that every look of that time must find on a thread (`pmd-auto-lb-load-threshold`)."""
    improvement_percent: int = Field(25, ge=0, le=100)
    """Percentage by which the loads' variance must fall (`pmd-auto-lb-improvement-threshold`)."""


SOURCE = "PMD statistics"
ROUNDED_SOURCE = "PMD statistics, rounded by pmd-perf-show"
"""What its threads' counters of cycles are of."""


class OvsUserspaceOptions(OvsOptions):
    """Threads, queues and caches."""

    cycle_sources = (SOURCE, ROUNDED_SOURCE)

    pmd_cores: int = Field(1, ge=1, le=64)
    """Number of cores with a polling thread; which ones (`pmd-cpu-mask`) the site's arrangement decides."""
    n_rxq: int = Field(1, ge=1, le=64)
    """Receive queues of each port that leads outside; the generator sends on as many. A VNF's port has the VNF's."""
    rxq_assignment: Literal["cycles", "roundrobin", "group"] = "cycles"
    """Algorithm that spreads queues over threads (`pmd-rxq-assign`)."""
    rxq_affinity: dict[PortName, tuple[int, ...]] = Field(default_factory=dict)
    """Port (`p0`, `v1a`) -> for each of its queues the thread, counted from 0, that alone polls it
    (`pmd-rxq-affinity`)."""
    auto_load_balance: AutoLoadBalance | None = None
    """Automatic rebalancing of queues between threads; None: queues stay where they are."""
    pmd_maxsleep_us: int = Field(0, ge=0, le=MOST_SLEEP_US)
    """Longest sleep of a thread that finds little to do, µs (`pmd-maxsleep`, Open vSwitch 3.1); 0: it never sleeps."""
    emc: bool = True
    """Exact match cache (emc-insert-inv-prob 100, as by default) or none."""
    smc: bool = False
    """Signature match cache."""
    rx_queue_size: RingSize = 1024
    """Descriptors of each ring of its DPDK ports; a power of two."""
    socket_memory_mib: int = Field(256, ge=64, le=65536)
    """Hugepage memory of DPDK, where there is any."""

    @property
    def version_needs(self) -> tuple[VersionNeed, ...]:
        """What is asked for that some versions do not have."""
        sleep = f"pmd_maxsleep_us: {self.pmd_maxsleep_us}"
        needs = (
            (self.pmd_maxsleep_us > 0, VersionNeed(sleep, "pmd-maxsleep", (3, 1), instead="pmd_maxsleep_us: 0")),
            (
                self.rxq_assignment == "group",
                VersionNeed("rxq_assignment: group", "pmd-rxq-assign=group", (2, 16), instead="rxq_assignment: cycles"),
            ),
        )
        return tuple(need for asked, need in needs if asked)

    @property
    def switch_cores(self) -> int:
        """The cores of its PMD threads."""
        return self.pmd_cores

    @property
    def ring_size(self) -> int:
        """`rx_queue_size`."""
        return self.rx_queue_size

    @property
    def ring_memory_mib(self) -> int:
        """`socket_memory_mib`."""
        return self.socket_memory_mib

    def check_layout(self, plan: Layout) -> None:
        """Check that the affinity names only ports that exist, and leaves a thread for the queues it does not name.

        Raises:
            UnsupportedError: it names another port, or leaves queues without a thread.
        """
        names = [end.name for end in plan.switch_ends]
        others = sorted(set(self.rxq_affinity) - set(names))
        if others:
            raise UnsupportedError(
                f"rxq_affinity names {', '.join(others)}, and there is no such port",
                where="options.rxq_affinity",
                observed=f"topology {plan.name} has {', '.join(names)}",
                fix="name these alone, or choose a topology that has it",
            )
        # A thread that has queues of its own is given no others.
        taken = {thread for threads in self.rxq_affinity.values() for thread in threads}
        unnamed = [name for name in names if len(self.rxq_affinity.get(name, ())) < self.n_rxq]
        if len(taken) == self.pmd_cores and unnamed:
            raise UnsupportedError(
                f"rxq_affinity leaves no thread to poll {', '.join(unnamed)}",
                where="options.rxq_affinity",
                observed=f"each of the {self.pmd_cores} threads has queues of its own, and so polls no others",
                fix=f"name all {self.n_rxq} queues of every port, or leave a thread free",
            )

    @model_validator(mode="after")
    def threads_are_there(self) -> Self:
        for port, threads in self.rxq_affinity.items():
            if any(not 0 <= thread < self.pmd_cores for thread in threads):
                raise ValueError(f"rxq_affinity of {port} names a thread beyond pmd_cores: {self.pmd_cores}")
            if len(threads) > self.n_rxq:
                raise ValueError(f"rxq_affinity of {port} names more queues than n_rxq: {self.n_rxq}")
        return self

    @model_validator(mode="after")
    def balance_can_do_something(self) -> Self:
        if self.auto_load_balance is not None and self.rxq_assignment == "roundrobin":
            raise ValueError("auto_load_balance needs rxq_assignment: cycles or group")
        return self


def refuse_unless_vhost_user(choice: VnfChoice, where: str) -> None:
    """Check that a VNF can be attached to vhost-user sockets.

    Raises:
        UnsupportedError: it cannot.
    """
    vnic = vnic_of(choice)
    if choice.kind is VnfKind.EXISTING:
        raise refuse_existing()
    if choice.kind is not VnfKind.VM and choice.forwarding in KERNEL_FORWARDING:
        raise UnsupportedError(
            f"a VNF that forwards with {choice.forwarding!r} needs kernel ports",
            where=where,
            observed="its ports to VNFs are vhost-user sockets, which a DPDK process or a virtual machine opens",
            fix="forwarding io, mac, macswap or 5tswap, of a mobile core dpdk-gateway; or kind: vm, whose image can; "
            "or variant linux-bridge",
        )
    if vnic not in ("any", "vhost-user"):
        raise UnsupportedError(
            f"a NIC of kind {vnic!r} needs a kernel port",
            where=where,
            observed="its ports to VNFs are vhost-user sockets, which take virtio-net alone",
            fix="vnic: any or vhost-user; or variant linux-bridge",
        )
