"""Offloads of both hosts' devices: set alike at both ends, read back, and seen in the frames that leave.

*none*: the kernel sums and cuts before a frame reaches the device. *checksum*: it cuts, and leaves the sum to the
device. *tso*: it leaves both, in frames of up to 64 KiB. What a receiver merges (GRO) is read, and stays as it is: a
veth without it has no receive thread of its own, and the bridge would lose its core.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, Literal

from nfvbed.errors import UnsupportedError
from nfvbed.host.network import links
from nfvbed.vnfs.sockets.devices import FEATURES, GSO, SCATTER, TSO
from nfvbed.vnfs.sockets.hosts import SocketEnds

Offloads = Literal["none", "checksum", "tso"]
WANTED: Final[Mapping[Offloads, Mapping[str, bool]]] = {
    "none": {TSO: False, GSO: False, links.CHECKSUM: False},
    "checksum": {links.CHECKSUM: True, TSO: False, GSO: False},
    "tso": {links.CHECKSUM: True, SCATTER: True, GSO: True, TSO: True},
}
_LARGEST: Final = 1600
"""Bytes that no frame of one packet has at the hosts' MTU; the mean of frames that are cut stays below."""


@contextmanager
def kept(ends: SocketEnds) -> Iterator[None]:
    """Give both devices their offloads back at the end of a block; one that is gone by then has none."""
    before = [
        (device, {feature: on for feature, on in device.features().items() if feature != links.GRO})
        for device in ends.carriers
    ]
    try:
        yield
    finally:
        for device, features in before:
            device.set_features(features)


def set_both(ends: SocketEnds, offloads: Offloads) -> str:
    """Set both ends' offloads, and return what the devices then have, in words.

    Raises:
        UnsupportedError: a device does not take them; with what it has.
    """
    if not ends.carriers:
        raise UnsupportedError(
            f"offloads: {offloads} cannot be set on these hosts",
            where=ends.what,
            observed="a program joins them to the path, and passes no offload on",
            fix="a variant whose ends are devices of the kernel",
        )
    wanted = WANTED[offloads]
    for device in ends.carriers:
        device.set_features(wanted)
    found = [device.features() for device in ends.carriers]
    for device, has in zip(ends.carriers, found, strict=True):
        wrong = [key for key in (links.CHECKSUM, TSO) if has[key] != wanted[key]]
        if wrong:
            raise UnsupportedError(
                f"offloads: {offloads} is not what {device.name} does",
                where=ends.what,
                observed=words(has),
                fix="another variant; on Open vSwitch's userspace datapath, options: {userspace_tso: true}",
            )
    return "; ".join(f"end {number}: {words(has)}" for number, has in enumerate(found))


def words(features: Mapping[str, bool]) -> str:
    """Return offloads as ethtool's short names have them: `checksum on, tso off`."""
    return ", ".join(
        f"{name} {'on' if features[key] else 'off'}"
        for key, name in FEATURES.items()
        if key in features and key != SCATTER
    )


def check_frames(offloads: Offloads, mean_bytes: float | None) -> str:
    """Return what is wrong with the frames that left the first end; empty where they are as asked.

    Args:
        mean_bytes: mean of the frames that the device counted; None: it counted none.
    """
    if offloads == "tso" or mean_bytes is None or mean_bytes <= _LARGEST:
        return ""
    return f"frames of {mean_bytes:.0f} B on average left the end, which are not cut"


def wrong_checksums(ends: SocketEnds) -> int:
    """Return how many segments both hosts have dropped for their checksum, as far as they tell."""
    return sum(device.wrong_checksums() or 0 for device in ends.devices)


def sent(ends: SocketEnds) -> tuple[int, int]:
    """Return the frames and bytes that the first end's device has sent to the path."""
    counted = ends.carriers[0].traffic()
    return counted.tx_packets, counted.tx_bytes
