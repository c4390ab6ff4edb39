"""The guest's ports: Ethernet devices on PCI, and which driver has them."""

import os
import time

from agent import ethtool
from agent.program import read, run, write
from agent.refusal import Refusal

PCI = "/sys/bus/pci/devices"
USERSPACE = ("uio_pci_generic", "vfio-pci")
_ETHERNET = "0x0200"
_VIRTIO = "0x1af4"
_DPDK = {"0x8086", _VIRTIO, "0x15b3", "0x15ad"}
"""Vendors whose devices DPDK may drive: Intel, virtio, NVIDIA, VMware."""
_OWN_DRIVER = {"0x15b3"}
"""DPDK uses these beside the kernel's driver, and does not take them from it."""
_FEATURE_MTU = 3
"""VIRTIO_NET_F_MTU: the host says how large an MTU may be, as Nova's do on taps."""
COUNTERS = ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_dropped", "tx_dropped", "rx_errors", "tx_errors")
_APPEAR_S = 5.0
_SETTLE_S = 5.0
_BRIDGE_FORWARDS = "3"


class Port:
    """One device; its MAC address, and whether the host limits its MTU, are read while the kernel has it and kept."""

    def __init__(self, pci: str, mac: str, limited: bool = False) -> None:
        self.pci = pci
        self.mac = mac
        self.limited = limited

    @property
    def vendor(self) -> str:
        """PCI vendor, `0x1af4`."""
        return read(f"{PCI}/{self.pci}/vendor")

    @property
    def driver(self) -> str:
        """Of the PCI device; empty when none has it."""
        link = f"{PCI}/{self.pci}/driver"
        return os.path.basename(os.readlink(link)) if os.path.islink(link) else ""

    @property
    def name(self) -> str:
        """The kernel's name of the interface; empty when the kernel does not drive it."""
        return interface(self.pci)

    @property
    def polls(self) -> bool:
        """Whether DPDK can drive it."""
        return self.vendor in _DPDK

    def describe(self) -> dict:
        """What `links` says of it."""
        name = self.name
        known = {"mac": self.mac, "pci": self.pci, "name": name, "driver": self.driver}
        if not name:
            of_kernel = ("up", "mtu", "channels", "max_channels", "offloads", "counters")
            return {**known, **dict.fromkeys(of_kernel)}
        now = ethtool.channels(name) or {"combined": 1, "max_combined": 1}
        return {
            **known,
            "up": read(f"/sys/class/net/{name}/operstate") == "up",
            "mtu": int(read(f"/sys/class/net/{name}/mtu", "0")),
            "channels": now["combined"],
            "max_channels": now["max_combined"],
            "offloads": ethtool.offloads(name),
            "counters": self.counters(),
        }

    def counters(self) -> dict:
        """Return what the kernel has counted of its interface."""
        return {key: int(read(f"/sys/class/net/{self.name}/statistics/{key}", "0")) for key in COUNTERS}

    def to_dpdk(self) -> str:
        """Take the device from the kernel for DPDK and return the driver it has then."""
        if self.vendor in _OWN_DRIVER:
            run("ip", "link", "set", self.name, "up")
            return self.driver
        # virtio without an IOMMU of its own talks of physical addresses, which vfio does not let through.
        isolated = os.path.exists(f"{PCI}/{self.pci}/iommu_group") and self.vendor != _VIRTIO
        wanted = "vfio-pci" if isolated else "uio_pci_generic"
        run("modprobe", wanted)
        self._bind(wanted)
        return wanted

    def to_kernel(self) -> None:
        """Give the device back to the kernel's driver and wait for its interface."""
        if self.driver in USERSPACE:
            self._bind("")
        deadline = time.monotonic() + _APPEAR_S
        while not self.name:
            if time.monotonic() > deadline:
                raise Refusal("the kernel's driver gives no interface", where=self.pci, observed=self.driver or "none")
            time.sleep(0.01)

    def _bind(self, driver: str) -> None:
        if self.driver == driver:
            return
        place = f"{PCI}/{self.pci}"
        if self.driver:
            write(f"{place}/driver/unbind", self.pci)
        write(f"{place}/driver_override", driver or "\n")
        write("/sys/bus/pci/drivers_probe", self.pci)
        if driver and self.driver != driver:
            raise Refusal(f"{driver} does not take the device", where=self.pci, observed=f"driver {self.driver!r}")


def interface(pci: str) -> str:
    """Return the interface of a PCI device; that of a virtio device lies one level deeper."""
    place = f"{PCI}/{pci}"
    candidates = [place] + [f"{place}/{entry}" for entry in sorted(os.listdir(place)) if entry.startswith("virtio")]
    for folder in candidates:
        if os.path.isdir(f"{folder}/net"):
            names = sorted(os.listdir(f"{folder}/net"))
            if names:
                return names[0]
    return ""


def discover() -> list[Port]:
    """Find the ports, in order of PCI address."""
    found = []
    for pci in sorted(os.listdir(PCI)):
        if read(f"{PCI}/{pci}/class").startswith(_ETHERNET):
            name = interface(pci)
            if name:
                found.append(Port(pci, read(f"/sys/class/net/{name}/address"), _is_limited(pci)))
    return found


def _is_limited(pci: str) -> bool:
    """Return whether the host of a virtio device has given it an MTU."""
    place = f"{PCI}/{pci}"
    devices = [entry for entry in os.listdir(place) if entry.startswith("virtio")]
    return any(read(f"{place}/{device}/features")[_FEATURE_MTU : _FEATURE_MTU + 1] == "1" for device in devices)


def choose(ports: list[Port], macs: list | None, most: int) -> list[Port]:
    """Return the ports with these MAC addresses, in this order; without any, all of them up to the most."""
    if macs is None:
        chosen = ports[:most]
    else:
        known = {port.mac: port for port in ports}
        missing = [mac for mac in macs if str(mac).lower() not in known]
        if missing:
            raise Refusal(
                "no port has this MAC address", observed=f"{missing[0]}; there are {', '.join(known) or 'none'}"
            )
        chosen = [known[str(mac).lower()] for mac in macs]
    if not 1 <= len(chosen) <= most:
        raise Refusal(
            f"one to {most} ports are needed", observed=f"{len(chosen)}", fix="give the guest network devices"
        )
    return chosen


def wait_up(name: str) -> None:
    """Wait until the kernel has taken notice that a cable is plugged in; without one the port stays down."""
    place = f"/sys/class/net/{name}"
    deadline = time.monotonic() + _SETTLE_S
    while time.monotonic() < deadline:
        bridged = read(f"{place}/brport/state")
        if read(f"{place}/operstate") == "up" and bridged in ("", _BRIDGE_FORWARDS):
            return
        time.sleep(0.02)
