"""Restores what a deployment changed of a NIC. Every function is idempotent, and accepts what is gone."""

import os
import time
from pathlib import Path

from pyroute2 import IPRoute

from nfvbed.host.ledger.entries import DriverEntry, EswitchEntry, LinkStateEntry, NetdevEntry, VfSettingsEntry
from nfvbed.host.network import devlink, namespaces, rebind

_OWN_NAMESPACE = "/proc/self/ns/net"
_APPEAR_S = 5.0
"""What a driver is given to make its network device."""
_LOOK_S = 0.05


def driver(entry: DriverEntry, sysfs: Path = Path("/sys")) -> None:
    """Restore the driver of a PCI device (none, if it had none), and the name of its network device."""
    if entry.previous is None:
        rebind.unbind(entry.address, entry.override, sysfs)
        return
    folder = sysfs / "bus/pci/devices" / entry.address
    link = folder / "driver"
    if not link.is_symlink() or link.readlink().name != entry.previous:
        rebind.rebind(entry.address, entry.previous, entry.override, sysfs)
    if entry.netdev and folder.is_dir():
        _give_back(entry, folder)


def _give_back(entry: DriverEntry, folder: Path) -> None:
    """Restore a network device's name, and set it up if it was: without udev, the kernel numbers them anew.

    Where another device has the name by now, the device keeps the name that the kernel gave it.
    """
    deadline = time.monotonic() + _APPEAR_S
    while not (found := rebind.netdevs(folder)) and time.monotonic() < deadline:
        time.sleep(_LOOK_S)
    with IPRoute() as route:
        for name in [path.name for path in found[:1]]:
            index = route.link_lookup(ifname=name)[0]
            if name != entry.netdev and not route.link_lookup(ifname=entry.netdev):
                route.link("set", index=index, state="down")
                route.link("set", index=index, ifname=entry.netdev)
            if entry.was_up:
                route.link("set", index=index, state="up")


def vf_settings(entry: VfSettingsEntry) -> None:
    """Restore the former settings."""
    with IPRoute() as route:
        for index in route.link_lookup(ifname=entry.interface):
            for request in entry.requests:
                route.link("set", index=index, vf={"vf": entry.index, **request})


def netdev(entry: NetdevEntry) -> None:
    """Bring a device back from a namespace under its former name; one that is no longer there came back by itself."""
    if not Path(entry.netns).exists():
        return
    handle = os.open(_OWN_NAMESPACE, os.O_RDONLY | os.O_CLOEXEC)

    def work() -> None:
        with IPRoute() as route:
            for index in route.link_lookup(ifname=entry.name):
                route.link("set", index=index, state="down")
                route.link("set", index=index, ifname=entry.previous, net_ns_fd=handle)

    try:
        namespaces.inside(entry.netns, work)
    finally:
        os.close(handle)


def link_state(entry: LinkStateEntry) -> None:
    """Restore whether a link was up or down."""
    with IPRoute() as route:
        for index in route.link_lookup(ifname=entry.name):
            route.link("set", index=index, state="up" if entry.was_up else "down")


def eswitch(entry: EswitchEntry) -> None:
    """Restore the mode of the embedded switch."""
    if (Path("/sys/bus/pci/devices") / entry.address).is_dir():
        devlink.set_mode(entry.address, entry.previous)
