"""Where hosts can be, and on which cores; nothing is made."""

import pytest

from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.records import Deployment, GeneratorPort, PortKind, VnfHandle, VnfKind
from nfvbed.vnfs.guest.machines import path_guests
from nfvbed.vnfs.sockets.ends import must_be_guests, why_not
from nfvbed.vnfs.sockets.hosts import place


def deployment(kind=PortKind.VETH, topology="p2p", forwarding=None, **changes):
    ports = tuple(GeneratorPort(engine="xdp", spec=f"g{number}", kind=kind) for number in (0, 1))
    vnfs = (VnfHandle(name="vnf1", kind=VnfKind.PROCESS, forwarding=forwarding, ports=()),) if forwarding else ()
    return Deployment(id="1", variant="x", site="lab", topology=topology, ports=ports, vnfs=vnfs, **changes)


@pytest.mark.parametrize("kind", [PortKind.VETH, PortKind.VHOST_USER, PortKind.MEMIF])
def test_hosts_can_be_on_both_ports(kind):
    assert why_not(deployment(kind), None) == ""
    assert why_not(deployment(kind, "pvp", "bridge"), None) == ""


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (deployment(simulated=True), "simulated"),
        (deployment(topology="v2v"), "v2v has no VNF here, so no guest"),
        (deployment(topology="p2v"), "VNFs are the ends of p2v"),
        (deployment(PortKind.PCI), "these are pci"),
        (deployment(topology="pvp", forwarding="macswap"), "macswap"),
    ],
)
def test_where_hosts_cannot_be_the_reason_is_reported(found, reason):
    assert reason in why_not(found, path_guests(found) if must_be_guests(found) else None)


def arranged(control, vnf=()):
    return Arrangement(switch_cores=(0,), generator_core=1, control_cores=control, vnf_cores=vnf)


def test_on_two_cores_all_share_the_generators():
    found = place(arranged((1,)), polls=True)
    assert (found.poller, found.client, found.server, found.shared) == (1, 1, 1, True)
    assert place(arranged((1,)), polls=False).shared


def test_free_cores_are_used_and_never_those_of_switch_and_vnfs():
    found = place(arranged((2, 3)), polls=True)
    assert (found.poller, found.client, found.server, found.shared) == (1, 2, 3, False)
    found = place(arranged((2, 3), vnf=(2,)), polls=True)
    assert (found.poller, found.client, found.server, found.shared) == (1, 3, 3, True)
    found = place(arranged((2, 3)), polls=False)
    assert (found.poller, found.client, found.server, found.shared) == (None, 1, 2, False)
