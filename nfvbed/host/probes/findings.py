"""The findings of a host's probes: one frozen model for each topic."""

from collections.abc import Iterable

from pydantic import ConfigDict, Field, SerializeAsAny

from nfvbed.records import Readiness, Record, Support
from nfvbed.records.findings import Finding, SiteReport


class CpuFinding(Finding):
    """The processors."""

    model: str
    sockets: int
    cores: int
    threads: int
    flags: tuple[str, ...] = Field(description="the flags that matter to packet work")
    hypervisor: bool
    mitigations: dict[str, str]


class SmtFinding(Finding):
    """Simultaneous multithreading: two threads that share a core disturb each other."""

    active: bool
    siblings: tuple[tuple[int, ...], ...] = ()


class IsolationFinding(Finding):
    """Cores that the scheduler leaves alone."""

    isolated: tuple[int, ...]
    nohz_full: tuple[int, ...]


class GovernorFinding(Finding):
    """Frequency scaling, which changes rates between trials."""

    governors: tuple[str, ...]
    turbo: bool | None


class NumaNode(Record):
    """One memory node."""

    node: int
    cores: tuple[int, ...]
    memory_mib: int


class NumaFinding(Finding):
    """Memory nodes."""

    nodes: tuple[NumaNode, ...]


class MemoryFinding(Finding):
    """Main memory."""

    total_mib: int
    available_mib: int


class NodePages(Record):
    """The pages of one size on one NUMA node."""

    total: int
    free: int


class HugepagePool(Record):
    """The pages of one size."""

    size_kib: int
    total: int
    free: int
    by_node: dict[int, NodePages] = {}
    """Pages of each NUMA node with cores, where there are several nodes."""


class HugepageFinding(Finding):
    """Hugepages: what is there and whether more is available."""

    pools: tuple[HugepagePool, ...]
    reservable_mib: int | None
    """Memory in 2 MiB pages that can be reserved on top of those there; None: not tried."""


class IommuFinding(Finding):
    """I/O memory management."""

    groups: int


class Nic(Record):
    """One network port on the PCI bus."""

    address: str
    vendor: str
    device: str
    driver: str | None
    interfaces: tuple[str, ...]
    numa_node: int | None
    virtual_functions: int
    """Virtual functions that it can have."""


class NicFinding(Finding):
    """Network ports on the PCI bus."""

    nics: tuple[Nic, ...]


class VersionFinding(Finding):
    """The version of a program or library."""

    path: str | None = None
    version: str | None = None


class DoctorReport(SiteReport):
    """Everything that the doctor found on a host; the findings of data planes are extra fields, by name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, SerializeAsAny[Finding] | VersionFinding]

    kernel: str
    distribution: str
    cpu: CpuFinding
    smt: SmtFinding
    isolation: IsolationFinding
    governor: GovernorFinding
    stalls: Finding | None = None
    steal: Finding | None = None
    """None: not tried."""
    numa: NumaFinding
    memory: MemoryFinding
    hugepages: HugepageFinding
    iommu: IommuFinding
    nics: NicFinding
    sriov: Finding
    kvm: Finding
    accelerator: Finding
    vhost_net: Finding
    af_xdp: Finding
    live_frames: Finding
    threaded_napi: Finding
    namespaces: Finding
    cgroup_v2: Finding
    dpdk: VersionFinding
    qemu: VersionFinding
    nfvgen: VersionFinding
    images: Finding | None = None
    """None: not looked for, as on a recorded tree."""

    @property
    def title(self) -> str:
        """The host's system."""
        return f"{self.distribution}, kernel {self.kernel}"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings in its fields, and those of data planes."""
        values = (getattr(self, name) for name in (*type(self).model_fields, *(self.model_extra or {})))
        return tuple(value for value in values if isinstance(value, Finding))


def degraded(support: Support, reasons: Iterable[str], fixes: Iterable[str]) -> Support:
    """Add what an available variant lacks to what is known of it already."""
    reported = {"reason": (support.reason, *reasons), "fix": (support.fix, *fixes)}
    joined = {key: "; ".join(filter(None, texts)) for key, texts in reported.items()}
    return support.model_copy(update={"readiness": Readiness.DEGRADED, **joined})
