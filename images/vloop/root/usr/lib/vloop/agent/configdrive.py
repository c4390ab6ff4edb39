"""User data of a cloud, from the config drive: a CD with the label config-2, as Nova attaches it."""

import os

from agent.program import read, run
from agent.refusal import Refusal

_BLOCK, _DEVICES = "/sys/class/block", "/dev"
_LABEL = b"config-2"
_DESCRIPTOR, _STANDARD, _LABEL_AT, _LABEL_BYTES = 32768, b"CD001", 40, 32
"""ISO 9660: the primary volume descriptor is sector 16; its label follows two texts of the system's."""
_MOUNTED = "/run/config-drive"
_USER_DATA = "openstack/latest/user_data"
_MOST_BYTES = 65536
"""Nova takes no more."""


def user_data() -> str:
    """Return the user data; empty where there is no config drive, or it holds none.

    Raises:
        Refusal: there is a config drive, and it cannot be read.
    """
    _load_drivers()
    device = find(_BLOCK, _DEVICES)
    if not device:
        return ""
    os.makedirs(_MOUNTED, exist_ok=True)
    run("mount", "-t", "iso9660", "-o", "ro", device, _MOUNTED)
    try:
        return text(f"{_MOUNTED}/{_USER_DATA}")
    finally:
        run("umount", _MOUNTED)


def find(block: str, devices: str) -> str:
    """Return the device with the label; empty where there is none.

    Args:
        block: folder of the kernel's block devices.
        devices: folder of their files.
    """
    for name in sorted(os.listdir(block) if os.path.isdir(block) else []):
        if label(f"{devices}/{name}") == _LABEL:
            return f"{devices}/{name}"
    return ""


def label(device: str) -> bytes:
    """Return the label of an ISO 9660 file system in lower case; empty where it is none."""
    try:
        with open(device, "rb") as file:
            file.seek(_DESCRIPTOR)
            descriptor = file.read(_LABEL_AT + _LABEL_BYTES)
    except OSError:
        return b""
    return descriptor[_LABEL_AT:].strip().lower() if descriptor[1:6] == _STANDARD else b""


def text(path: str) -> str:
    """Return user data as text; what is no text, or too long, says nothing to the agent."""
    try:
        with open(path, "rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "ignore")
    except FileNotFoundError:
        return ""
    except OSError as failure:
        raise Refusal("the config drive cannot be read", where=path, observed=str(failure.strerror)) from failure


def _load_drivers() -> None:
    """Let a CD's driver be loaded: the bus knows of it when that of its controller is, which is later than the boot."""
    folder = "/sys/bus/scsi/devices"
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        alias = read(f"{folder}/{name}/modalias")
        if alias:
            run("modprobe", "-bq", alias)
