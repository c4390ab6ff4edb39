"""The base of every data plane's options, and what these say about its ports, cores and paths."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import StringConstraints

from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.framelimits import VXLAN, FrameLimit, TunnelKind
from nfvbed.spec.layout import Layout
from nfvbed.spec.model import SpecModel
from nfvbed.spec.vnf import VnfChoice, vnic_of

CoreUse = Literal["threaded-napi", "rps", "inline"]
"""Which core does the receive work of veth ports: see `nfvbed/dataplanes/ports/kernel_cores.py`."""

USUAL_RING = 1024

NETDEV = "netdev"
"""The kernel's own way between network devices: buffers of its stack, handed on in softirq."""
AF_XDP, AF_PACKET = "af_xdp", "af_packet"
"""Sockets that give a program of user space the frames of a network device."""
IO_PATHS: dict[PortKind, str] = {
    PortKind.VHOST_USER: "vhost",
    PortKind.MEMIF: "memif",
    PortKind.VF: "vf",
    PortKind.PCI: "pci",
    PortKind.SIMULATED: "simulated",
}
"""Kinds of ports that there is one way to pass."""
REFERENCE_IO_PATHS = IO_PATHS | {PortKind.VETH: AF_XDP}
"""How testpmd passes them in the switch's place (`nfvbed/dataplanes/ports/veth_ceilings.py`)."""

PortName = Annotated[str, StringConstraints(pattern=r"^(p[01]|v([1-9]|10)[ab])$")]
"""A data plane's port: p0 and p1 outside, v1a and v1b at the first VNF."""


class DataPlaneOptions(SpecModel):
    """Options of one kind of data plane; each has its own name in `dataplane`, as a literal."""

    dataplane: str
    colour: ClassVar[int | None] = None
    """Place in the palette of the variant that has the data plane's own name; None: as its name gives it."""
    cycle_sources: ClassVar[tuple[str, ...]] = ()
    """Sources of counters (`SwitchCounters.source`) of the cycles that its threads took for packets; others count more.
    """
    command_fields: ClassVar[frozenset[str]] = frozenset()
    """Names of options whose commands are run: those of a store are run only as a file of the project has them."""
    cloud_tunnel: ClassVar[TunnelKind] = VXLAN
    """Kind of the tunnels that a cloud has between computes with it."""
    takes_programs: ClassVar[bool] = False
    """Whether other programs can stand in the place of its own at a port (the test `xdp-tasks`)."""
    takes_queued_taps: ClassVar[bool] = False
    """Whether a tap of several queues can be a port of it beside those of its layout (the test `queue-balance`)."""

    @property
    def port_kinds(self) -> tuple[PortKind, ...]:
        """What a generator can be attached by, with these options; the first where the site asks for no other."""
        return (PortKind.VETH,)

    @classmethod
    def changes_of(cls, before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
        """Return what the data plane does otherwise by itself, between the recorded versions of two deployments."""
        return ()

    @property
    def switch_cores(self) -> int:
        """Cores that its threads fill."""
        return 1

    @property
    def generator_queues(self) -> int:
        """Queues of its port that a generator sends on: it may use as many cores."""
        return 1

    @property
    def is_simulated(self) -> bool:
        """Whether nothing of it can ever be a measurement."""
        return False

    @property
    def veth_core_use(self) -> CoreUse:
        """Where the receive work of the generator's veth ports and of their ceilings is done."""
        return "threaded-napi"

    @property
    def veth_offloads(self) -> bool:
        """Whether the generator's veth ports and their ceilings have offloads."""
        return True

    @property
    def has_vnf_ceiling(self) -> bool:
        """Whether a VNF on such ports can be looped back without the data plane."""
        return True

    @property
    def ring_size(self) -> int:
        """Descriptors of a ring in shared memory (vhost-user, memif): the switch's, and its ceilings'."""
        return USUAL_RING

    @property
    def ring_memory_mib(self) -> int:
        """Hugepage memory of whatever sits on such rings in the switch's place."""
        return 256

    def port_settings(self, kind: PortKind) -> tuple[str, ...]:
        """Return the settings in which such ports differ from most data planes': ceilings hold for ports set alike."""
        if kind is PortKind.VETH:
            core_use = () if self.veth_core_use == "threaded-napi" else (self.veth_core_use,)
            return core_use if self.veth_offloads else (*core_use, "no-offloads")
        if kind in (PortKind.VHOST_USER, PortKind.MEMIF) and self.ring_size != USUAL_RING:
            return (f"ring-{self.ring_size}",)
        return ()

    def io_path(self, kind: PortKind) -> str:
        """Return the way by which frames pass ports of a kind: a ceiling bounds only what has the same way.

        Of veth ports, which several have, each says its own: with a system call or without, in the kernel or outside.
        """
        return IO_PATHS.get(kind, NETDEV)

    def frame_limits(self, kind: PortKind, plan: Layout) -> tuple[FrameLimit, ...]:
        """Return the limits on frames of a path, beside those of the generator's ports and the VNFs.

        Args:
            kind: of the generator's ports.
        """
        return ()

    @property
    def tracks_connections(self) -> bool:
        """Whether what becomes of a frame depends on the state of its connection."""
        return False

    @property
    def slow_to_deploy(self) -> bool:
        """Whether a deployment may take long (many rules): an experiment may repeat it less often."""
        return False

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return the kind of ports by which a VNF attaches to the data plane.

        Raises:
            UnsupportedError: this VNF cannot be attached; with the reason.
        """
        raise UnsupportedError(
            "the variant has no ports for VNFs",
            observed=f"{type(self).__name__}; VNF {choice.label or choice.vnf.name}",
        )

    def leaves_checksums_out(self, choice: VnfChoice) -> bool:
        """Return whether a raw-Ethernet VNF would get frames with incomplete checksums, as far as options tell.

        For a virtual machine they do not tell: what its NIC offers is known when QEMU runs.
        """
        return False

    def check_layout(self, plan: Layout) -> None:
        """Refuse a topology that does not fit these options, whatever its VNFs are.

        Raises:
            UnsupportedError: with the option, and what would fit.
        """

    def check(self, plan: Layout, choice: VnfChoice) -> None:
        """Refuse paths with such VNFs that the data plane cannot join, where its topologies do not say so.

        Raises:
            UnsupportedError: with the reason.
        """


def name_of(options: type[DataPlaneOptions]) -> str:
    """Return the name of the data plane whose options these are, its `dataplane`; empty for what several share."""
    names = get_args(options.model_fields["dataplane"].annotation)
    return str(names[0]) if names else ""


def names_of(options: type[DataPlaneOptions]) -> tuple[str, ...]:
    """Return the names of the data planes that have these options: one, or all among which they are shared."""
    name = name_of(options)
    shared = (each for derived in options.__subclasses__() for each in names_of(derived))
    return tuple(sorted({name} if name else set(shared)))


def kinds_named(kinds: tuple[PortKind, ...]) -> str:
    """Return kinds of ports as text: `vhost-user or memif`."""
    return " or ".join(kind.value for kind in kinds)


def refuse_existing() -> UnsupportedError:
    """Return the error for a VNF that runs elsewhere, on a switch that nfvbed sets up."""
    return UnsupportedError(
        "a VNF that runs already cannot be attached to a switch that is only being set up",
        where="lab",
        observed="kind: existing",
        fix="kind: process or vm",
    )


def veth_for_processes(choice: VnfChoice, where: str, no_guests: str) -> PortKind:
    """Return veth for a process or container, and refuse any other VNF.

    Args:
        where: name of the data plane, for the message.
        no_guests: why a virtual machine gets none.

    Raises:
        UnsupportedError: the VNF is neither, or wants another NIC.
    """
    if choice.kind is VnfKind.EXISTING:
        raise refuse_existing()
    if choice.kind is VnfKind.VM:
        raise UnsupportedError(
            "a virtual machine is not attached to this data plane",
            where=where,
            observed=no_guests,
            fix="kind: process or container; or variant linux-bridge",
        )
    vnic = vnic_of(choice)
    if vnic != "any":
        raise UnsupportedError(
            f"a VNF of kind {choice.kind} has no NIC of kind {vnic!r}",
            where=where,
            observed="a process or container gets the end of a veth pair",
            fix="vnic: any",
        )
    return PortKind.VETH
