"""Virtual functions: created through sysfs, in an order in which their drivers find them ready.

Their drivers are kept off until the physical function has laid down addresses and VLANs: most read these once, when
they start. A NIC that has functions already is used as it is, since the kernel changes their number only by way of
zero, which would take them from their users.
"""

from pathlib import Path

from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.host.ledger.entries import FileEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.nics.pf import SYSFS, PhysicalFunction, device_folder, driver_of
from nfvbed.records import Record


class VirtualFunction(Record):
    """One of a physical function's."""

    index: int
    address: str
    driver: str | None = None
    iommu_group: int | None = None


def read_functions(pf_address: str, sysfs: Path = SYSFS) -> tuple[VirtualFunction, ...]:
    """Return the virtual functions that there are, by index."""
    folder = device_folder(pf_address, sysfs)
    links = {int(path.name.removeprefix("virtfn")): path.readlink().name for path in folder.glob("virtfn*")}
    return tuple(_read(index, links[index], sysfs) for index in sorted(links))


def check_number(function: PhysicalFunction, wanted: int) -> None:
    """Refuse a number of functions that the NIC cannot have, or not without taking some from others.

    Raises:
        UnsupportedError: with the numbers.
    """
    if wanted > function.total_vfs:
        raise UnsupportedError(
            f"{wanted} virtual functions are more than the NIC can have",
            where=function.address,
            observed=f"sriov_totalvfs {function.total_vfs}",
            fix="a shorter chain, or more functions in the NIC's firmware (Mellanox: mlxconfig ... set NUM_OF_VFS=N)",
        )
    if 0 < function.num_vfs < wanted:
        raise UnsupportedError(
            f"the NIC has {function.num_vfs} virtual functions already, and {wanted} are needed",
            where=function.address,
            observed="the kernel changes their number only by removing them all",
            fix=f"if nothing uses them: echo 0 > /sys/bus/pci/devices/{function.address}/sriov_numvfs",
        )


def create(function: PhysicalFunction, wanted: int, ledger: Ledger, sysfs: Path = SYSFS) -> tuple[VirtualFunction, ...]:
    """Make this number of functions, if they are not there; new ones are left without a driver until `allow_drivers`.

    Raises:
        UnsupportedError: see `check_number`.
        DeployError: the kernel refuses.
    """
    check_number(function, wanted)
    if function.num_vfs == 0:
        folder = device_folder(function.address, sysfs)
        # Recorded first, so undone last: by then its devices are back from where they were moved to.
        ledger.record(FileEntry(path=str(folder / "sriov_numvfs"), previous="0"))
        _set_autoprobe(folder, "0", ledger)
        _write(folder / "sriov_numvfs", str(wanted))
    found = read_functions(function.address, sysfs)
    if len(found) < wanted:
        raise DeployError(
            f"{wanted} virtual functions were asked for",
            where=function.address,
            observed=f"sysfs shows {len(found)}",
            fix="see the kernel's log: often there is no room for their registers (pci=realloc, or in the firmware)",
        )
    return found[:wanted]


def allow_drivers(function: PhysicalFunction, sysfs: Path = SYSFS) -> None:
    """Let drivers take functions from now on; the record of `create` undoes it."""
    autoprobe = device_folder(function.address, sysfs) / "sriov_drivers_autoprobe"
    if function.num_vfs == 0 and autoprobe.exists():
        _write(autoprobe, "1")


def _set_autoprobe(folder: Path, value: str, ledger: Ledger) -> None:
    path = folder / "sriov_drivers_autoprobe"
    if path.exists():  # Linux 4.12 or later
        ledger.record(FileEntry(path=str(path), previous=path.read_text().strip()))
        _write(path, value)


def _write(path: Path, value: str) -> None:
    try:
        path.write_text(value)
    except OSError as failure:
        raise DeployError(
            f"the kernel refuses {path.name}", where=str(path), observed=f"{value}: {failure.strerror}", fix="see dmesg"
        ) from failure


def _read(index: int, address: str, sysfs: Path) -> VirtualFunction:
    group = device_folder(address, sysfs) / "iommu_group"
    return VirtualFunction(
        index=index,
        address=address,
        driver=driver_of(address, sysfs),
        iommu_group=int(group.readlink().name) if group.is_symlink() else None,
    )
