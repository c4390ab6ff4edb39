"""The network devices of functions: moved into a deployment's namespace and back; the physical one set up."""

import os
import time
from pathlib import Path

from pyroute2 import IPRoute

from nfvbed.errors import DeployError
from nfvbed.host.ledger.entries import LinkStateEntry, NetdevEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.network.namespaces import inside
from nfvbed.host.nics.pf import SYSFS, NetPort, net_ports

APPEAR_WAIT_S = 10.0
CARRIER_WAIT_S = 30.0
"""A function's driver looks at its link every two seconds; an emulated machine is slow."""
_LOOK_S = 0.05


def bring_up(interface: str, ledger: Ledger) -> None:
    """Set the physical function's device up: without it virtual functions do not start. If it was up it stays so."""
    with IPRoute() as route:
        index = _index(route, interface)
        if next(iter(route.get_links(index)))["state"] == "up":
            return
        ledger.record(LinkStateEntry(name=interface))
        route.link("set", index=index, state="up")


def wait_for_speed(interface: str) -> None:
    """Wait until the physical function has a carrier: before, drivers refuse rates, which depend on the link's speed.

    Making functions restarts its link. A port without a cable never has a carrier; its driver then reports what it
    refuses.
    """
    deadline = time.monotonic() + APPEAR_WAIT_S
    while not _carrier(interface) and time.monotonic() < deadline:
        time.sleep(_LOOK_S)


def set_down(interface: str, ledger: Ledger) -> None:
    """Set the physical function's device down for a moment; after a kill before `set_up` the ledger sets it up."""
    with IPRoute() as route:
        index = _index(route, interface)
        ledger.record(LinkStateEntry(name=interface, was_up=True))
        route.link("set", index=index, state="down")


def set_up(interface: str) -> None:
    """Set the device up again."""
    with IPRoute() as route:
        route.link("set", index=_index(route, interface), state="up")


def appeared(address: str, dev_port: int, sysfs: Path = SYSFS) -> NetPort:
    """Wait for the network device of a function.

    Raises:
        DeployError: its driver makes none.
    """
    deadline = time.monotonic() + APPEAR_WAIT_S
    while True:
        ports = net_ports(address, sysfs)
        found = next((port for port in ports if port.dev_port == dev_port), None)
        if found is None and len(ports) == 1:
            found = ports[0]  # most drivers give each function one device, and number it 0
        if found is not None:
            return found
        if time.monotonic() > deadline:
            raise DeployError(
                "a virtual function has no network device",
                where=address,
                observed=f"none within {APPEAR_WAIT_S:g} s after its driver took it",
                fix="see dmesg",
            )
        time.sleep(_LOOK_S)


def move(port: NetPort, netns: str, name: str, ledger: Ledger) -> None:
    """Move a function's device into a namespace, under another name."""
    ledger.record(NetdevEntry(netns=netns, name=name, previous=port.name))
    handle = os.open(netns, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with IPRoute() as route:
            index = _index(route, port.name)
            route.link("set", index=index, state="down")
            route.link("set", index=index, ifname=name, net_ns_fd=handle)
    finally:
        os.close(handle)


def wait_for_carrier(netns: str, names: tuple[str, ...]) -> None:
    """Wait until a namespace's devices have a carrier.

    Raises:
        DeployError: they get none.
    """
    deadline = time.monotonic() + CARRIER_WAIT_S
    while down := inside(netns, lambda: [name for name in names if not _carrier(name)]):
        if time.monotonic() > deadline:
            raise DeployError(
                "virtual functions have no link",
                where=", ".join(down),
                observed=f"no carrier within {CARRIER_WAIT_S:g} s",
                fix="see whether the physical function's cable is in: most NICs give their functions its link",
            )
        time.sleep(_LOOK_S)


def _carrier(name: str) -> bool:
    with IPRoute() as route:
        link = next(iter(route.get_links(_index(route, name))))
    return link["state"] == "up" and bool(link.get_attr("IFLA_CARRIER"))


def _index(route: IPRoute, name: str) -> int:
    found = route.link_lookup(ifname=name)
    if not found:
        raise FileNotFoundError(f"no link {name} in this network namespace")
    return int(found[0])
