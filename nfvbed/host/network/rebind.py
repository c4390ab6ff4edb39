"""Gives a PCI device another driver. It does not use the ledger, so that undoing can call it."""

from pathlib import Path

_SYSFS = Path("/sys")
UP = 1
"""IFF_UP."""
_NONE = "(null)"
"""How the kernel shows that there is no override."""


def read_override(address: str, sysfs: Path = _SYSFS) -> str:
    """Return the driver for which the device is reserved; empty: none."""
    text = (sysfs / "bus/pci/devices" / address / "driver_override").read_text().strip()
    return "" if text == _NONE else text


def rebind(address: str, driver: str | None, override: str, sysfs: Path = _SYSFS) -> None:
    """Take a device from its driver and offer it to the others; nothing to do when the device is gone.

    Args:
        address: PCI address.
        driver: wanted driver, which has the device afterwards if it accepts it; None: whichever does.
        override: content of `driver_override` afterwards; empty: none.

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
    """Take a device from its driver, and give it to no other."""
    folder = sysfs / "bus/pci/devices" / address
    if not folder.is_dir():
        return
    if (folder / "driver").is_symlink():
        (folder / "driver/unbind").write_text(address)
    (folder / "driver_override").write_text(override + "\n")


def netdevs(folder: Path) -> tuple[Path, ...]:
    """Return the network devices of a PCI device's folder, as folders; those of virtio are one level below."""
    return tuple(sorted(path for level in ("net/*", "virtio*/net/*") for path in folder.glob(level)))
