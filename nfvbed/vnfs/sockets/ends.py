"""Sockets on any ports of a deployment, and the reasons why there are none."""

from collections.abc import Iterator
from contextlib import contextmanager

from nfvbed.errors import UnsupportedError
from nfvbed.host.generator import destination_macs
from nfvbed.host.network.veth import GENERATOR_LINKS, MACS
from nfvbed.records import Deployment, PortKind
from nfvbed.records.readings import Unavailable
from nfvbed.records.words import CHECKSUM_TRAP
from nfvbed.spec.layout import VEPC, layout
from nfvbed.traffic.sockets.sockettools import LocalTools, Tools
from nfvbed.vnfs.epc.checksums import probe_downlink
from nfvbed.vnfs.epc.driver import bearers_of
from nfvbed.vnfs.guest.machines import PathGuests
from nfvbed.vnfs.offload import REMEDY, ChecksumPath, probe_checksums
from nfvbed.vnfs.sockets.dpdk_hosts import dpdk_hosts
from nfvbed.vnfs.sockets.guest_hosts import GuestTools
from nfvbed.vnfs.sockets.hosts import HostResources, SocketEnds
from nfvbed.vnfs.sockets.kernel_hosts import kernel_hosts
from nfvbed.vnfs.sockets.own_hosts import tap_hosts, veth_hosts
from nfvbed.vnfs.sockets.ue import behind_enb

KERNEL = (PortKind.VETH,)
DPDK = (PortKind.VHOST_USER, PortKind.MEMIF)
TURNING = ("macswap", "5tswap")
"""Ways of forwarding that write a frame's source into its destination."""
_UNJOINED = "no cable of {} joins two guests: topology v2v, a chain, or a VNF of several machines has one"


def why_not(deployment: Deployment, guests: PathGuests | Unavailable | None) -> str:
    """Return why no sockets can be at the ends of a path, or in its guests; empty where they can.

    Args:
        guests: where they are to be in guests, these, or why there are none.
    """
    kinds = {port.kind for port in deployment.ports}
    if deployment.simulated:
        return "a simulated system has no ports that sockets could send through"
    if isinstance(guests, Unavailable):
        return f"hosts would be in virtual machines: {guests.reason}"
    if guests is not None:
        return "" if guests.joined else _UNJOINED.format(deployment.topology)
    if layout(deployment.topology).one_way:
        return f"VNFs are the ends of {deployment.topology}: there is no port for both hosts"
    if len(kinds) != 1 or not kinds <= {*KERNEL, *DPDK}:
        named = ", ".join(sorted(kind.value for kind in kinds))
        return f"hosts can be on kernel (veth), vhost-user and memif ports; these are {named}"
    turning = sorted({handle.forwarding for handle in deployment.vnfs} & set(TURNING))
    if turning:
        return f"a VNF that does {turning[0]} sends frames to addresses that the other host has not got"
    return ""


def must_be_guests(deployment: Deployment) -> bool:
    """Return whether hosts can be nowhere but in the path's guests: its VNFs are its ends."""
    return not layout(deployment.topology).outside


def tools_of(guests: PathGuests | None) -> Tools:
    """Return the programs of the hosts.

    Args:
        guests: whose guests the hosts are; None: they are on this machine.

    Raises:
        PrerequisiteError: the guests' image is too old to have them started.
    """
    return LocalTools() if guests is None else GuestTools.of(guests.guests)


@contextmanager
def socket_ends(deployment: Deployment, around: HostResources) -> Iterator[SocketEnds]:
    """Put a host on each end of a path for the length of a block. The generator must not be open.

    Args:
        deployment: a deployment that runs, and that frames get through (see `why_not`).

    Raises:
        UnsupportedError: the kernel lacks something, or a VNF breaks the checksums of ordinary traffic.
        GeneratorError: the hosts do not come up.
        PrerequisiteError: a program is missing, or hugepage memory.
    """
    on_kernel = deployment.ports[0].kind in KERNEL
    if on_kernel and deployment.vnfs:
        _refuse_trap(deployment)
    if around.own_taps is not None:
        with tap_hosts(deployment, around, around.own_taps) as ends:
            yield ends
        return
    if around.own_veths is not None:
        with veth_hosts(deployment, around, around.own_veths) as ends:
            yield ends
        return
    hosts = kernel_hosts if on_kernel else dpdk_hosts
    with hosts(deployment, around) as ends:
        if deployment.topology != VEPC:
            yield ends
            return
        with behind_enb(deployment, around, ends) as with_ue:
            yield with_ue


def _refuse_trap(deployment: Deployment) -> None:
    if deployment.topology == VEPC:
        report = probe_downlink(deployment, bearers_of(deployment.vnfs[0]))
    else:
        first, second = (MACS[name] for name in GENERATOR_LINKS)
        towards = destination_macs(deployment)
        report = probe_checksums(deployment, (first, towards[0] if towards else second))
    if report.result is ChecksumPath.BROKEN:
        raise UnsupportedError(
            f"{CHECKSUM_TRAP}: it sends frames whose checksum was left to a NIC",
            where=f"{deployment.vnfs[0].name}, {deployment.vnfs[0].forwarding}",
            observed=report.observed,
            fix=REMEDY,
        )
