"""Facts of a machine, read from what `record.py` printed there."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from pydantic import Field

from nfvbed.host.nics.inventory import GroupMember
from nfvbed.host.nics.pf import NETWORK_CLASS
from nfvbed.host.probes.devices import probe_iommu
from nfvbed.host.probes.host import parse_cpu_list
from nfvbed.host.probes.memory import probe_numa
from nfvbed.records import Record
from nfvbed.sites.kolla.preflight.recorded import RecordedHost

MELLANOX = "0x15b3"
VFIO = "vfio-pci"
_BUS = "sys/bus/pci/devices"
_NET = "sys/class/net"
_NODE = "sys/devices/system/node"
_CPU = "sys/devices/system/cpu"
_PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_VIRTUAL = "/virtual/"
"""In the path of a device that is no hardware."""
KOLLAS_SETTINGS = (
    *(f"net/ipv4/neigh/default/gc_thresh{number}" for number in (1, 2, 3)),
    "net/ipv4/ip_nonlocal_bind",
    "net/unix/max_dgram_qlen",
)
"""Settings of the kernel that Kolla's roles neutron and loadbalancer write (`tasks/config-host.yml`)."""
SETTINGS_OF_BRIDGES = ("net/bridge/bridge-nf-call-iptables", "net/bridge/bridge-nf-call-ip6tables")
"""The same of its role nova-cell, on computes."""
_CAP_SYS_RESOURCE = 24
_DEVICES = re.compile(r"^\d+: (\S+)\s+inet (\d+\.\d+\.\d+\.\d+)", re.MULTILINE)
_SECOND = re.compile(r"\binet (\d+\.\d+\.\d+\.\d+).*? secondary\b")
_XMIT = 4
"""NDO_XMIT of linux/netdev.h: frames may be redirected to it; a veth has it while its peer has a program or GRO."""
_UP = 1
"""IFF_UP of netdevice(7)."""


class NicFacts(Record):
    """A port of a NIC: a PCI function with its network device, or either of them where there is no other."""

    pci: str | None
    interface: str | None
    """Name of its network device; None: another driver than the kernel's for networks has it."""
    mac: str | None
    driver: str | None
    vendor: str
    numa_node: int | None
    """NUMA node; None: the machine does not say (-1), as firmware may leave it out."""
    mtu: int | None
    max_mtu: int | None
    """Largest that the driver allows; None: it does not say."""
    carrier: bool | None
    """Whether a link is seen; None: the port is not up, so that it is not known."""
    total_functions: int
    """Virtual functions that it can have."""
    functions: int
    """Virtual functions that it has."""
    is_function: bool
    """Whether it is a virtual function itself."""
    iommu_group: int | None = None
    """None: there is no IOMMU, or it is off."""
    group: tuple[GroupMember, ...] = ()
    """All devices of that group."""
    is_virtual: bool = False
    """Whether it is no hardware but a device of the kernel's (veth, VLAN), which the site's file names."""
    takes_redirected: bool | None = None
    """Whether the kernel's programs may send frames through it, as nfvgen's does; None: its kernel does not say."""
    alike: tuple[str, ...] = ()
    """Devices on a virtual one that have its MAC address too, and that Ansible's facts do not tell from it."""

    @property
    def is_mellanox(self) -> bool:
        """Whether DPDK uses it beside the kernel's driver."""
        return self.vendor == MELLANOX

    @property
    def named(self) -> str:
        """Name in messages."""
        kind = "no hardware" if self.is_virtual else self.driver and f"driver {self.driver}"
        parts = (self.interface, self.pci, self.mac, kind)
        return ", ".join(part for part in parts if part)


class NodeFacts(Record):
    """A NUMA node."""

    number: int
    cores: tuple[int, ...]
    memory_mib: int
    pages: dict[int, int]
    """Hugepages by size in KiB."""
    free_pages: dict[int, int]


class MachineFacts(Record):
    """A machine."""

    hostname: str
    system: str
    kernel: str
    boot_id: str
    """Id of this boot of its kernel: no two machines have the same."""
    isolated: tuple[int, ...]
    """Cores that its scheduler leaves alone."""
    siblings: tuple[tuple[int, ...], ...]
    """Threads that share a core; none where each has its own."""
    nodes: tuple[NodeFacts, ...]
    page_sizes_kib: tuple[int, ...]
    """Sizes of hugepages that its kernel can have."""
    iommu_groups: int
    nics: tuple[NicFacts, ...]
    modules: dict[str, bool]
    """Kernel modules, and whether it has them."""
    address: str
    """Its own address that SSH came in by."""
    addresses: tuple[str, ...] = ()
    """All IPv4 addresses that it has."""
    devices: dict[str, str] = {}
    """Network device of each of them."""
    second_addresses: tuple[str, ...] = ()
    """Those of them that are a device's second or later ones: Ansible's facts have them apart."""
    networks: tuple[str, ...] = ()
    """The same with their prefix lengths."""
    virtual_at: str = ""
    """MAC address of who answers for the rack's virtual address; empty: none, or it was not asked."""
    runs_keepalived: bool = False
    """Whether keepalived runs, which gives that address to one of the controllers."""
    address_on: str = ""
    """Network device that has that address; empty: none was found."""
    address_nics: tuple[str, ...] = ()
    """Network devices of NICs below that one: below a bridge, a bond, a VLAN."""
    route_nics: tuple[str, ...] = ()
    """The same for the default route."""
    open_files: int | None = None
    """Open files that a container can have at most; None: its processes have no bound but the kernel's, or none is
    known."""
    locked_bytes: int | None = None
    """The same for memory that is locked."""
    lacks: tuple[str, ...] = ()
    """Files of the kernel's that Kolla writes or reads, and that are not there."""
    may_administer: bool = True
    """Whether the account may do anything without a password."""
    refused: str = Field("", description="what sudo said otherwise")

    @property
    def cores(self) -> tuple[int, ...]:
        """All cores."""
        return tuple(core for node in self.nodes for core in node.cores)

    def node(self, number: int | None) -> NodeFacts | None:
        """Return a NUMA node; None: there is none, or it is not known which."""
        return next((node for node in self.nodes if node.number == number), None)

    def node_of(self, nic: NicFacts) -> int | None:
        """Return the number of the NUMA node that a NIC is on: of a machine with one node, that; None: not known."""
        return self.nodes[0].number if nic.numa_node is None and len(self.nodes) == 1 else nic.numa_node

    @property
    def summary(self) -> str:
        """In one line."""
        memory = sum(node.memory_mib for node in self.nodes)
        return (
            f"{self.system}, kernel {self.kernel}; {len(self.nodes)} NUMA nodes, {len(self.cores)} cores, {memory} MiB"
        )


def facts_of(document: Mapping[str, Any], named: Collection[str] = ()) -> MachineFacts:
    """Read the facts from what was recorded.

    Args:
        document: what `record.py` printed.
        named: MAC addresses in the site's file: a device that is no hardware is a NIC if the file names it.
    """
    host = RecordedHost(files=document["files"])
    answers = document["answers"]
    features: Mapping[str, int] = document.get("features", {})
    nics = tuple(
        nic.model_copy(update={"takes_redirected": _takes_redirected(features, nic.interface)})
        for nic in _nics(host, answers["links"]["out"], frozenset(named))
    )
    interfaces = frozenset(nic.interface for nic in nics if nic.interface)
    address_on = _device_of(answers["addresses"]["out"], document["address"])
    routed = re.findall(r"^default .*?\bdev (\S+)", answers["routes"]["out"], re.MULTILINE)
    sudo = answers.get("sudo", {"status": 0, "said": ""})
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', host.text("etc/os-release") or "", re.MULTILINE))
    return MachineFacts(
        hostname=(host.text("proc/sys/kernel/hostname") or "").partition(".")[0],
        system=release.get("PRETTY_NAME", "an unknown system"),
        kernel=host.text("proc/sys/kernel/osrelease") or "unknown",
        boot_id=host.text("proc/sys/kernel/random/boot_id") or "",
        isolated=parse_cpu_list(host.text(f"{_CPU}/isolated")),
        siblings=_siblings(host),
        nodes=_nodes(host),
        page_sizes_kib=tuple(_kib(name) for name in host.names("sys/kernel/mm/hugepages")),
        iommu_groups=probe_iommu(host).groups,
        nics=nics,
        modules=document["modules"],
        address=document["address"],
        addresses=tuple(re.findall(r"\binet (\d+\.\d+\.\d+\.\d+)", answers["addresses"]["out"])),
        networks=tuple(re.findall(r"\binet (\d+\.\d+\.\d+\.\d+/\d+)", answers["addresses"]["out"])),
        virtual_at=_answering(document.get("virtual", {}).get("neighbour", "")),
        runs_keepalived=document.get("virtual", {}).get("keepalived", False),
        devices={address: device for device, address in _DEVICES.findall(answers["addresses"]["out"])},
        second_addresses=tuple(_SECOND.findall(answers["addresses"]["out"])),
        address_on=address_on,
        address_nics=_below(host, address_on, interfaces) if address_on else (),
        route_nics=tuple(sorted({nic for device in routed for nic in _below(host, device, interfaces)})),
        open_files=_bound(host, "Max open files"),
        locked_bytes=_bound(host, "Max locked memory"),
        lacks=_lacking(host, document),
        may_administer=sudo["status"] == 0,
        refused=sudo["said"],
    )


def _answering(neighbour: str) -> str:
    """Return the MAC address in a line of `ip neigh`, of an address that is certainly there."""
    found = re.search(r"\blladdr (\S+)", neighbour) if neighbour.endswith(("REACHABLE", "PERMANENT")) else None
    return found[1] if found else ""


def _bound(host: RecordedHost, name: str) -> int | None:
    """Return the hard limit that no process of a machine can raise: its first one's, if that may not raise it."""
    found = re.search(rf"^{name}\s+\S+\s+(\d+)\s", host.text("proc/1/limits") or "", re.MULTILINE)
    rights = re.search(r"^CapBnd:\s*([0-9a-f]+)$", host.text("proc/1/status") or "", re.MULTILINE)
    may_raise = rights is None or int(rights[1], 16) >> _CAP_SYS_RESOURCE & 1
    return None if may_raise or found is None else int(found[1])


def _lacking(host: RecordedHost, document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files that Kolla's roles need and the machine has not; of older recordings none are known."""
    if "module_lists" not in document:
        return ()
    lists = [name for name, is_there in document["module_lists"].items() if not is_there]
    settings = [f"proc/sys/{name}" for name in KOLLAS_SETTINGS if host.text(f"proc/sys/{name}") is None]
    # These come with a module that Kolla loads before.
    of_bridges = [f"proc/sys/{name}" for name in SETTINGS_OF_BRIDGES if host.text(f"proc/sys/{name}") is None]
    return (*lists, *settings, *(of_bridges if not document["modules"].get("br_netfilter") else ()))


def _takes_redirected(features: Mapping[str, int], interface: str | None) -> bool | None:
    return None if interface is None or interface not in features else bool(features[interface] & _XMIT)


def _kib(name: str) -> int:
    return int(name.removeprefix("hugepages-").removesuffix("kB"))


def _siblings(host: RecordedHost) -> tuple[tuple[int, ...], ...]:
    lists = {parse_cpu_list(host.text(f"{_CPU}/{name}/topology/thread_siblings_list")) for name in host.names(_CPU)}
    return tuple(sorted(group for group in lists if len(group) > 1))


def _nodes(host: RecordedHost) -> tuple[NodeFacts, ...]:
    found = []
    for node in probe_numa(host).nodes:
        folder = f"{_NODE}/node{node.node}/hugepages"
        count = {_kib(name): host.number(f"{folder}/{name}/nr_hugepages") or 0 for name in host.names(folder)}
        free = {_kib(name): host.number(f"{folder}/{name}/free_hugepages") or 0 for name in host.names(folder)}
        found.append(
            NodeFacts(number=node.node, cores=node.cores, memory_mib=node.memory_mib, pages=count, free_pages=free)
        )
    return tuple(found)


def _nics(host: RecordedHost, links: str, named: frozenset[str]) -> tuple[NicFacts, ...]:
    targets = {name: host.link(f"{_NET}/{name}") or _VIRTUAL for name in host.names(_NET)}
    physical = {name: target for name, target in targets.items() if _VIRTUAL not in target}
    virtual = _virtual_nics(host, links, frozenset(targets) - frozenset(physical), _by_mac(host, physical, named))
    places: list[tuple[str | None, str | None]] = [(_function_of(target), name) for name, target in physical.items()]
    of_kernel = {pci for pci, _ in places}
    places += [
        (pci, None) for pci in host.names(_BUS) if pci not in of_kernel and _class_of(host, pci) == NETWORK_CLASS
    ]
    largest = {name: int(mtu) for name, mtu in re.findall(r"^\d+: ([^:@\s]+).*? maxmtu (\d+)", links, re.MULTILINE)}
    hardware = tuple(_nic(host, pci, name, largest) for pci, name in sorted(places, key=str))
    others = (
        _nic(host, None, name, largest).model_copy(update={"is_virtual": True, "alike": alike})
        for name, alike in sorted(virtual.items())
    )
    return (*hardware, *others)


def _by_mac(host: RecordedHost, physical: Collection[str], named: frozenset[str]) -> frozenset[str]:
    """Return those MAC addresses of the site's file that no hardware has."""
    return named - {host.text(f"{_NET}/{name}/address") for name in physical}


def _virtual_nics(
    host: RecordedHost, links: str, virtual: frozenset[str], macs: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    """Return the devices that the site's file names by MAC address, each with those that Ansible takes for it.

    A bridge, a bond and a VLAN's device take the MAC address of what they lie on, and a bridge of Open vSwitch that of
    a port: of devices with one address the lowest is meant.
    """
    found: dict[str, tuple[str, ...]] = {}
    for mac in sorted(macs):
        having = [name for name in sorted(virtual) if host.text(f"{_NET}/{name}/address") == mac]
        others = [name for name in having if _is_switch_port(host, links, name) or _is_bridge_or_bond(host, name)]
        made = [name for name in having if name not in others] or having
        lowest = [name for name in made if not _all_below(host, name) & set(made)]
        above = [name for name in made if name not in lowest]
        found |= {name: tuple(one for one in above if name in _all_below(host, one)) for name in lowest}
    return found


def _is_switch_port(host: RecordedHost, links: str, name: str) -> bool:
    """Return whether a device is a tap or one of Open vSwitch's own, as its bridges are."""
    of_kernel = re.search(rf"^\d+: {re.escape(name)}[:@].*\bopenvswitch addrgenmode", links, re.MULTILINE)
    return host.text(f"{_NET}/{name}/tun_flags") is not None or of_kernel is not None


def _is_bridge_or_bond(host: RecordedHost, name: str) -> bool:
    return any(host.text(f"{_NET}/{name}/{one}") is not None for one in ("bridge/bridge_id", "bonding/mode"))


def _all_below(host: RecordedHost, device: str) -> set[str]:
    """Return all devices that a device lies on."""
    lower = {name.removeprefix("lower_") for name in host.names(f"{_NET}/{device}") if name.startswith("lower_")}
    return lower.union(*(_all_below(host, name) for name in lower))


def _function_of(target: str) -> str | None:
    """Return the PCI function in the path of a device; the last one is the NIC, those before are bridges."""
    found = _PCI.findall(target)
    return found[-1] if found else None


def _nic(host: RecordedHost, pci: str | None, name: str | None, largest: Mapping[str, int]) -> NicFacts:
    device = f"{_BUS}/{pci}"
    interface = f"{_NET}/{name}"
    node, group = host.number(f"{device}/numa_node"), host.link_name(f"{device}/iommu_group")
    is_up = bool((host.number(f"{interface}/flags") or 0) & _UP)
    carrier = host.number(f"{interface}/carrier") if is_up else None
    return NicFacts(
        pci=pci,
        interface=name,
        mac=host.text(f"{interface}/address") if name else None,
        driver=host.link_name(f"{device}/driver"),
        vendor=host.text(f"{device}/vendor") or "",
        numa_node=None if node is None or node < 0 else node,
        mtu=host.number(f"{interface}/mtu"),
        max_mtu=largest.get(name or "") or None,
        carrier=None if carrier is None else bool(carrier),
        total_functions=host.number(f"{device}/sriov_totalvfs") or 0,
        functions=host.number(f"{device}/sriov_numvfs") or 0,
        is_function=host.link_name(f"{device}/physfn") is not None,
        iommu_group=None if group is None else int(group),
        group=() if group is None else _group(host, group),
    )


def _group(host: RecordedHost, number: str) -> tuple[GroupMember, ...]:
    """Return the devices of an IOMMU group."""
    return tuple(
        GroupMember(
            address=address,
            device_class=_class_of(host, address),
            driver=host.link_name(f"{_BUS}/{address}/driver"),
        )
        for address in host.names(_BUS)
        if host.link_name(f"{_BUS}/{address}/iommu_group") == number
    )


def _class_of(host: RecordedHost, address: str) -> int:
    return (host.number(f"{_BUS}/{address}/class") or 0) >> 16


def _device_of(addresses: str, address: str) -> str:
    """Return the network device that has an address, in `ip -o address`."""
    found = re.search(rf"^\d+: (\S+)\s+inet {re.escape(address)}[/ ]", addresses, re.MULTILINE) if address else None
    return found[1] if found else ""


def _below(host: RecordedHost, device: str, nics: frozenset[str]) -> tuple[str, ...]:
    """Return the devices of NICs that a device lies on, itself where it is one."""
    return tuple(sorted(({device} | _all_below(host, device)) & nics))
