"""`flavors/*.yml`: the sizes of VNFs, with the meaning of Nova's flavors and their extra specs."""

from typing import Literal

from pydantic import Field, model_validator

from nfvbed.spec.model import SpecModel


class NumaNodeSpec(SpecModel):
    """One node of the guest (`hw:numa_cpus.N`, `hw:numa_mem.N`)."""

    cpus: tuple[int, ...] = Field(min_length=1)
    """vCPUs on it."""
    memory_mib: int = Field(ge=64)
    """Memory on it."""
    host_node: int | None = Field(None, ge=0)
    """NUMA node of the host that it is put on; None: chosen by where the data plane's cores are."""


class Flavor(SpecModel):
    """A size, and how strictly it is kept."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    title: str
    summary: str = ""
    vcpus: int = Field(2, ge=1, le=64)
    """Number of vCPUs."""
    memory_mib: int = Field(1024, ge=128, le=1_048_576)
    """Memory of the guest."""
    disk_gib: int = Field(4, ge=1, le=1024)
    """Size of the root disk."""
    hugepages: bool = False
    """Guest memory from 2 MiB hugepages (`hw:mem_page_size=2MB`)."""
    cpu_policy: Literal["shared", "dedicated"] = "shared"
    """CPU policy (`hw:cpu_policy`): with dedicated every vCPU has a core of its own."""
    shared_over: Literal["core", "node", "host"] = "core"
    """Cores on which vCPUs of policy shared may run: the core that the arrangement has for the VNF; all cores of the
    guest's NUMA node, but for those of switch and generator where others are left; all cores of the host, as where
    nothing is pinned."""
    thread_policy: Literal["prefer", "isolate", "require"] | None = None
    """Relation of vCPUs to threads of one physical core (`hw:cpu_thread_policy`)."""
    emulator_threads: Literal["share", "isolate"] | None = None
    """Place of QEMU's own threads (`hw:emulator_threads_policy`)."""
    realtime: bool = False
    """Real-time scheduling (`hw:cpu_realtime`): vCPU threads on SCHED_FIFO; all but vCPU 0."""
    queues: int = Field(1, ge=1, le=16)
    """Queues of a port (with `hw:vif_multiqueue_enabled`, as many as vCPUs at most)."""
    numa: tuple[NumaNodeSpec, ...] = ()
    """NUMA nodes of the guest; none: one node, placed anywhere."""

    @model_validator(mode="after")
    def policies_fit_together(self) -> "Flavor":
        if self.cpu_policy != "dedicated":
            for key in ("thread_policy", "emulator_threads"):
                if getattr(self, key) is not None:
                    raise ValueError(f"{key} needs cpu_policy: dedicated")
            if self.realtime:
                raise ValueError("realtime needs cpu_policy: dedicated")
        elif self.shared_over != "core":
            raise ValueError("shared_over needs cpu_policy: shared")
        if self.shared_over == "node" and not self.numa:
            raise ValueError("shared_over: node needs numa: the nodes that its memory is bound to")
        if self.queues > self.vcpus:
            raise ValueError(f"queues ({self.queues}) must be at most vcpus ({self.vcpus})")
        return self

    @model_validator(mode="after")
    def nodes_hold_the_guest(self) -> "Flavor":
        if not self.numa:
            return self
        cpus = sorted(cpu for node in self.numa for cpu in node.cpus)
        if cpus != list(range(self.vcpus)):
            raise ValueError(f"numa must place each of the {self.vcpus} vcpus once, and places {cpus}")
        memory = sum(node.memory_mib for node in self.numa)
        if memory != self.memory_mib:
            raise ValueError(f"numa places {memory} MiB of memory_mib {self.memory_mib}")
        return self
