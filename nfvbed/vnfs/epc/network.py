"""The networks of one vEPC: a namespace for each function, joined by a control network, and S5-U beside it.

S1-U and SGi are the VNF's two ports; everything else is a veth pair here, on no switch under test. Each deployment has
namespaces of its own, so that these addresses are the same in all of them.
"""

import os
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from pyroute2 import IPRoute

from nfvbed.host.generator import GENERATOR_ADDRESSES
from nfvbed.host.network import links, namespaces
from nfvbed.host.network.namespaces import inside
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.vnfs.epc.configuration import Addresses

CONTROL = IPv4Network("10.230.0.0/24")
S5 = IPv4Network("10.230.1.0/30")
STORE, HSS, PCRF, MME, SGW, PGW, ENB = (str(CONTROL[number]) for number in range(2, 9))
"""Addresses on the control network."""
FUNCTIONS = {"store": STORE, "hss": HSS, "pcrf": PCRF, "mme": MME, "sgw": SGW, "pgw": PGW, "enb": ENB}
PGW_S5 = str(S5[1])
"""The PDN gateway's on S5-U; the serving gateway has the other one, and speaks with that of S1-U."""
SGW_S5 = str(S5[2])
ENB_S1U, SERVER = (IPv4Address(address) for address in GENERATOR_ADDRESSES)
"""The ends of the path are the generator's ports: the eNB's of S1-U and the server behind SGi."""
SGW_S1U = IPv4Address("198.18.255.1")
GATEWAY_SGI = IPv4Address("198.19.255.1")
"""Address of nfvbed's own gateway on SGi; nextepc's has none there."""
UES = IPv4Network("10.231.0.0/24")
UE_GATEWAY = UES[1]
TUN = "pgwtun"
ADDRESSES = Addresses(
    store=STORE,
    diameter={"hss": HSS, "pcrf": PCRF, "mme": MME, "pgw": PGW},
    gtpc={"mme": MME, "sgw": SGW, "pgw": PGW},
    gtpu={"sgw": str(SGW_S1U), "pgw": PGW_S5},
    s1ap=MME,
    ues=f"{UE_GATEWAY}/{UES.prefixlen}",
    tun=TUN,
    dns=str(SERVER),
)
"""Addresses of the functions, for their configuration."""
_BRIDGE = "control"
_LINK = "ctl"
_S5_LINK = "s5"
_ASIDE = {
    "sgw": ("s1u", "02:4e:46:57:03:00", "02:4e:46:57:03:01"),
    "pgw": ("sgi", "02:4e:46:57:03:02", "02:4e:46:57:03:03"),
}
"""Ports of nextepc's gateways that lead nowhere: the device, its address, and that of its other end."""
_ROUTING = {
    "ip_forward": "1",
    "conf/all/rp_filter": "0",
    "conf/default/rp_filter": "0",
    "conf/all/send_redirects": "0",
    "conf/default/send_redirects": "0",
}


@dataclass(frozen=True)
class EpcNamespaces:
    """Paths of the namespaces of one vEPC."""

    prefix: str
    """What all of them begin with."""

    @property
    def control(self) -> str:
        """The control of the bridge that joins the functions."""
        return f"{self.prefix}-control"

    @property
    def functions(self) -> dict[str, str]:
        """What is known of each function, by its name in `FUNCTIONS`."""
        return {name: f"{self.prefix}-{name}" for name in FUNCTIONS}

    def remove(self) -> None:
        """Remove all namespaces with what is in them."""
        for path in (*self.functions.values(), self.control):
            namespaces.remove(path)


@dataclass(frozen=True)
class DataPort:
    """A VNF's port as a gateway sees it."""

    device: str
    beyond: str
    """The MAC address of what is behind it."""


def make(workspace: Workspace, prefix: str) -> EpcNamespaces:
    """Make the namespaces and the networks between them.

    Raises:
        OSError, NetlinkError: the kernel refuses.
    """
    control = workspace.network_namespace(f"{prefix}-control")
    spaces = {name: workspace.network_namespace(f"{prefix}-{name}") for name in FUNCTIONS}
    inside(control, lambda: links.add_bridge(_BRIDGE, (), {"br_stp_state": 0, "br_forward_delay": 0}, learning=True))
    for number, (name, address) in enumerate(FUNCTIONS.items()):
        macs = (f"02:4e:46:57:00:{number:02x}", f"02:4e:46:57:01:{number:02x}")
        inside(control, partial(_add_pair, name, _LINK, macs, spaces[name]))
        inside(control, partial(_join, name))
        inside(spaces[name], partial(_address, _LINK, f"{address}/{CONTROL.prefixlen}"))
    macs = ("02:4e:46:57:02:00", "02:4e:46:57:02:01")
    inside(spaces["sgw"], partial(_add_pair, _S5_LINK, _S5_LINK, macs, spaces["pgw"]))
    inside(spaces["sgw"], partial(_address, _S5_LINK, f"{SGW_S5}/{S5.prefixlen}"))
    inside(spaces["pgw"], partial(_address, _S5_LINK, f"{PGW_S5}/{S5.prefixlen}"))
    return EpcNamespaces(control.removesuffix("-control"))


def lead_s1u(port: DataPort) -> None:
    """Give the serving gateway its S1-U address and a route to the eNB, without ARP, so that only the traffic is sent.

    Runs in its namespace.
    """
    _allow_routing()
    with IPRoute() as route:
        index = route.link_lookup(ifname=port.device)[0]
        route.addr("add", index=index, address=str(SGW_S1U), prefixlen=32)
        _lead(route, index, str(ENB_S1U), port.beyond)


def lead_sgi(port: DataPort) -> None:
    """Give the PDN gateway routes to the server, to the serving gateway, and to the UEs behind its tun device.

    Runs in its namespace.
    """
    _allow_routing()
    links.add_tun(TUN)
    links.silence_ipv6((TUN,))
    _address(TUN, f"{UE_GATEWAY}/{UES.prefixlen}")
    with IPRoute() as route:
        _lead(route, route.link_lookup(ifname=port.device)[0], str(SERVER), port.beyond)
        route.route("add", dst=f"{SGW_S1U}/32", gateway=SGW_S5)


def set_aside(spaces: EpcNamespaces) -> None:
    """Give nextepc's gateways unused ports: they set bearers up, and another gateway carries them.

    Raises:
        OSError, NetlinkError: the kernel refuses.
    """
    for function, lead in (("sgw", lead_s1u), ("pgw", lead_sgi)):
        device, mac, beyond = _ASIDE[function]
        inside(spaces.functions[function], partial(_add_aside, device, (mac, beyond)))
        inside(spaces.functions[function], partial(lead, DataPort(device, beyond)))


def _add_aside(device: str, macs: tuple[str, str]) -> None:
    links.silence_ipv6()
    links.add_veth(device, f"{device}-end", macs)
    links.set_up((device, f"{device}-end"))


def move(device: str, source: str, target: str) -> None:
    """Move a device into another namespace, where it is down."""
    handle = os.open(target, os.O_RDONLY | os.O_CLOEXEC)

    def work() -> None:
        with IPRoute() as route:
            route.link("set", index=route.link_lookup(ifname=device)[0], net_ns_fd=handle)

    try:
        inside(source, work)
    finally:
        os.close(handle)


def _add_pair(name: str, peer: str, macs: tuple[str, str], peer_netns: str) -> None:
    links.silence_ipv6()
    links.add_veth(name, peer, macs, peer_netns)
    links.set_up((name,))


def _join(name: str) -> None:
    with IPRoute() as route:
        bridge = route.link_lookup(ifname=_BRIDGE)[0]
        route.link("set", index=route.link_lookup(ifname=name)[0], master=bridge)


def _address(device: str, address: str) -> None:
    links.silence_ipv6(("all", "default", device))
    host, _, prefix = address.partition("/")
    with IPRoute() as route:
        index = route.link_lookup(ifname=device)[0]
        route.addr("add", index=index, address=host, prefixlen=int(prefix))
        route.link("set", index=index, state="up")


def _lead(route: IPRoute, index: int, address: str, mac: str) -> None:
    route.route("add", dst=f"{address}/32", oif=index, scope="link")
    route.neigh("add", dst=address, lladdr=mac, ifindex=index, state="permanent")


def _allow_routing() -> None:
    for name, value in _ROUTING.items():
        Path(f"/proc/sys/net/ipv4/{name}").write_text(value)
