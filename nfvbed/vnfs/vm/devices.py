"""The devices by which this host can connect a guest: each found by trying, or with its reason."""

import contextlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.errors import OnboardError
from nfvbed.host.network import links, macvlans
from nfvbed.host.network.macvlans import MacvlanDevice
from nfvbed.host.network.namespaces import CLONE_NEWNET, in_thread, inside_with_sysfs, libc
from nfvbed.host.nics.vfio import vfio_reason as vfio_reason

_NAMES = ("nfvbedt0", "nfvbedt1", "nfvbedt2")
_MACS = ("02:4e:46:56:7f:00", "02:4e:46:56:7f:01")


def tap_reason() -> str:
    """Return why there are no tap devices; empty where one could be made, in a temporary namespace."""
    return _tried(lambda: links.add_tap(_NAMES[0]))


def macvtap_reason() -> str:
    """Return why there are no macvtap devices; empty where one could be made, in a temporary namespace."""

    def make() -> None:
        links.add_veth(_NAMES[0], _NAMES[1], _MACS)
        macvlans.add(MacvlanDevice(_NAMES[2], _NAMES[0], _MACS[0]))

    return _tried(make)


def _tried(make: Callable[[], None]) -> str:
    def body() -> str:
        if libc.unshare(CLONE_NEWNET) != 0:
            return "no network namespace can be made: not root"
        try:
            make()
        except (OSError, NetlinkError) as failure:
            return str(failure)
        return ""

    return in_thread(body)


def macvtap_file(name: str, netns: str, folder: Path) -> Path:
    """Find the device file of a macvtap link, or make one.

    Args:
        netns: path of the network namespace of the link.
        folder: folder of a new file, where the system has made none.

    Raises:
        OnboardError: there is no such macvtap link.
    """

    def numbers() -> tuple[int, int, int]:
        base = Path("/sys/class/net") / name
        (device,) = base.glob("tap*/dev")
        major, _, minor = device.read_text().strip().partition(":")
        return int((base / "ifindex").read_text()), int(major), int(minor)

    try:
        index, major, minor = inside_with_sysfs(netns, numbers)
    except (OSError, ValueError) as failure:
        raise OnboardError(f"{name} is no macvtap link", where=netns, observed=str(failure)) from failure
    device = os.makedev(major, minor)
    usual = Path(f"/dev/tap{index}")
    with contextlib.suppress(FileNotFoundError):
        # The same number may be another namespace's link.
        if usual.stat().st_rdev == device:
            return usual
    own = folder / f"{name}.tap"
    own.unlink(missing_ok=True)
    os.mknod(own, stat.S_IFCHR | 0o600, device)
    return own
