"""A virtual machine as a value: everything that its command line is made of."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nfvbed.records import Accelerator

Backend = Literal["vhost-user", "tap", "macvtap", "vf"]
Model = Literal["virtio", "e1000", "rtl8139", "vf"]


@dataclass(frozen=True)
class MemoryNode:
    """One NUMA node of the guest; a guest without NUMA has one."""

    mib: int
    vcpus: tuple[int, ...]
    hugepages: Path | None = None
    """A hugetlbfs; None: ordinary pages."""
    host_node: int | None = None
    """The host's node that it is bound to; None: any."""


@dataclass(frozen=True)
class Nic:
    """A NIC of the guest and what it is connected to."""

    model: Model
    backend: Backend
    address: str
    """vhost-user: the socket, whose server QEMU is; tap: the device's name; vf: its PCI address."""
    mac: str
    queues: int = 1
    queue_size: int = 256
    offloads: bool = True
    """Checksum and segmentation offloads, of virtio alone."""
    merge_buffers: bool = True
    """Frames in several receive buffers (`mrg_rxbuf`), of virtio alone."""
    vhost: bool = False
    """tap: the kernel moves the frames (vhost-net), not QEMU."""
    descriptors: tuple[int, ...] = ()
    """macvtap: open files that QEMU inherits, one a queue."""


@dataclass(frozen=True)
class Disk:
    """The disk that the guest boots from."""

    path: Path
    format: Literal["qcow2", "raw"]
    read_only: bool
    """Else it is written to: an overlay in the run directory."""


@dataclass(frozen=True)
class DirectBoot:
    """A kernel that QEMU loads, without the disk's own loader."""

    kernel: Path
    ramdisk: Path
    command_line: str


@dataclass(frozen=True)
class Guest:
    """A virtual machine."""

    name: str
    folder: Path
    """For its sockets and logs."""
    accelerator: Accelerator
    vcpus: int
    memory: tuple[MemoryNode, ...]
    nics: tuple[Nic, ...]
    disk: Disk
    direct: DirectBoot | None = None
    numa: bool = False
    """Whether the guest sees nodes; else one node without a number."""
    locked: bool = False
    """Keep all of its memory from being paged out (real time)."""

    @property
    def monitor(self) -> Path:
        """Socket of QEMU's monitor."""
        return self.folder / f"{self.name}.qmp"

    @property
    def console(self) -> Path:
        """Socket of the first serial port."""
        return self.folder / f"{self.name}.console"

    @property
    def console_log(self) -> Path:
        """What the guest printed on it."""
        return self.folder / f"{self.name}-console.log"

    @property
    def agent(self) -> Path:
        """Socket of the second serial port, where the image's agent answers."""
        return self.folder / f"{self.name}.agent"

    @property
    def shares_memory(self) -> bool:
        """Whether another process maps the guest's memory: the switch behind vhost-user ports does."""
        return any(nic.backend == "vhost-user" for nic in self.nics)
