"""What sysfs says of a network port, by its PCI address.

Source: Documentation/ABI/testing/sysfs-bus-pci (class, numa_node), sysfs-kernel-iommu_groups, sysfs-class-net.
"""

from pathlib import Path

from nfvbed.host.nics import mellanox
from nfvbed.host.nics.pf import NETWORK_CLASS, SYSFS, NetPort, device_folder, driver_of, net_ports, read_number
from nfvbed.records import Record

_BRIDGE_CLASS = 0x06


class GroupMember(Record):
    """A PCI device in an IOMMU group."""

    address: str
    device_class: int
    """PCI class, the highest of its three bytes."""
    driver: str | None

    @property
    def can_be_driven(self) -> bool:
        """Whether a driver could take it; bridges stay with the kernel, and VFIO accepts that."""
        return self.device_class != _BRIDGE_CLASS


class Nic(Record):
    """A PCI function in its present state."""

    address: str
    is_network: bool
    vendor: int
    device: int
    driver: str | None
    ports: tuple[NetPort, ...]
    """Its network devices in this network namespace."""
    numa_node: int | None
    iommu_group: int | None

    @property
    def keeps_kernel_driver(self) -> bool:
        """Whether DPDK drives it beside the kernel's driver (Mellanox): then it is never given to vfio-pci."""
        return self.vendor == mellanox.VENDOR


def read(address: str, sysfs: Path = SYSFS) -> Nic | None:
    """Read a PCI function; None: there is no such device."""
    folder = device_folder(address, sysfs)
    if not folder.is_dir():
        return None
    node = read_number(folder / "numa_node")
    group = folder / "iommu_group"
    return Nic(
        address=address,
        is_network=_class(address, sysfs) == NETWORK_CLASS,
        vendor=read_number(folder / "vendor") or 0,
        device=read_number(folder / "device") or 0,
        driver=driver_of(address, sysfs),
        ports=net_ports(address, sysfs),
        numa_node=None if node is None or node < 0 else node,
        iommu_group=int(group.readlink().name) if group.is_symlink() else None,
    )


def network_addresses(sysfs: Path = SYSFS) -> tuple[str, ...]:
    """Return the addresses of all network ports on the machine's PCI bus."""
    bus = sysfs / "bus/pci/devices"
    found = sorted(path.name for path in bus.iterdir()) if bus.is_dir() else []
    return tuple(name for name in found if _class(name, sysfs) == NETWORK_CLASS)


def group_members(group: int | None, sysfs: Path = SYSFS) -> tuple[GroupMember, ...]:
    """Return the devices of an IOMMU group, sorted by address."""
    folder = sysfs / "kernel/iommu_groups" / str(group) / "devices"
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return tuple(
        GroupMember(address=name, device_class=_class(name, sysfs), driver=driver_of(name, sysfs)) for name in names
    )


def _class(address: str, sysfs: Path) -> int:
    return (read_number(device_folder(address, sysfs) / "class") or 0) >> 16
