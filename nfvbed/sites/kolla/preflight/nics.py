"""Checks of NICs: present, on the right node, with the right driver, and never the management's."""

from collections.abc import Iterator

from nfvbed.cloud.kolla.release import PREPARES_HOST
from nfvbed.host import fixes
from nfvbed.host.nics import fit
from nfvbed.sites.kolla.preflight.facts import VFIO, NicFacts
from nfvbed.sites.kolla.preflight.finding import Finding
from nfvbed.sites.kolla.preflight.subject import Subject
from nfvbed.spec.rack import AF_PACKET, RackNicSpec

OF_DPDK = (VFIO, "uio_pci_generic", "igb_uio")
"""Drivers that take a NIC from the kernel."""
VLANS = "8021q"
"""Module of the kernel's that makes VLAN devices."""
_PACKET_SOCKET_MTU = 1500
"""MTU of DPDK's driver on packet sockets with its frames of 2048 B (its `framesz`), which have a header of their own.
"""


def check_nics(subject: Subject) -> Iterator[Finding]:
    """Compare the NICs of the file with those of the machine."""
    yield from _check_presence(subject)
    yield from _check_alike(subject)
    yield from _check_management(subject)
    for place, nic, port in subject.ports():
        if nic.role != "management":
            yield from _check_node(subject, place, nic, port)
            yield from _check_link(subject, place, nic, port)
            yield from _check_driver(subject, place, nic, port)
        if subject.gives(nic):
            yield from _check_functions(subject, place, nic, port)
    yield from _check_vlans(subject)
    yield from _check_generator(subject)
    yield from _check_iommu(subject)
    yield from _check_groups(subject)


def _check_vlans(subject: Subject) -> Iterator[Finding]:
    """Find a kernel without VLANs' devices; a record from before it was asked for them says nothing."""
    if subject.spec.is_compute and subject.plane.nics.has_vlan_devices and subject.facts.modules.get(VLANS) is False:
        yield subject.finding(
            f"the kernel of {subject.name} has no VLAN devices, and {subject.plane.name} has one for each network",
            "nics",
            f"no module {VLANS}, and no /proc/net/vlan",
            f"a kernel with CONFIG_VLAN_8021Q, or the package with its module {VLANS}; or a variant whose switch"
            " has VLANs of its own",
        )


def _check_presence(subject: Subject) -> Iterator[Finding]:
    seen: dict[NicFacts, int] = {}
    for place, nic in enumerate(subject.spec.nics):
        ports = subject.found(nic)
        key = f"nics[{place}].{'pci' if nic.pci else 'mac'}"
        if not ports:
            there = "; ".join(port.named for port in subject.facts.nics if not port.is_function) or "it has no NIC"
            purpose = f"role {nic.role}" + (f", physical network {nic.network}" if nic.network else "")
            yield subject.finding(
                f"{subject.name} has not {nic.named} ({purpose})", key, there, "name a NIC that the machine has"
            )
        elif len(ports) > 1:
            yield subject.finding(
                f"{nic.named} is on {subject.name} {len(ports)} times",
                key,
                "; ".join(port.named for port in ports),
                "name it by mac: several ports have that PCI address" if nic.pci else _TO_TELL_APART,
            )
        elif ports[0] in seen:
            yield subject.finding(
                f"{nic.named} is on {subject.name} the same NIC as nics[{seen[ports[0]]}]",
                key,
                ports[0].named,
                "describe each NIC once: it has one role",
            )
        else:
            seen[ports[0]] = place


_TO_TELL_APART = "name it by pci, or give a device that has none a MAC address of its own (ip link set DEVICE address)"


def _check_alike(subject: Subject) -> Iterator[Finding]:
    for place, nic, port in subject.ports():
        if port.alike:
            yield subject.finding(
                f"devices on {nic.named} of {subject.name} have its MAC address, and Ansible may take one for it",
                f"nics[{place}].mac",
                f"{port.interface}; {', '.join(port.alike)}",
                f"give {', '.join(port.alike)} MAC addresses of their own: ip link set DEVICE address",
            )


def _check_management(subject: Subject) -> Iterator[Finding]:
    facts = subject.facts
    if not facts.address_nics:
        carrier = f"the address of {facts.address_on}, and no NIC is below that" if facts.address_on else "of no device"
        yield subject.finding(
            f"it is not known by which NIC {subject.name} is reached, so that no data plane may have any",
            "nics",
            f"SSH came in by {facts.address or 'no known address'}, which is {carrier}",
            "give that address to the NIC of role management, or to a bridge, bond or VLAN on it",
        )
    uses = {"the address that SSH came in by": facts.address_nics, "the default route": facts.route_nics}
    for place, nic, port in subject.ports():
        carried = [use for use, nics in uses.items() if port.interface in nics]
        if nic.role == "management" and facts.address_nics and port.interface not in facts.address_nics:
            yield subject.finding(
                f"{nic.named} is not the NIC by which {subject.name} is reached",
                f"nics[{place}]",
                f"SSH came in by {facts.address} on {', '.join(facts.address_nics)}; this is {port.named}",
                "give the role management to the NIC that has the address, and describe no other use of that",
            )
        elif nic.role != "management" and carried:
            yield subject.finding(
                f"{nic.named} would be taken from the management of {subject.name}: its role is {nic.role}",
                f"nics[{place}].role",
                f"{port.named} has {' and '.join(carried)}",
                "describe another NIC, or move the address and the route to the NIC of role management before",
            )


def _check_node(subject: Subject, place: int, nic: RackNicSpec, port: NicFacts) -> Iterator[Finding]:
    if port.is_virtual:
        return
    number, placement = subject.facts.node_of(port), subject.placement
    if number is None:
        yield subject.remark(
            f"{subject.name} does not say on which NUMA node {nic.named} is: node {nic.numa_node} is taken, as the file"
            " says",
            f"nics[{place}].numa_node",
            f"{port.named}; numa_node: -1, of {len(subject.facts.nodes)} nodes",
            "see the machine's manual for the slot's socket, or switch NUMA on in its firmware (ACPI SLIT, _PXM); the"
            " file's word counts",
        )
        return
    node = subject.facts.node(number)
    polled = subject.polls(nic) and subject.spec.is_compute
    lacking = []
    if polled and placement is not None and placement.polling and node is not None:
        if not set(placement.polling) & set(node.cores):
            lacking.append("no polling core is on that node")
        if not any(node.pages.values()) and number != nic.numa_node:
            lacking.append("that node has no hugepages")
    if number != nic.numa_node or lacking:
        yield subject.finding(
            f"{nic.named} of {subject.name} is on another NUMA node than the file says",
            f"nics[{place}].numa_node",
            "; ".join([f"node {number}, and the file says {nic.numa_node}", *lacking]),
            f"numa_node: {number}, with isolated cores and hugepages of that node in numa",
        )


def _check_link(subject: Subject, place: int, nic: RackNicSpec, port: NicFacts) -> Iterator[Finding]:
    if port.carrier is False:
        yield subject.finding(
            f"{nic.named} of {subject.name} has no link",
            f"nics[{place}]",
            f"{port.named}: up, and no carrier",
            "see the cable and the switch's port, or describe the port that is cabled",
        )
    if nic.network not in subject.site.networks:
        return
    wanted = subject.site.networks[nic.network].mtu
    file = f"networks.{nic.network}.mtu ({wanted})"
    if port.max_mtu is not None and port.max_mtu < wanted:
        yield subject.finding(
            f"{nic.named} of {subject.name} cannot carry packets of network {nic.network}",
            f"nics[{place}].network, {file}",
            f"its driver's largest MTU is {port.max_mtu}",
            f"networks.{nic.network}.mtu: {port.max_mtu} or less, or another NIC",
        )
    elif subject.polls(nic) and nic.is_packet_socket and wanted > _PACKET_SOCKET_MTU:
        yield subject.finding(
            f"{nic.named} of {subject.name} cannot carry packets of network {nic.network} with driver {nic.driver}",
            f"nics[{place}].driver, {file}",
            f"DPDK's packet sockets carry packets up to {_PACKET_SOCKET_MTU} B",
            f"networks.{nic.network}.mtu: {_PACKET_SOCKET_MTU}, or a NIC with a PCI address",
        )
    elif port.mtu is not None and port.mtu < wanted and not subject.polls(nic):
        yield subject.finding(
            f"{nic.named} of {subject.name} has a smaller MTU than network {nic.network}",
            f"nics[{place}].network, {file}",
            f"{port.interface}: MTU {port.mtu}",
            f"set {port.interface} to MTU {wanted}, also for the next boot, or networks.{nic.network}.mtu: {port.mtu}",
        )


def _check_driver(subject: Subject, place: int, nic: RackNicSpec, port: NicFacts) -> Iterator[Finding]:
    taken = port.driver in OF_DPDK
    key, has = f"nics[{place}].driver", f"{port.named}; vendor {port.vendor}"
    if port.is_mellanox and taken:
        yield subject.finding(
            f"{nic.named} of {subject.name} is a Mellanox NIC, and the kernel does not have it",
            key,
            has,
            f"if no program uses it over vfio, for which it ends: driverctl unset-override {port.pci}; DPDK"
            " uses it beside the kernel's driver",
        )
    elif taken and not subject.polls(nic):
        yield subject.finding(
            f"the kernel needs {nic.named} of {subject.name} for {subject.plane.name}, and has it not",
            key,
            has,
            f"if no program uses it over vfio, for which it ends: driverctl unset-override {port.pci}, where"
            " driverctl has set it",
        )
    if not subject.polls(nic):
        return
    of_kernel = nic.stays_with_kernel and not nic.is_packet_socket
    if port.is_mellanox and not taken and nic.driver not in (port.driver, AF_PACKET):
        yield subject.finding(
            f"{nic.named} of {subject.name} is a Mellanox NIC, which is never given to {nic.driver}",
            key,
            has,
            f"driver: {port.driver}",
        )
    elif of_kernel and not port.is_mellanox:
        yield subject.finding(
            f"{nic.named} of {subject.name} is no Mellanox NIC, and its driver is to be {nic.driver}",
            key,
            has,
            f"driver: {VFIO if port.pci else AF_PACKET}",
        )
    elif not subject.facts.modules.get(nic.driver, False):
        yield subject.finding(
            f"{subject.name} has no driver {nic.driver}",
            key,
            f"kernel {subject.facts.kernel}: no such module, and none built in",
            f"install the modules of its kernel that have {nic.driver}, or name another driver",
        )


def _check_generator(subject: Subject) -> Iterator[Finding]:
    """Report devices through which nfvgen cannot send; nothing of a deployment depends on that."""
    if "generator" not in subject.spec.roles:
        return
    for place, nic, port in subject.ports():
        if nic.role == "dpdk" and nic.pci is None and port.takes_redirected is False:
            yield subject.remark(
                f"nfvgen cannot send through {nic.named} of {subject.name}",
                f"nics[{place}]",
                f"{port.named}: the kernel redirects no frames into it",
                "of a veth the other end has generic receive offload on: ethtool -K PEER gro on; another device has a"
                " driver that takes redirected frames, or its pci is given, for DPDK",
            )


def _check_functions(subject: Subject, place: int, nic: RackNicSpec, port: NicFacts) -> Iterator[Finding]:
    key = f"nics[{place}].functions"
    if nic.functions > port.total_functions:
        if port.total_functions:
            fix = f"functions: {port.total_functions} or less, or raise the number in the NIC's firmware"
        else:
            fix = "switch SR-IOV on in the machine's firmware and the NIC's (mlxconfig SRIOV_EN=1), or take another NIC"
        yield subject.finding(
            f"{nic.named} of {subject.name} cannot have {nic.functions} virtual functions",
            key,
            f"{port.named}; sriov_totalvfs: {port.total_functions or 'none, it has no SR-IOV'}",
            fix,
        )
    elif port.functions != nic.functions:
        yield subject.finding(
            f"{nic.named} of {subject.name} has not {nic.functions} virtual functions yet",
            key,
            f"sriov_numvfs: {port.functions} of {port.total_functions}",
            f"nfvbed's role makes them; by hand: echo {nic.functions} > /sys/bus/pci/devices/{port.pci}/sriov_numvfs"
            + ("" if not port.functions else ", after 0, if nothing uses those that it has: guests lose them"),
            subject.plane.nics.functions_made_by,
        )


def _check_iommu(subject: Subject) -> Iterator[Finding]:
    nics = [(place, nic) for place, nic in enumerate(subject.spec.nics) if _needs_iommu(subject, nic)]
    if nics and not subject.facts.iommu_groups:
        place, nic = nics[0]
        yield subject.finding(
            f"the IOMMU of {subject.name} is off, and {nic.named} is to be given away",
            f"nics[{place}]",
            "no groups in /sys/kernel/iommu_groups",
            fixes.IOMMU_ON,
            PREPARES_HOST,
        )


def _check_groups(subject: Subject) -> Iterator[Finding]:
    """Report NICs whose IOMMU group VFIO cannot give away whole, as the lab does for its own."""
    taken = [(place, nic, port) for place, nic, port in subject.ports() if _is_bound(subject, nic)]
    given = {port.pci: "switch" if subject.spec.is_compute else "generator" for _, _, port in taken if port.pci}
    for place, nic, port in taken:
        other = fit.sharing(port.pci, port.group, given) if port.pci else None
        if port.pci and other is not None:
            managing = [
                one.named
                for one in subject.facts.nics
                if one.pci == other.address and one.interface in subject.facts.address_nics
            ]
            cut_off = f"; {managing[0]} is the one by which {subject.name} is reached" if managing else ""
            yield subject.finding(
                f"{nic.named} of {subject.name} shares its IOMMU group with a device that others use",
                f"nics[{place}]",
                f"{fit.shared_words(port.pci, other, given)}: group {port.iommu_group}{cut_off}",
                fit.OWN_GROUP,
            )


def _is_bound(subject: Subject, nic: RackNicSpec) -> bool:
    return subject.polls(nic) and nic.driver == VFIO


def _needs_iommu(subject: Subject, nic: RackNicSpec) -> bool:
    return subject.gives(nic) or _is_bound(subject, nic)
