"""How a host gets what it lacks, in words that hold on hosts of every kind; used for all messages about it.

A host may be another distribution's, a virtual machine or a container. It may have several NUMA nodes, default
hugepages of 1 GiB, secure boot, or other users. So a fix names the kernel's option beside the module, the program
beside one distribution's package, and says what it takes from others.
"""

from typing import Final

_OPTIONS: Final = {
    "br_netfilter": "CONFIG_BRIDGE_NETFILTER",
    "bridge": "CONFIG_BRIDGE",
    "macvlan": "CONFIG_MACVLAN",
    "macvtap": "CONFIG_MACVTAP",
    "openvswitch": "CONFIG_OPENVSWITCH",
    "tun": "CONFIG_TUN",
    "veth": "CONFIG_VETH",
    "vfio-pci": "CONFIG_VFIO_PCI",
    "vhost_net": "CONFIG_VHOST_NET",
}
"""The kernel's options that its modules are built by (its Kconfig files)."""

IOMMU_ON: Final = (
    "switch the IOMMU on: VT-d or AMD-Vi in the firmware's settings, and with a processor of Intel's boot with"
    " intel_iommu=on (iommu=pt beside it spares the kernel's own devices); a virtual machine is given one by its owner"
)


def load(*modules: str, option: str = "") -> str:
    """Return the advice by which a kernel gets modules.

    Args:
        modules: their names, in the order in which they are loaded.
        option: build option of the kernel, where the module's name does not tell it.
    """
    options = option or ", ".join(_OPTIONS[name] for name in modules)
    names = modules[0] if len(modules) == 1 else f"-a {' '.join(modules)}"
    return f"modprobe {names} (of a kernel with {options}; for a container on its host)"


def install(what: str, package: str) -> str:
    """Return the advice by which a host gets a program or a library.

    Args:
        package: package of Debian.
    """
    return f"install {what} (Debian's package {package})"


KERNEL_THREADS: Final = "give a container the process ids of its host (--pid host); or core_use: inline in the variant"
"""For receive work in threads of the kernel, where these cannot be seen."""

VFIO: Final = f"{IOMMU_ON}; then {load('vfio-pci')}"
"""Devices for guests and for DPDK."""
BRIDGE_NETFILTER: Final = (
    f"{load('br_netfilter')}: frames of all bridges of this host then pass its packet filter, also those of others'"
    " containers and guests, until net.bridge.bridge-nf-call-iptables is 0"
)
CGROUP_V2: Final = "mkdir -p /run/cgroup2 && mount -t cgroup2 none /run/cgroup2, for a container on its host"
"""Also where systemd has version 1 in a folder that cannot be written; controllers stay where they are."""
