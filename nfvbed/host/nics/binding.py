"""Which driver a PCI device is bound to, by `driver_override` (Linux 3.16 or later)."""

from pathlib import Path

from nfvbed.errors import DeployError
from nfvbed.host import fixes
from nfvbed.host.ledger.entries import DriverEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.network import rebind
from nfvbed.host.nics.pf import SYSFS, device_folder, driver_of

VFIO = "vfio-pci"


def bind(address: str, driver: str | None, ledger: Ledger, sysfs: Path = SYSFS) -> str:
    """Bind a device to a driver, or to the kernel's choice; the ledger records the former driver.

    Args:
        address: PCI address.
        driver: None: the kernel's choice. The device is left alone if it has this driver, or with None any but
            vfio-pci.

    Returns:
        The driver's name.

    Raises:
        DeployError: no driver takes it.
    """
    before = driver_of(address, sysfs)
    if before is not None and (before == driver or (driver is None and before != VFIO)):
        return before
    override = rebind.read_override(address, sysfs)
    netdev, was_up = _netdev(address, sysfs)
    ledger.record(DriverEntry(address=address, previous=before, override=override, netdev=netdev, was_up=was_up))
    try:
        rebind.rebind(address, driver, override, sysfs)
    except OSError as failure:
        raise DeployError(
            f"{address} cannot be bound to {driver or 'its driver'}", where=str(failure.filename), observed=str(failure)
        ) from failure
    found = driver_of(address, sysfs)
    if found is None or (driver is not None and found != driver):
        raise DeployError(
            f"{address} has no driver" if found is None else f"{address} is bound to another driver",
            where=f"wanted: {driver or 'whichever knows it'}",
            observed=found or "none took it",
            fix=fixes.load(driver, option="" if driver == VFIO else f"the driver {driver}")
            if driver
            else "load the driver of its virtual functions (igbvf, ixgbevf, iavf)",
        )
    return found


def _netdev(address: str, sysfs: Path) -> tuple[str, bool]:
    """Return the name of a PCI device's network device, if it has one, and whether that is up."""
    found = rebind.netdevs(device_folder(address, sysfs))
    if len(found) != 1:
        return "", False
    flags = int((sysfs / "class/net" / found[0].name / "flags").read_text(), 0)
    return found[0].name, bool(flags & rebind.UP)
