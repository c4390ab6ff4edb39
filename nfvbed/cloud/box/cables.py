"""The cables of a box: veth pairs from the machines to the network namespace of the switch."""

import os

from pyroute2 import IPRoute

from nfvbed.cloud.box.layout import MANAGEMENT, BoxLayout, Cable
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside

_AS_THEY_ARE = {links.GRO: False} | dict.fromkeys(links.TRANSMIT_OFFLOADS, False)
"""Frames pass packet sockets of DPDK and of Open vSwitch: with their checksums, and no larger than a wire's."""
_OF_A_GENERATOR = _AS_THEY_ARE | {links.GRO: True}
"""At the other end of a generator's: a veth takes frames that nfvgen redirects while its peer has GRO, which does not
merge nfvgen's UDP."""
_PORTS_INDEX = 1000
"""Indices of the switch's ports begin above all that machines have: with one index at both ends the kernel treats a
pair as a device without another end (`links.add_veth`)."""


def make_management(layout: BoxLayout, switch: str) -> None:
    """Make the bridge of the network of management, with the address of those who manage; nothing where it is there.

    Args:
        switch: path of the switch's network namespace.
    """

    def work() -> None:
        if MANAGEMENT in links.all_counters():
            return
        links.silence_ipv6()
        address, _, prefix = layout.address.partition("/")
        with IPRoute() as route:
            route.link("add", ifname=MANAGEMENT, kind="bridge", br_stp_state=0, br_forward_delay=0)
            index = route.link_lookup(ifname=MANAGEMENT)[0]
            route.addr("add", index=index, address=address, prefixlen=int(prefix))
            route.link("set", index=1, state="up")
            route.link("set", index=index, state="up")

    inside(switch, work)


def is_laid(cable: Cable, machine: str) -> bool:
    """Return whether a machine has the device of a cable.

    Args:
        machine: path of the machine's network namespace.
    """
    return cable.device in inside(machine, links.all_counters)


def lay(cable: Cable, place: int, machine: str, switch: str) -> None:
    """Lay a cable, both ends up, if the machine's is to be.

    Args:
        place: number of the cable among all, from 0.
        machine: path of the machine's network namespace.
        switch: path of the switch's.
    """
    inside(switch, lambda: _make(cable, place, machine))
    inside(machine, lambda: links.silence_ipv6((cable.device,)))
    if cable.starts_up:
        set_address(cable.device, machine, cable.address)
    inside(machine, lambda: links.set_features(cable.device, _AS_THEY_ARE))
    inside(switch, lambda: _finish_port(cable))


def set_address(device: str, machine: str, address: str) -> None:
    """Set a machine's device up with an address in place of those that it has.

    Args:
        machine: path of the machine's network namespace.
        address: with its prefix length; empty: none.
    """

    def work() -> None:
        with IPRoute() as route:
            index = route.link_lookup(ifname=device)[0]
            route.flush_addr(index=index)
            route.link("set", index=index, state="up")
            if address:
                bare, _, prefix = address.partition("/")
                route.addr("add", index=index, address=bare, prefixlen=int(prefix))

    inside(machine, work)


def take_address(device: str, machine: str) -> None:
    """Set a machine's device down, without an address.

    Args:
        machine: path of the machine's network namespace.
    """

    def work() -> None:
        with IPRoute() as route:
            index = route.link_lookup(ifname=device)[0]
            route.flush_addr(index=index)
            route.link("set", index=index, state="down")

    inside(machine, work)


def _make(cable: Cable, place: int, machine: str) -> None:
    links.remove([name for name in (cable.port,) if name in links.all_counters()])
    handle = os.open(machine, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with IPRoute() as route:
            other = {"ifname": cable.device, "address": cable.mac, "mtu": cable.mtu, "net_ns_fd": handle}
            index = _PORTS_INDEX + place
            route.link("add", index=index, ifname=cable.port, kind="veth", mtu=cable.mtu, peer=other)
    finally:
        os.close(handle)


def _finish_port(cable: Cable) -> None:
    links.silence_ipv6((cable.port,))
    if cable.bridge == MANAGEMENT:
        with IPRoute() as route:
            index = route.link_lookup(ifname=cable.port)[0]
            route.link("set", index=index, master=route.link_lookup(ifname=MANAGEMENT)[0])
    links.set_up((cable.port,))
    # In this order: only a link that is up tells its peer, with its GRO, that frames may be redirected to it.
    links.set_features(cable.port, _AS_THEY_ARE if cable.tag is None else _OF_A_GENERATOR)
