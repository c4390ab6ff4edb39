"""macvlan and macvtap devices on lower links; every function runs in the network namespace of the lower link."""

import os
from dataclasses import dataclass

from pyroute2 import IPRoute

_REFLECTS = 1  # BRIDGE_MODE_HAIRPIN


@dataclass(frozen=True)
class MacvlanDevice:
    """A device on a lower link."""

    name: str
    lower: str
    mac: str
    """In mode passthru it has the lower link's, whatever is asked for."""
    mode: str = "bridge"
    """Mode, as the kernel names it: bridge, private, vepa, passthru."""
    promiscuous: bool = True
    """Whether it makes the lower link so, in mode passthru."""
    tap: bool = True
    """macvtap, with the character device that a virtual machine opens; else macvlan."""
    queues: int = 1
    """Queues that can be opened."""


def add(device: MacvlanDevice, netns: str | None = None) -> None:
    """Make a device, down.

    Args:
        netns: path of the namespace for the device; None: the lower link's.

    Raises:
        NetlinkError: the kernel has no such devices, or not in this mode.
        FileNotFoundError: there is no such lower link.
    """
    kind = "macvtap" if device.tap else "macvlan"
    wanted: dict[str, object] = {"num_tx_queues": device.queues, "num_rx_queues": device.queues}
    wanted |= {f"{kind}_mode": device.mode, "address": device.mac}
    if not device.promiscuous:
        wanted[f"{kind}_flags"] = "nopromisc"
    with IPRoute() as route:
        found = route.link_lookup(ifname=device.lower)
        if not found:
            raise FileNotFoundError(f"no link {device.lower} in this network namespace")
        if netns is None:
            route.link("add", ifname=device.name, kind=kind, link=found[0], **wanted)
            return
        handle = os.open(netns, os.O_RDONLY | os.O_CLOEXEC)
        try:
            route.link("add", ifname=device.name, kind=kind, link=found[0], net_ns_fd=handle, **wanted)
        finally:
            os.close(handle)


def mode_of(name: str) -> str:
    """Return a device's mode, as the kernel has it; empty for no link, or one of another kind."""
    with IPRoute() as route:
        for index in route.link_lookup(ifname=name):
            info = next(iter(route.get_links(index))).get_attr("IFLA_LINKINFO")
            kind = info.get_attr("IFLA_INFO_KIND") if info is not None else ""
            if kind in ("macvlan", "macvtap"):
                return str(info.get_attr("IFLA_INFO_DATA").get_attr(f"IFLA_{kind.upper()}_MODE"))
    return ""


def by_address() -> dict[str, str]:
    """Return the names of the macvlan and macvtap devices of this namespace, by MAC address."""
    found = {}
    with IPRoute() as route:
        for link in route.get_links():
            info = link.get_attr("IFLA_LINKINFO")
            if info is not None and info.get_attr("IFLA_INFO_KIND") in ("macvlan", "macvtap"):
                found[str(link.get_attr("IFLA_ADDRESS"))] = str(link.get_attr("IFLA_IFNAME"))
    return found


def reflect(port: str) -> None:
    """Let a bridge send frames back to the port they came from (hairpin), as a switch with reflective relay does."""
    with IPRoute() as route:
        route.brport("set", index=route.link_lookup(ifname=port)[0], mode=_REFLECTS)
