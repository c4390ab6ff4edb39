"""Doubles for NICs that are not here: folders that stand for /sys, and a kernel that answers what is written there.

The folders hold what NICs of these kinds show (an Intel 82599, an emulated 82576, a ConnectX-3 Pro with two ports, a
ConnectX-5), cut down to what nfvbed reads. No test here shows that a NIC works.
"""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.owner import this_process

NICS = {
    "ixgbe": ("0000:05:00.0", 0x8086, 0x10FB, "ixgbe", 63, (("ens1f0", "90:e2:ba:00:00:01", 0),), "ixgbevf", 1),
    "igb": ("0000:01:00.0", 0x8086, 0x10C9, "igb", 7, (("eth0", "52:54:00:00:ab:01", 0),), "igbvf", -1),
    "mlx5": ("0000:81:00.0", 0x15B3, 0x1017, "mlx5_core", 8, (("ens2f0", "b8:59:9f:00:00:01", 0),), "mlx5_core", 0),
    "mlx4": (
        "0000:82:00.0",
        0x15B3,
        0x1007,
        "mlx4_core",
        126,
        (("ens3", "24:8a:07:00:00:01", 0), ("ens3d1", "24:8a:07:00:00:02", 1)),
        "mlx4_core",
        0,
    ),
}
"""address, vendor, device, driver, most functions, ports (name, MAC, dev_port), driver of functions, NUMA node."""


@dataclass
class FakeSys:
    """A folder that stands for /sys, and what the kernel does when it is written to."""

    root: Path
    log: list[tuple[str, str]] = field(default_factory=list)
    """What was written, in order: the last two parts of the path, the value."""
    vf_driver: dict[str, str] = field(default_factory=dict)
    number: int = 16

    def nic(self, kind):
        """Put a NIC in."""
        address, vendor, device, driver, total, ports, vf_driver, node = NICS[kind]
        folder = self._device(address, vendor, device, driver, node)
        self.vf_driver[address] = vf_driver
        for name, value in (("sriov_totalvfs", total), ("sriov_numvfs", 0), ("sriov_drivers_autoprobe", 1)):
            (folder / name).write_text(f"{value}\n")
        for name, mac, dev_port in ports:
            self.netdev(address, name, mac, dev_port)
        return address

    def _device(self, address, vendor, device, driver, node):
        folder = self.root / "bus/pci/devices" / address
        folder.mkdir(parents=True)
        values = {"class": "0x020000", "vendor": hex(vendor), "device": hex(device), "numa_node": node}
        for name, value in (values | {"driver_override": "(null)"}).items():
            (folder / name).write_text(f"{value}\n")
        if driver:
            self._bind(address, driver)
        return folder

    def netdev(self, address, name, mac, dev_port=0, flags=0x1002):
        """Give a device a network device."""
        folder = self.root / "bus/pci/devices" / address / "net" / name
        folder.mkdir(parents=True)
        for key, value in (("address", mac), ("dev_port", dev_port), ("flags", hex(flags))):
            (folder / key).write_text(f"{value}\n")
        link = self.root / "class/net" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(folder)

    def _bind(self, address, driver):
        place = self.root / "bus/pci/drivers" / driver
        place.mkdir(parents=True, exist_ok=True)
        (place / "unbind").touch()
        (self.root / "bus/pci/devices" / address / "driver").symlink_to(place)

    def functions(self, pf, count, driver=None):
        """Make virtual functions, as the kernel does when sriov_numvfs is written."""
        for index in range(count):
            address = f"{pf[:8]}{self.number:02x}.{index % 8}"
            self._device(address, 0x8086, 0x10ED, driver, -1)
            link = self.root / "bus/pci/devices" / pf / f"virtfn{index}"
            link.symlink_to(self.root / "bus/pci/devices" / address)
        # Not by write_text, to which the kernel's double answers.
        (self.root / "bus/pci/devices" / pf / "sriov_numvfs").write_bytes(f"{count}\n".encode())

    def written(self, path, value):
        """React as the kernel does."""
        self.log.append((f"{path.parent.name}/{path.name}", value.strip()))
        device = self.root / "bus/pci/devices" / value.strip()
        if path.name == "sriov_numvfs" and value.strip() != "0":
            autoprobe = (path.parent / "sriov_drivers_autoprobe").read_text().strip() == "1"
            self.functions(path.parent.name, int(value), self.vf_driver[path.parent.name] if autoprobe else None)
        elif path.name == "unbind":
            (device / "driver").unlink()
        elif path.name == "drivers_probe" and device.is_dir() and not (device / "driver").exists():
            override = (device / "driver_override").read_text().strip()
            self._bind(device.name, override if override not in ("", "(null)") else next(iter(self.vf_driver.values())))


@pytest.fixture
def sys_tree(tmp_path, monkeypatch):
    """An empty /sys with a kernel behind it."""
    (tmp_path / "sys/bus/pci").mkdir(parents=True)
    (tmp_path / "sys/bus/pci/drivers_probe").touch()
    tree = FakeSys(tmp_path / "sys")
    real, busy = Path.write_text, []

    def write_text(path, data, *args, **kwargs):
        count = real(path, data, *args, **kwargs)
        if not busy and path.is_relative_to(tree.root):
            busy.append(True)
            try:
                tree.written(path, data)
            finally:
                busy.pop()
        return count

    monkeypatch.setattr(Path, "write_text", write_text)
    return tree


@pytest.fixture
def ledger(tmp_path):
    """A ledger of this process."""
    return Ledger.create(tmp_path / "ledger.jsonl", this_process())
