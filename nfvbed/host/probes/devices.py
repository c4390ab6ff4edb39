"""Probes of devices: IOMMU, network ports, KVM, vhost-net."""

import fcntl
import os

from nfvbed.host import fixes
from nfvbed.host.nics.pf import NO_NIC_FIX
from nfvbed.host.probes.findings import IommuFinding, Nic, NicFinding
from nfvbed.host.probes.host import RECORDED, Host
from nfvbed.records.findings import Finding, State

_VENDORS = {"0x8086": "Intel", "0x15b3": "Mellanox", "0x1af4": "virtio", "0x14e4": "Broadcom", "0x1d0f": "Amazon"}
_NETWORK_CLASS = 0x02
_KVM_GET_API_VERSION = 0xAE00
_KVM_CREATE_VM = 0xAE01


def probe_iommu(host: Host) -> IommuFinding:
    """Count the IOMMU's groups."""
    groups = len(host.names("sys/kernel/iommu_groups"))
    return IommuFinding(
        topic="IOMMU",
        state=State.PRESENT if groups else State.ABSENT,
        summary=f"{groups} groups" if groups else "no groups: no device can be given to a guest or to DPDK over vfio",
        probed="read sysfs",
        fix="" if groups else fixes.IOMMU_ON,
        groups=groups,
    )


def probe_nics(host: Host) -> NicFinding:
    """Read network ports, their drivers and how many virtual functions they can have."""
    bus = "sys/bus/pci/devices"
    nics = []
    for address in host.names(bus):
        device_class = host.number(f"{bus}/{address}/class")
        interfaces = host.names(f"{bus}/{address}/net") or _virtio_interfaces(host, f"{bus}/{address}")
        if device_class is None or device_class >> 16 != _NETWORK_CLASS:
            continue
        vendor = host.text(f"{bus}/{address}/vendor") or ""
        node = host.number(f"{bus}/{address}/numa_node")
        nics.append(
            Nic(
                address=address,
                vendor=_VENDORS.get(vendor, vendor),
                device=host.text(f"{bus}/{address}/device") or "",
                driver=host.link_name(f"{bus}/{address}/driver"),
                interfaces=interfaces,
                numa_node=node if node is not None and node >= 0 else None,
                virtual_functions=host.number(f"{bus}/{address}/sriov_totalvfs") or 0,
            )
        )
    parts = [f"{n.address} {n.vendor} {n.driver or 'no driver'} {','.join(n.interfaces) or '-'}" for n in nics]
    return NicFinding(
        topic="network ports",
        state=State.PRESENT if nics else State.ABSENT,
        summary="; ".join(parts) or "none on the PCI bus",
        probed="read sysfs",
        nics=tuple(nics),
    )


def probe_sriov(host: Host) -> Finding:
    """Return which NICs support virtual functions, and how many each has now. None are made to find out."""
    able = [nic for nic in probe_nics(host).nics if nic.virtual_functions]
    bus = "sys/bus/pci/devices"
    parts = [
        f"{nic.address} ({nic.driver or 'no driver'}): {host.number(f'{bus}/{nic.address}/sriov_numvfs') or 0} of "
        f"{nic.virtual_functions} functions"
        for nic in able
    ]
    return Finding(
        topic="SR-IOV",
        state=State.PRESENT if able else State.ABSENT,
        summary="; ".join(parts) or "no NIC has virtual functions to give",
        probed="read sysfs",
        fix="" if able else NO_NIC_FIX,
    )


def _virtio_interfaces(host: Host, device: str) -> tuple[str, ...]:
    """Return the interfaces of a virtio port, which are one level below its PCI device."""
    inner = [name for name in host.names(device) if name.startswith("virtio")]
    return tuple(interface for name in inner for interface in host.names(f"{device}/{name}/net"))


def probe_kvm(host: Host) -> Finding:
    """Open the device and create a virtual machine. This does not show that a guest boots."""
    fix = (
        "load kvm_intel or kvm_amd, with VT-x or SVM on in the firmware's settings; a virtual machine's owner switches"
        " nested virtualisation on, a container is given /dev/kvm; an ordinary user has to be in the device's group"
    )
    if not host.exists("dev/kvm"):
        return Finding(topic="KVM", state=State.ABSENT, summary="no /dev/kvm", probed="looked for the device", fix=fix)
    if not host.live:
        return Finding(topic="KVM", state=State.UNKNOWN, summary="/dev/kvm is there", probed=RECORDED)
    probed = "opened /dev/kvm and created a machine; booting a guest was not tried"
    try:
        device = os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC)
        try:
            version = fcntl.ioctl(device, _KVM_GET_API_VERSION, 0)
            os.close(fcntl.ioctl(device, _KVM_CREATE_VM, 0))
        finally:
            os.close(device)
    except OSError as error:
        summary = f"/dev/kvm is there, and refuses: {error.strerror}"
        return Finding(topic="KVM", state=State.ABSENT, summary=summary, probed=probed, fix=fix)
    # Some virtual machines have a paravirtual kind that opens and boots no stock kernel.
    summary = f"opens (API {version}); whether it boots is open"
    return Finding(topic="KVM", state=State.LIMITED, summary=summary, probed=probed)


def probe_vhost_net(host: Host) -> Finding:
    """Open the device of the kernel's virtio back end."""
    topic, fix = "vhost-net", f"{fixes.load('vhost_net')}; in a container also its device /dev/vhost-net"
    if not host.exists("dev/vhost-net"):
        summary = "no /dev/vhost-net"
        return Finding(topic=topic, state=State.ABSENT, summary=summary, probed="looked for it", fix=fix)
    if not host.live:
        return Finding(topic=topic, state=State.UNKNOWN, summary="the device is there", probed=RECORDED)
    try:
        os.close(os.open("/dev/vhost-net", os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        summary = f"cannot be opened: {error.strerror}"
        return Finding(topic=topic, state=State.ABSENT, summary=summary, probed="opened it", fix=fix)
    return Finding(topic=topic, state=State.PRESENT, summary="opens", probed="opened it")
