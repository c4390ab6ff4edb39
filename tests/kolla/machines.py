"""Facts of machines that are not here, as Ansible would find them: those of a site's file."""

import ipaddress
import json
from pathlib import Path
from typing import Any

from nfvbed.spec.rack import RackHostSpec, RackNicSpec
from nfvbed.spec.site import KollaSiteSpec

CACHE_PREFIX = "s1_"
"""Prefix of files in Ansible's cache (ansible-core 2.19)."""
NAMES = {"management": "eno{}", "external": "enp1s0f{}", "dpdk": "ens{}f0", "sriov": "enp175s0f{}"}
DOMAIN = "example.net"
SECOND_PORT = "enp175s0d1"
"""Second port of a ConnectX-3, both ports of which are one PCI device."""
MANAGEMENT_PREFIX_BITS = 24


def write_facts(folder: Path, site: KollaSiteSpec, interpreter: Path) -> None:
    """Fill Ansible's cache of facts."""
    folder.mkdir(parents=True)
    for place, (name, host) in enumerate(site.hosts.items()):
        facts = machine(name, host, place) | {"python": {"version": {"major": 3}, "executable": str(interpreter)}}
        # ansible-core 2.19 keeps what it caches as a text in its own wrapping.
        (folder / f"{CACHE_PREFIX}{name}").write_text(json.dumps({"__payload__": json.dumps(facts)}))
    local = machine("localhost", next(iter(site.hosts.values())), len(site.hosts))
    (folder / f"{CACHE_PREFIX}localhost").write_text(json.dumps({"__payload__": json.dumps(local)}))


def machine(name: str, host: RackHostSpec, place: int) -> dict[str, Any]:
    """Return the facts of one machine; its devices are called otherwise than those of the others."""
    devices = {device_name(nic, place): nic for nic in host.nics}
    found: dict[str, Any] = {
        "hostname": name,
        "nodename": name,
        "fqdn": f"{name}.{DOMAIN}",
        "distribution": "Debian",
        "distribution_version": "13",
        "distribution_major_version": "13",
        "distribution_release": "trixie",
        "os_family": "Debian",
        "architecture": "x86_64",
        "machine": "x86_64",
        "kernel": "6.12.0-1-amd64",
        "service_mgr": "systemd",
        "processor_vcpus": 32,
        "processor_cores": 16,
        "memtotal_mb": 65536,
        "user_uid": 0,
        "env": {},
        "selinux": {"status": "disabled"},
        "interfaces": ["lo", *devices],
        "all_ipv4_addresses": [host.address],
        "default_ipv4": {"address": host.address, "interface": next(iter(devices))},
    }
    for device, nic in devices.items():
        found[device] = _device(device, nic, host)
    # What carries the NIC's MAC address without being it.
    found["vlan7"] = {"device": "vlan7", "type": "ether", "macaddress": found[next(iter(devices))]["macaddress"]}
    found["interfaces"].append("vlan7")
    return found


def device_name(nic: RackNicSpec, place: int) -> str:
    """Return a name that differs from machine to machine, as names do."""
    if nic.driver == "mlx4_core" and nic.pci is None:
        return SECOND_PORT
    port = str(nic.pci or "0")[-1]
    return NAMES[nic.role].format(place + 1 if nic.role in ("management", "dpdk") else port)


def _device(device: str, nic: RackNicSpec, host: RackHostSpec) -> dict[str, Any]:
    found = {"device": device, "type": "ether", "active": True, "module": "ixgbe", "mtu": 1500}
    found["macaddress"] = nic.mac or f"52:54:00:20:{str(nic.pci)[5:7]}:0{str(nic.pci)[-1]}"
    if pci := nic.pci or _of_both_ports(nic, host):
        found["pciid"] = pci
    if nic.role == "management":
        found["ipv4"] = _ipv4(f"{host.address}/{MANAGEMENT_PREFIX_BITS}")
    if nic.role == "dpdk" and host.overlay_address:
        # As before Kolla moves it to the bridge.
        found["ipv4"] = _ipv4(host.overlay_address)
    return found


def _of_both_ports(nic: RackNicSpec, host: RackHostSpec) -> str | None:
    found = [other.pci for other in host.nics if other.pci and other.driver == nic.driver == "mlx4_core"]
    return found[0] if found else None


def _ipv4(text: str) -> dict[str, str]:
    interface = ipaddress.IPv4Interface(text)
    network = interface.network
    return {
        "address": str(interface.ip),
        "netmask": str(network.netmask),
        "network": str(network.network_address),
        "prefix": str(network.prefixlen),
    }
