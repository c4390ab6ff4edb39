"""Whether this machine can carry a cloud; checked before anything is changed."""

import socket
from dataclasses import dataclass

from nfvbed.cloud import capacity
from nfvbed.cloud.capacity import Capacity, Lack
from nfvbed.cloud.devcloud.places import CloudPlaces
from nfvbed.cloud.devcloud.services.settings import LOOPBACK, PORTS

MEMORY_MIB = 8 * 1024
"""Available: four GiB for the cloud, two of hugepages, and guests beside them."""
DISK_MIB_WITH_ROOT = 4 * 1024
DISK_MIB_WITHOUT_ROOT = 8 * 1024
"""Packages, what they unpack to, and room to write."""
_TOOLS = {"unshare": "util-linux", "nsenter": "util-linux", "mmdebstrap": "mmdebstrap", "chroot": "coreutils"}


@dataclass(frozen=True)
class Machine(Capacity):
    """What is read of the machine."""

    taken_ports: tuple[int, ...]
    """Ports of the APIs that are in use already, on the loopback."""


def look(places: CloudPlaces) -> Machine:
    """Read this machine."""
    taken = tuple(port for port in PORTS.values() if _is_taken(port))
    return Machine(**capacity.read(places.directory, _TOOLS), taken_ports=taken)


def problems(machine: Machine, has_root: bool) -> list[Lack]:
    """Return everything that is in the way at once.

    Args:
        has_root: whether the private root is already built.
    """
    disk = DISK_MIB_WITH_ROOT if has_root else DISK_MIB_WITHOUT_ROOT
    found = capacity.lacks(machine, MEMORY_MIB, disk, _TOOLS)
    if machine.taken_ports:
        found.append(
            Lack(
                f"free ports on {LOOPBACK}",
                f"in use: {', '.join(map(str, machine.taken_ports))}",
                "see who listens there (ss -ltnp): another devcloud, or a program; end it only if it is yours",
            )
        )
    return found


def require(places: CloudPlaces, has_root: bool) -> None:
    """Refuse a machine that cannot carry a cloud.

    Raises:
        PrerequisiteError: with everything that is in the way.
    """
    capacity.require_none(problems(look(places), has_root), "the cloud", places.directory)


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return True
    return False
