"""ethtool's requests to the kernel: channels and offloads of a network device (linux/ethtool.h)."""

import array
import fcntl
import socket
import struct

from agent.program import read
from agent.refusal import Refusal

_SIOCETHTOOL = 0x8946
_GET_CHANNELS, _SET_CHANNELS = 0x3C, 0x3D
_GET_DRIVER, _GET_STRINGS, _GET_STATISTICS = 0x03, 0x1B, 0x1D
_STATISTICS_SET = 1
_DRIVER_BYTES, _STATISTICS_COUNT_AT = 196, 180
"""struct ethtool_drvinfo and where its n_stats is."""
_NAME_BYTES = 32
_SWITCHES = {
    # name: (get, set); "gro" is not given by a device but by the kernel's stack
    "rx": (0x14, 0x15),
    "tx": (0x16, 0x17),
    "sg": (0x18, 0x19),
    "tso": (0x1E, 0x1F),
    "gso": (0x23, 0x24),
    "gro": (0x2B, 0x2C),
}
_GUEST_CSUM = 1
"""Bit of VIRTIO_NET_F_GUEST_CSUM (virtio 1.2, 5.1.3); sysfs has them as a row of digits, bit 0 first."""
OFFLOADS = tuple(_SWITCHES)


def offloads(name: str) -> dict:
    """Return which offloads are on; None where the device does not say."""
    return {key: _get(name, get) for key, (get, _) in _SWITCHES.items()}


def switch(name: str, key: str, on: bool) -> None:
    """Switch an offload; a device that cannot is refused."""
    _, setter = _SWITCHES[key]
    if _get(name, _SWITCHES[key][0]) == on:
        return
    try:
        _ask(name, array.array("B", struct.pack("II", setter, int(on))))
    except OSError as error:
        raise Refusal(
            f"the offload {key} cannot be switched {'on' if on else 'off'}", where=name, observed=error.strerror or ""
        ) from error


def in_order(wanted: dict) -> list[str]:
    """Return the offloads in the order to switch them: segmentation needs checksums, which go off last and on first."""
    return [key for key in reversed(OFFLOADS) if wanted.get(key) is False] + [
        key for key in OFFLOADS if wanted.get(key)
    ]


def switch_all(name: str, on: bool) -> dict:
    """Switch all offloads that the device lets be switched; give what they are then.

    Raises:
        Refusal: checksums cannot be left to nobody: the device goes on to take or give frames that lack theirs.
    """
    # Scatter-gather goes off by itself with the checksums that it needs.
    for key in in_order({key: on for key in OFFLOADS if on or key != "sg"}):
        try:
            switch(name, key, on)
        except Refusal:
            if not on and (key == "tx" or (key == "rx" and _gives_incomplete(name))):
                raise
    return offloads(name)


def _gives_incomplete(name: str) -> bool:
    """Return whether the device may hand over frames that lack their checksum: virtio does, where that was agreed.

    Drivers of virtio call receive offload fixed, also where the device has none.
    """
    agreed = read(f"/sys/class/net/{name}/device/features")
    return agreed[_GUEST_CSUM : _GUEST_CSUM + 1] == "1"


def channels(name: str) -> dict | None:
    """Return the channels (queue pairs) in use and at most; None where the device has no such setting."""
    request = array.array("B", struct.pack("9I", _GET_CHANNELS, *[0] * 8))
    try:
        _ask(name, request)
    except OSError:
        return None
    values = struct.unpack("9I", request.tobytes())
    return {"combined": values[8], "max_combined": values[4]}


def set_channels(name: str, combined: int) -> None:
    """Set the number of combined channels."""
    now = channels(name)
    if now is None:
        if combined == 1:
            return
        raise Refusal("the device has one channel", where=name, observed=f"{combined} asked for")
    if now["combined"] == combined:
        return
    if combined > now["max_combined"]:
        raise Refusal(
            "the device has not as many channels",
            where=name,
            observed=f"{combined} asked for, {now['max_combined']} at most",
            fix="give the device more queues, and vectors for them",
        )
    try:
        _ask(name, array.array("B", struct.pack("9I", _SET_CHANNELS, *[0] * 7, combined)))
    except OSError as error:
        raise Refusal("the channels cannot be set", where=name, observed=error.strerror or "") from error


def statistics(name: str) -> dict:
    """Return the driver's own counters by name; none where it has none."""
    driver = array.array("B", struct.pack("I", _GET_DRIVER).ljust(_DRIVER_BYTES, b"\0"))
    try:
        _ask(name, driver)
        count = struct.unpack_from("I", driver, _STATISTICS_COUNT_AT)[0]
        names = array.array("B", struct.pack("III", _GET_STRINGS, _STATISTICS_SET, count) + bytes(_NAME_BYTES * count))
        _ask(name, names)
        values = array.array("B", struct.pack("II", _GET_STATISTICS, count) + bytes(8 * count))
        _ask(name, values)
    except OSError:
        return {}
    listed = names.tobytes()[12:]
    named = [listed[place * _NAME_BYTES : (place + 1) * _NAME_BYTES].split(b"\0")[0].decode() for place in range(count)]
    return dict(zip(named, struct.unpack_from(f"{count}Q", values, 8), strict=True))


def queue_packets(name: str) -> dict:
    """Return the packets of every queue, as virtio's driver counts them: `rx` and `tx`, in order of the queues."""
    counted = statistics(name)
    found: dict = {"rx": [], "tx": []}
    for side, listed in found.items():
        while (key := f"{side}_queue_{len(listed)}_packets") in counted:
            listed.append(counted[key])
    return found


def _get(name: str, command: int) -> bool | None:
    request = array.array("B", struct.pack("II", command, 0))
    try:
        _ask(name, request)
    except OSError:
        return None
    return bool(struct.unpack("II", request.tobytes())[1])


def _ask(name: str, request: array.array) -> None:
    address, _ = request.buffer_info()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, _SIOCETHTOOL, struct.pack("16sP16x", name.encode(), address))
