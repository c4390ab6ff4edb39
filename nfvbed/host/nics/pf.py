"""Physical functions: what sysfs says of NICs that support virtual functions.

Source: Documentation/ABI/testing/sysfs-bus-pci (sriov_totalvfs, sriov_numvfs, numa_node), sysfs-class-net (dev_port).
"""

from pathlib import Path

from nfvbed.host.network import rebind
from nfvbed.records import Record

SYSFS = Path("/sys")
NETWORK_CLASS = 0x02
NO_NIC_FIX = (
    "a NIC with SR-IOV, switched on in the machine's firmware and the NIC's own (Mellanox: mlxconfig -d "
    "<device> set SRIOV_EN=1 NUM_OF_VFS=8, then restart the machine; a kernel that is locked down, as with"
    " secure boot, keeps mlxconfig from it: then in the firmware's menu of the NIC)"
)


class NetPort(Record):
    """A network device of a PCI function."""

    name: str
    mac: str
    dev_port: int = 0
    """Number of the port within its PCI function: 0 but for NICs with several at one address."""


class PhysicalFunction(Record):
    """A PCI function that supports virtual functions."""

    address: str
    vendor: int
    device: int
    driver: str | None
    ports: tuple[NetPort, ...]
    total_vfs: int
    num_vfs: int
    numa_node: int | None


class PfPort(Record):
    """One network port of a physical function, which a deployment uses."""

    function: PhysicalFunction
    port: NetPort


def device_folder(address: str, sysfs: Path = SYSFS) -> Path:
    """Return a PCI device's folder."""
    return sysfs / "bus/pci/devices" / address


def driver_of(address: str, sysfs: Path = SYSFS) -> str | None:
    """Return the name of a PCI device's driver; None: it has none."""
    link = device_folder(address, sysfs) / "driver"
    return link.readlink().name if link.is_symlink() else None


def net_ports(address: str, sysfs: Path = SYSFS) -> tuple[NetPort, ...]:
    """Return the network devices of a PCI function that are in this network namespace, by port."""
    found = [_net_port(path) for path in rebind.netdevs(device_folder(address, sysfs))]
    return tuple(sorted(found, key=lambda port: (port.dev_port, port.name)))


def discover(sysfs: Path = SYSFS) -> tuple[PhysicalFunction, ...]:
    """Find all NICs whose drivers say that they support virtual functions."""
    bus = sysfs / "bus/pci/devices"
    addresses = sorted(path.name for path in bus.iterdir()) if bus.is_dir() else []
    return tuple(_read(address, sysfs) for address in addresses if _is_physical(bus / address))


def _is_physical(folder: Path) -> bool:
    kind, total = read_number(folder / "class"), read_number(folder / "sriov_totalvfs")
    return kind is not None and kind >> 16 == NETWORK_CLASS and bool(total)


def _read(address: str, sysfs: Path) -> PhysicalFunction:
    folder = device_folder(address, sysfs)
    node = read_number(folder / "numa_node")
    return PhysicalFunction(
        address=address,
        vendor=read_number(folder / "vendor") or 0,
        device=read_number(folder / "device") or 0,
        driver=driver_of(address, sysfs),
        ports=net_ports(address, sysfs),
        total_vfs=read_number(folder / "sriov_totalvfs") or 0,
        num_vfs=read_number(folder / "sriov_numvfs") or 0,
        numa_node=node if node is not None and node >= 0 else None,
    )


def _net_port(path: Path) -> NetPort:
    mac = (path / "address").read_text().strip()
    return NetPort(name=path.name, mac=mac, dev_port=read_number(path / "dev_port") or 0)


def read_number(path: Path) -> int | None:
    """Read a number from a file of sysfs; None: there is none."""
    try:
        return int(path.read_text(), 0)
    except (OSError, ValueError):
        return None
