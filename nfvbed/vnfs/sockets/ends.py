"""Sockets on any ports of a deployment, and the reasons why there are none."""

from collections.abc import Iterator
from contextlib import contextmanager

from nfvbed.errors import UnsupportedError
from nfvbed.host.generator import destination_macs
from nfvbed.host.network.veth import GENERATOR_LINKS, MACS
from nfvbed.records import Deployment, PortKind
from nfvbed.records.words import CHECKSUM_TRAP
from nfvbed.spec.layout import VEPC, layout
from nfvbed.traffic.sockets.sockettools import LocalTools, Tools
from nfvbed.vnfs.epc.checksums import probe_downlink
from nfvbed.vnfs.epc.driver import bearers_of
from nfvbed.vnfs.guest.machines import absence, machines
from nfvbed.vnfs.offload import REMEDY, ChecksumPath, probe_checksums
from nfvbed.vnfs.sockets.dpdk_hosts import dpdk_hosts
from nfvbed.vnfs.sockets.guest_hosts import GuestTools, guest_hosts
from nfvbed.vnfs.sockets.hosts import HostResources, SocketEnds
from nfvbed.vnfs.sockets.kernel_hosts import kernel_hosts
from nfvbed.vnfs.sockets.own_hosts import own_hosts
from nfvbed.vnfs.sockets.ue import behind_enb

KERNEL = (PortKind.VETH,)
DPDK = (PortKind.VHOST_USER, PortKind.MEMIF)
TURNING = ("macswap", "5tswap")
"""Ways of forwarding that write a frame's source into its destination."""


def why_not(deployment: Deployment) -> str:
    """Return why no sockets can be at the ends of a path; empty where they can."""
    kinds = {port.kind for port in deployment.ports}
    if deployment.simulated:
        return "a simulated system has no ports that sockets could send through"
    if are_guests(deployment):
        return ""
    if layout(deployment.topology).one_way:
        return _no_hosts_in_vnfs(deployment)
    if len(kinds) != 1 or not kinds <= {*KERNEL, *DPDK}:
        named = ", ".join(sorted(kind.value for kind in kinds))
        return f"hosts can be on kernel (veth), vhost-user and memif ports; these are {named}"
    turning = sorted({handle.forwarding for handle in deployment.vnfs} & set(TURNING))
    if turning:
        return f"a VNF that does {turning[0]} sends frames to addresses that the other host has not got"
    return ""


def are_guests(deployment: Deployment) -> bool:
    """Return whether the hosts are the path's own virtual machines, its two ends."""
    return not layout(deployment.topology).outside and not absence(deployment)


def _no_hosts_in_vnfs(deployment: Deployment) -> str:
    outside, ends = layout(deployment.topology).outside, f"VNFs are the ends of {deployment.topology}"
    if outside:
        return f"{ends}: there is no port for both hosts"
    return f"{ends}, and hosts would be in them: {absence(deployment)}"


def tools_of(deployment: Deployment) -> Tools:
    """Return the programs of the hosts.

    Raises:
        PrerequisiteError: the guests' image is too old to have them started.
    """
    return GuestTools.of(machines(deployment)) if are_guests(deployment) else LocalTools()


@contextmanager
def socket_ends(deployment: Deployment, around: HostResources) -> Iterator[SocketEnds]:
    """Put a host on each end of a path for the length of a block. The generator must not be open.

    Args:
        deployment: a deployment that runs, and that frames get through (see `why_not`); where its guests are the
            hosts, their forwarding is paused.

    Raises:
        UnsupportedError: the kernel lacks something, or a VNF breaks the checksums of ordinary traffic.
        GeneratorError: the hosts do not come up.
        PrerequisiteError: a program is missing, or hugepage memory.
    """
    if are_guests(deployment):
        with guest_hosts(deployment, machines(deployment)) as ends_in_guests:
            yield ends_in_guests
        return
    on_kernel = deployment.ports[0].kind in KERNEL
    if on_kernel and deployment.vnfs:
        _refuse_trap(deployment)
    if around.own_ends is not None:
        with own_hosts(deployment, around, around.own_ends) as ends:
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
