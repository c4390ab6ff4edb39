"""The seats of VNFs: from a deployment's ports and the arrangement of cores."""

from nfvbed.dataplanes.ports import vhost_user
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.network import veth
from nfvbed.host.network.veth import GENERATOR_LINKS
from nfvbed.records import Deployment, PortKind, VnfKind
from nfvbed.spec.layout import EndKind, Layout
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.numa import GuestPlacement, Host, place_guest
from nfvbed.vnfs.vnf import SINK, SOURCE, VnfHost, VnfSeat

_SOCKETS = (PortKind.VHOST_USER, PortKind.MEMIF)
"""Ports of the generator that are DPDK's own; a virtual function has the address of a kernel's port, with any driver.
"""


def seats(deployment: Deployment, plan: Layout, choice: VnfChoice, host: VnfHost) -> tuple[VnfSeat, ...]:
    """Return a seat for every VNF, in the order of the path.

    Args:
        deployment: a deployment with the ports of the VNFs.
        choice: the VNF; all places run the same.

    Raises:
        UnsupportedError: the host cannot give virtual machines what their flavor wants.
    """
    arrangement = host.arrangement
    cores = arrangement.vnf_cores
    used = [cores[index % len(cores)] for index in range(len(deployment.vnf_ports))]
    guests = _guests(choice, arrangement, used)
    return tuple(
        VnfSeat(
            index=index,
            choice=choice,
            does=_does(plan, index, choice),
            ports=ports,
            workspace=host.workspace,
            cores=(used[index],),
            control_cores=arrangement.control_cores,
            shares_core=used[index] == arrangement.generator_core
            or used.count(used[index]) > 1
            or _meets_others(guests[index], arrangement),
            root=host.root,
            guest=guests[index],
            beyond=beyond(deployment, plan, index),
        )
        for index, ports in enumerate(deployment.vnf_ports)
    )


def _guests(choice: VnfChoice, arrangement: Arrangement, used: list[int]) -> list[GuestPlacement | None]:
    """Place virtual machines one after another: a core that one has alone is taken for the next."""
    if choice.kind is not VnfKind.VM:
        return [None for _ in used]
    topology, taken, placed = read_topology(), frozenset[int](), list[GuestPlacement | None]()
    for core in used:
        guest = place_guest(choice.flavor, Host(topology, arrangement, taken=taken), (core,))
        if choice.flavor.cpu_policy == "dedicated":
            taken |= {own for cores in guest.vcpu_cores for own in cores}
        placed.append(guest)
    return placed


def _meets_others(guest: GuestPlacement | None, arrangement: Arrangement) -> bool:
    """Return whether vCPUs may run on cores of the switch or the generator."""
    others = {*arrangement.switch_cores, arrangement.generator_core}
    return guest is not None and any(others & set(cores) for cores in guest.vcpu_cores)


def beyond(deployment: Deployment, plan: Layout, index: int) -> tuple[str, str]:
    """Return the peers of a VNF's ports: its neighbours in a chain, or the generator at ends and side by side."""
    vnfs = deployment.vnf_ports
    kind = (deployment.ports or deployment.vnf_ports[index])[0].kind
    generator = vhost_user.MACS if kind in _SOCKETS else tuple(veth.MACS[name] for name in GENERATOR_LINKS)
    if plan.ways > 1:
        return generator[0], generator[1]
    before = vnfs[index - 1][-1].mac if index > 0 else generator[0]
    after = vnfs[index + 1][0].mac if index + 1 < len(vnfs) else generator[1]
    return before, after


def _does(plan: Layout, index: int, choice: VnfChoice) -> str:
    """Return a VNF's task: an end of the path sends or receives, whatever it could forward."""
    if index == 0 and plan.ends[0] is EndKind.SOURCE:
        return SOURCE
    if index == plan.vnfs - 1 and plan.ends[1] is EndKind.SINK:
        return SINK
    return choice.forwarding


def tasks(plan: Layout, choice: VnfChoice) -> set[str]:
    """Return the tasks of a layout's VNFs: to forward, or to be a source or a sink."""
    ends = {EndKind.SOURCE: "source", EndKind.SINK: "sink"}
    tasks = {ends[end] for end in plan.ends if end in ends}
    return tasks if plan.one_way else {choice.forwarding}
