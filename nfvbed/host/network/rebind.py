"""Gives a PCI device another driver; knows nothing of ledgers, so that undoing can use it."""

from pathlib import Path

_SYSFS = Path("/sys")
UP = 1
"""IFF_UP."""
_NONE = "(null)"
"""How the kernel shows that there is no override."""


def read_override(address: str, sysfs: Path = _SYSFS) -> str:
    """Return the driver that the device is reserved for; empty: none."""
    text = (sysfs / "bus/pci/devices" / address / "driver_override").read_text().strip()
    return "" if text == _NONE else text


def rebind(address: str, driver: str | None, override: str, sysfs: Path = _SYSFS) -> None:
    """Take a device from its driver and offer it to the others; nothing to do when the device is gone.

    Args:
        address: of the PCI device.
        driver: that it has when this returns, if that one takes it; None: whichever takes it.
        override: what `driver_override` says afterwards; empty: nothing.
        sysfs: where /sys is.

    Raises:
        OSError: the kernel refuses.
    """
    folder = sysfs / "bus/pci/devices" / address
    if not folder.is_dir():
        return
    (folder / "driver_override").write_text((driver or "") + "\n")
    if (folder / "driver").is_symlink():
        (folder / "driver/unbind").write_text(address)
    (sysfs / "bus/pci/drivers_probe").write_text(address)
    if override != (driver or ""):
        (folder / "driver_override").write_text(override + "\n")


def unbind(address: str, override: str, sysfs: Path = _SYSFS) -> None:
    """Take a device from its driver, and give it to none."""
    folder = sysfs / "bus/pci/devices" / address
    if not folder.is_dir():
        return
    if (folder / "driver").is_symlink():
        (folder / "driver/unbind").write_text(address)
    (folder / "driver_override").write_text(override + "\n")


def netdevs(folder: Path) -> tuple[Path, ...]:
    """Return the network devices of a PCI device, by its folder and as folders; those of virtio are one level below."""
    return tuple(sorted(path for level in ("net/*", "virtio*/net/*") for path in folder.glob(level)))
