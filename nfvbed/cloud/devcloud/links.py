"""The links of a compute node: pairs whose outer ends are the generator's, and one to the management network.

A second compute of the controller's data plane has none to the generator: its pairs lead to the controller's bridges.

They live as long as the node, whose agent needs the physical interfaces when it starts. The generator's ends are in a
network namespace of their own, which the cloud's ledger holds: no deployment makes or removes it.
"""

import hashlib

from pyroute2 import IPRoute

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.cloud.devcloud.places import NodePlaces
from nfvbed.cloud.devcloud.services.computes import DATA, JOINED, MGMT
from nfvbed.cloud.devcloud.services.openvswitch import BRIDGES
from nfvbed.host.ledger.entries import DirectoryEntry, NetnsEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.network import links, namespaces, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.veth import GENERATOR_LINKS, MACS, SWITCH_LINKS

_MGMT_MACS = ("02:4e:46:56:03:00", "02:4e:46:56:03:01")
_JOINED_MACS = {
    name: (f"02:4e:46:56:04:{2 * number:02x}", f"02:4e:46:56:04:{2 * number + 1:02x}")
    for number, name in enumerate((MGMT, *JOINED))
}
_MTU = 1500
_LONGEST = 15
_DIGITS = 8


def generator_space(places: NodePlaces) -> str:
    """Return the path of the network namespace of the generator's ends; each cloud of a machine has another one."""
    mark = hashlib.sha256(str(places.cloud.directory).encode()).hexdigest()[:_DIGITS]
    return str(namespaces.NETNS_DIRECTORY / f"nfvbed-cloud-{mark}-{places.name}")


def space(node: Node) -> str:
    """Return the path of a node's network namespace."""
    return f"/proc/{node.first_process}/ns/net"


def lay(node: Node, controller: Node, ledger: Ledger) -> None:
    """Make the links that are missing, all up."""
    outer = _make_space(node.places, ledger)
    present = inside(space(node), links.all_counters)
    for name, far, switch in zip(DATA, GENERATOR_LINKS, SWITCH_LINKS, strict=True):
        if name not in present:
            macs = (MACS[switch], MACS[far])
            _make_pair(space(node), name, (outer, far), macs)
    veth.prepare(outer, GENERATOR_LINKS)
    veth.prepare(space(node), DATA)
    if MGMT not in present:
        _join(node, controller, MGMT, mgmt_port(node.name), _MGMT_MACS)
    veth.wait_until_up(space(node), (*DATA, MGMT))


def join(node: Node, controller: Node) -> None:
    """Make the missing links of a second compute to the controller's bridges, all up."""
    present = inside(space(node), links.all_counters)
    if MGMT not in present:
        _join(node, controller, MGMT, mgmt_port(node.name), _JOINED_MACS[MGMT])
    for name in JOINED:
        if name not in present:
            _join(node, controller, name, f"second-{name}", _JOINED_MACS[name])
    veth.wait_until_up(space(node), (*JOINED, MGMT))


def mgmt_port(host: str) -> str:
    """Return the name of the controller's end of a node's management link."""
    return f"m-{host}"[:_LONGEST]


def _make_space(places: NodePlaces, ledger: Ledger) -> str:
    path = generator_space(places)
    if _is_entered(path):
        return path
    namespaces.remove(path)
    if not namespaces.NETNS_DIRECTORY.is_dir():
        ledger.record(DirectoryEntry(path=str(namespaces.NETNS_DIRECTORY), shared=True))
        namespaces.NETNS_DIRECTORY.mkdir(mode=0o755, exist_ok=True)
    ledger.record(NetnsEntry(path=path))
    namespaces.create(path)
    return path


def _is_entered(path: str) -> bool:
    """Return whether there is a network namespace at a path; a file without a mount on it is none."""
    try:
        inside(path, lambda: None)
    except OSError:
        return False
    return True


def _make_pair(near_space: str, name: str, far: tuple[str, str], macs: tuple[str, str]) -> None:
    """Make a pair; first remove a far end that an ended node has left."""
    far_space, far_name = far
    inside(far_space, lambda: links.remove([far_name]))
    inside(near_space, lambda: links.add_veth(name, far_name, macs, far_space))


def _join(node: Node, controller: Node, network: str, far: str, macs: tuple[str, str]) -> None:
    """Make a link of a node to the controller's bridge of a network, both ends up."""
    _make_pair(space(node), network, (space(controller), far), macs)
    inside(space(node), lambda: _finish(network))
    inside(space(controller), lambda: _finish(far))
    # Removed first where there was one: the switch has opened a link that is gone.
    words = ("--timeout=20", "--if-exists", "del-port", far, "--", "add-port", BRIDGES[network], far)
    controller.channel.check(Command(("/usr/bin/ovs-vsctl", *words), timeout_s=30.0))


def _finish(name: str) -> None:
    """Set an end up without offloads: userspace Open vSwitch takes frames as they are, with their checksums."""
    links.silence_ipv6((name,))
    with IPRoute() as route:
        route.link("set", index=route.link_lookup(ifname=name)[0], mtu=_MTU)
    links.set_features(name, {links.GRO: False} | dict.fromkeys(links.TRANSMIT_OFFLOADS, False))
    links.set_up((name,))
