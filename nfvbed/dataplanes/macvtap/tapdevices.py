"""Keeps a node's `/dev/tapN` files as the kernel has the devices: a macvtap is opened by such a file.

It runs in the node, or on a machine of a box, and imports nothing but Python's standard library. On this machine udev
makes such files; a node has a /dev of its own, which shows nothing by itself.
"""

import os
import socket
import stat
from pathlib import Path

LINKS = Path("/sys/class/net")
DEVICES = Path("/dev")
_LINK_EVENTS = 1
"""RTMGRP_LINK: links that come, change or go."""
_LONGEST_BYTES = 1 << 16


def wanted(links: Path) -> dict[str, tuple[int, int]]:
    """Return the names of the files that there should be, with the numbers of their devices."""
    found = {}
    for path in links.glob("*/tap*/dev"):
        try:
            major, minor = path.read_text().strip().split(":")
        except (OSError, ValueError):
            continue  # it has gone meanwhile
        found[path.parent.name] = (int(major), int(minor))
    return found


def mend(links: Path, devices: Path) -> None:
    """Make the files that are missing, and remove those of links that are gone."""
    there = wanted(links)
    for path in devices.glob("tap[0-9]*"):
        device = path.stat().st_rdev
        if there.get(path.name) != (os.major(device), os.minor(device)):
            path.unlink()
    for name, numbers in there.items():
        path = devices / name
        if not path.exists():
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(*numbers))


def main() -> None:
    """Look whenever a link comes or goes, until the node ends."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as events:
        events.bind((0, _LINK_EVENTS))
        while True:
            mend(LINKS, DEVICES)
            try:
                events.recv(_LONGEST_BYTES)
            except OSError:
                continue  # events were lost: look again


if __name__ == "__main__":
    main()
