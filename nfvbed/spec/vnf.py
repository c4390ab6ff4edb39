"""`vnfd/<name>/vnf.yml`: the one description of a VNF, and how an experiment uses it."""

import hashlib
import re
from pathlib import PurePath
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from nfvbed.patience import patient
from nfvbed.records import VnfKind
from nfvbed.spec.bearers import MOST_BEARERS
from nfvbed.spec.corenetwork import CoreNetwork
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.gateway import GATEWAYS
from nfvbed.spec.model import SpecModel
from nfvbed.spec.pcrf import NEXTEPC, PcrfKind
from nfvbed.spec.rings import RingSize

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")]
Vnic = Literal["any", "vhost-user", "tap", "macvtap", "vf", "e1000", "rtl8139"]
Forwarding = Literal[
    "io",
    "mac",
    "macswap",
    "5tswap",
    "bridge",
    "router",
    "xdp",
    "raw",
    "nextepc",
    "xdp-gateway",
    "dpdk-gateway",
    "image",
]
"""testpmd's modes; a kernel bridge or router; XDP redirect; raw Ethernet through AF_PACKET; a mobile core, its bearers
carried by nextepc's gateways or by nfvbed's own; whatever an image does."""
KERNEL_FORWARDING = frozenset({"bridge", "router", "xdp", "raw", "nextepc", "xdp-gateway"})
"""What a process VNF does with ports that are network devices of the kernel."""
ADDRESSED_FORWARDING = frozenset({*GATEWAYS, "router"})
"""Ways of forwarding that take only frames that are addressed to them."""
RAW_FORWARDING = frozenset({"io", "mac", "macswap", "5tswap", "xdp", "raw", "xdp-gateway", "dpdk-gateway"})
"""Ways of forwarding that see a frame's bytes alone; a kernel's bridge or router passes on what a stack noted of it."""
AS_THE_IMAGE: Literal["image"] = "image"
"""What a virtual machine does whose image has no agent of nfvbed; it need not be among a VNF's ways of forwarding."""
NATIVE: Literal["native"] = "native"
"""In an experiment: the forwarding that belongs to the variant (`native_vnf` in its file)."""


Bearers = Annotated[int, Field(ge=1, le=MOST_BEARERS)]


class VnfPortSpec(SpecModel):
    """A port of the VNF; their order is that of the path."""

    name: Name
    role: Literal["in", "out", "management"]
    """Place in the path."""
    vnic: Vnic = "any"
    """Kind of NIC that it needs; any: what the data plane has."""


class ImageSpec(SpecModel):
    """A disk image."""

    file: str = Field(min_length=1)
    """Path below the project's root, or an absolute one."""
    sha256: str | None = Field(None, pattern=r"^[0-9a-f]{64}$")
    """Digest; None: the image is built here (`make images`) and its digest is in the file beside it."""
    agent: bool = True
    """Presence of nfvbed's agent; a user's own image has none, and forwards as it was made to."""
    console_marker: str = ""
    """Text on its serial console when it is up; empty: none is waited for."""


class ReadinessSpec(SpecModel):
    """When the VNF is believed to be up."""

    timeout_s: float = Field(120, gt=0, le=3600)
    """Longest time until it is ready, s."""
    probe_frames: int = Field(10, ge=0, le=1000)
    """Frames sent through it before it is ready; 0: it is not probed, and results say so."""

    @property
    def within_s(self) -> float:
        """The time-out as it is on this machine."""
        return patient(self.timeout_s)


class MonitoringSpec(SpecModel):
    """What Tacker's ping monitor is told of a VNF: it has one respawned whose management address does not answer."""

    delay_s: int = Field(60, ge=1, le=3600)
    """Time until it looks first, s after the VNF is ACTIVE: its guest boots meanwhile."""
    count: int = Field(3, ge=1, le=100)
    """Echo requests of a look; one that is answered is enough."""
    interval_s: int = Field(1, ge=1, le=60)
    """Time between two echo requests, s."""
    timeout_s: int = Field(2, ge=1, le=60)
    """Longest wait for the last answer, s."""


class VnfSpec(SpecModel):
    """One VNF, as declared; all sites read this file."""

    has_own_image: ClassVar[bool] = True
    has_one_machine: ClassVar[bool] = True
    name: Name
    title: str
    summary: str = ""
    kinds: tuple[VnfKind, ...] = Field(min_length=1)
    """Kinds in which it runs."""
    ports: tuple[VnfPortSpec, ...] = Field(min_length=1)
    """Ports in the order of the path."""
    raw_ethernet: bool = False
    """Reading and writing of whole frames without the kernel's stack, so that a checksum left to hardware is not
    completed."""
    forwarding: tuple[Forwarding, ...] = Field(min_length=1)
    """Ways of forwarding that it has; the first is the default."""
    burst: int = Field(32, ge=1, le=512)
    """Frames that it takes at a time."""
    descriptors: RingSize = 512
    """Descriptors of each of its ports' rings; a power of two."""
    retry: bool = False
    """Further attempts with frames that a full ring refuses (testpmd's burst tx retry)."""
    merge_buffers: bool = Field(default=True, exclude_if=lambda value: value)
    """Frames in several receive buffers of a virtual machine's virtio NICs (QEMU's `mrg_rxbuf`)."""
    flavor: Name = "default"
    """Name of a file in `flavors`."""
    image: ImageSpec | None = None
    """Disk image of a virtual machine; None: it runs in none."""
    readiness: ReadinessSpec = ReadinessSpec()
    """Condition under which it is ready."""
    monitoring: MonitoringSpec | None = Field(default=None, exclude_if=lambda value: value is None)
    """Monitoring by Tacker, whose legacy API alone has it; it needs a port of role management. None: there is none."""

    @model_validator(mode="after")
    def parts_fit_together(self) -> "VnfSpec":
        names = [port.name for port in self.ports]
        if len(set(names)) != len(names):
            raise ValueError(f"ports names something twice: {names}")
        roles = [port.role for port in self.ports if port.role != "management"]
        if roles not in (["in", "out"], ["in"], ["out"]):
            raise ValueError(f"ports must have one of role in and one of role out, in this order, and has {roles}")
        if VnfKind.VM in self.kinds and self.image is None and self.has_own_image:
            raise ValueError("a VNF of kind vm needs an image")
        if self.monitoring is not None and not self.has_one_machine:
            raise ValueError("monitoring is of a VNF of one machine: Tacker would make all machines again")
        if self.monitoring is not None and not self.is_managed:
            raise ValueError("monitoring needs a port of role management, whose address is pinged")
        return self

    @property
    def is_managed(self) -> bool:
        """Whether it has a management port."""
        return any(port.role == "management" for port in self.ports)

    @property
    def network(self) -> CoreNetwork | None:
        """Network that it serves as a mobile core, where its file names another one than the default."""
        return None

    @property
    def row(self) -> "MachineRow | None":
        """Its machines, where a frame passes one after the other; None: it has one machine, or they are something
        else."""
        return None

    def without_machines(self) -> "VnfSpec":
        """Return the VNF as it is where it runs in no virtual machine."""
        return self


_TUNNEL = "tunnel"
"""Beginning of the names of such networks."""


class MachineRow(SpecModel):
    """Virtual machines of one VNF that a frame passes one after the other: each forwards between its two ports."""

    machines: tuple[Name, ...]
    """Names, in the order of the path."""
    links: tuple[str, ...]
    """Networks between neighbours, as the file names them; an empty one is made with the VNF."""

    @property
    def tunnels(self) -> tuple[str, ...]:
        """Networks between its machines that are tunnels between computes: `tunnel1`."""
        return tuple(link for link in self.links if link.startswith(_TUNNEL))


class VnfUse(SpecModel):
    """How an experiment (or a variant: its native VNF) uses a VNF."""

    vnf: Name = "vloop"
    """Name of a folder in `vnfd`."""
    kind: VnfKind = VnfKind.PROCESS
    """Kind in which it runs."""
    forwarding: Forwarding | Literal["native"] | None = None
    """Way of forwarding; None: the VNF's default; native: the variant's own."""
    flavor: Name | None = None
    """Flavor; None: the VNF's."""
    vnic: Vnic = "any"
    """Kind of NIC; any: what the data plane has."""
    image: ImageSpec | None = None
    """Image in place of the VNF's: one line for a user's own."""
    offloads: bool = True
    """Checksum and segmentation offloads of its ports."""
    bearers: Bearers | None = None
    """Bearers of a mobile core that traffic goes over; more than are attached (40, 50 with pcrf stand-in) are, but for
    16, written to the table of nfvbed's own gateway and called synthetic. None: 16, by attach."""
    pcrf: PcrfKind | None = None
    """Policy function of a mobile core: nextepc's, or nfvbed's stand-in. None: nextepc's."""

    @property
    def label(self) -> str:
        """What distinguishes it from other uses in one run: `process-io`, `vm-bridge`, `native`."""
        if self.forwarding == NATIVE:
            return NATIVE
        parts = [self.kind.value, self.forwarding or "default"]
        parts += [self.vnf] if self.vnf != "vloop" else []
        parts += [self.flavor] if self.flavor else []
        parts += [self.vnic] if self.vnic != "any" else []
        parts += [_slug(self.image.file)] if self.image else []
        parts += [] if self.offloads else ["no-offloads"]
        parts += [f"{self.bearers}-bearers"] if self.bearers else []
        parts += [f"{self.pcrf}-pcrf"] if self.pcrf not in (None, NEXTEPC) else []
        return "-".join(parts)


def _slug(file: str) -> str:
    """Return a file's name as a part of a label: its stem, in lower case, with hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", PurePath(file).stem.lower()).strip("-") or "image"


class VnfChoice(SpecModel):
    """A VNF as it will run: everything that its digest stands for."""

    label: str
    """Label of the use."""
    vnf: VnfSpec
    kind: VnfKind
    forwarding: Forwarding
    flavor: Flavor
    own_flavor: bool = False
    """Mark of a flavor that the experiment alone has: no file does, and no command can name it."""
    vnic: Vnic = "any"
    image: ImageSpec | None = None
    offloads: bool = True
    native: bool = False
    """Mark of the variant's own VNF, which differs from variant to variant."""
    bearers: Bearers | None = None
    """Bearers of a mobile core; None: the default number."""
    pcrf: PcrfKind | None = None
    """PCRF of a mobile core; None: nextepc's."""
    core: CoreNetwork | None = None
    """Network of a mobile core; None: the default one, or it is none."""
    row: MachineRow | None = None
    """Its virtual machines where it has several on the path; None: it has one."""

    @property
    def is_raw(self) -> bool:
        """Whether it sees a frame's bytes alone, so that a checksum left to hardware stays undone."""
        return self.vnf.raw_ethernet or self.forwarding in RAW_FORWARDING

    @property
    def digest(self) -> str:
        """Digest of everything but the label; what has no bearers, nextepc's PCRF, the default network or one machine,
        has that of before."""
        left_out = {"label", "own_flavor"} | (set() if self.bearers else {"bearers"})
        left_out |= set() if self.core else {"core"}
        left_out |= {"pcrf"} if self.pcrf in (None, NEXTEPC) else set()
        left_out |= set() if self.row else {"row"}
        return hashlib.sha256(self.model_dump_json(exclude=left_out).encode()).hexdigest()


def vnic_of(choice: VnfChoice) -> Vnic:
    """Return the NIC that a VNF is to have: the choice's, else that which its ports ask for."""
    if choice.vnic != "any":
        return choice.vnic
    asked = [port.vnic for port in choice.vnf.ports if port.role != "management" and port.vnic != "any"]
    return asked[0] if asked else "any"
