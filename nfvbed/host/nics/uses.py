"""What the host itself uses a network device for: a used device is never taken from the kernel."""

import os
import socket
from pathlib import Path
from typing import Any

from pyroute2 import IPRoute

from nfvbed.host.nics.pf import SYSFS

_LINK_SCOPE = 253
"""RT_SCOPE_LINK: addresses that a device gives itself."""
_UNICAST = 1
"""RTN_UNICAST."""
_VFIO = Path("/dev/vfio")


def uses_of(name: str, sysfs: Path = SYSFS) -> tuple[str, ...]:
    """Return what a network device is used for; nothing when it is only up.

    Args:
        name: a device in this network namespace.
    """
    above = sorted(path.name.removeprefix("upper_") for path in (sysfs / "class/net" / name).glob("upper_*"))
    found = [f"{other} is on top of it" for other in above]
    with IPRoute() as route:
        for index in route.link_lookup(ifname=name):
            addresses = [entry for entry in route.get_addr(index=index) if entry["scope"] != _LINK_SCOPE]
            found += [f"it has the address {entry.get_attr('IFA_ADDRESS')}/{entry['prefixlen']}" for entry in addresses]
            if any(index in devices_of_default(entry) for entry in _routes(route)):
                found.append("the default route leaves by it")
    return tuple(found)


def devices_of_default(entry: Any) -> set[int]:
    """Return the indices of a default route's devices; none for another route."""
    if entry["dst_len"] or entry["type"] != _UNICAST:
        return set()
    hops = entry.get_attr("RTA_MULTIPATH") or ()
    return {int(index) for index in (entry.get_attr("RTA_OIF"), *(hop["oif"] for hop in hops)) if index}


def _routes(route: IPRoute) -> list[Any]:
    return [entry for family in (socket.AF_INET, socket.AF_INET6) for entry in route.get_routes(family=family)]


def is_group_busy(group: int) -> bool:
    """Return whether another program has an IOMMU group: VFIO gives each to one program at a time."""
    try:
        os.close(os.open(_VFIO / str(group), os.O_RDWR | os.O_CLOEXEC))
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
