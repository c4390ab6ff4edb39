"""What is different with Mellanox (NVIDIA) NICs: DPDK drives them beside the kernel's driver ("bifurcated").

Source: DPDK's guides of mlx4 and mlx5.
"""

from nfvbed.host.nics.pf import PfPort, PhysicalFunction

VENDOR = 0x15B3


def keeps_kernel_driver(function: PhysicalFunction) -> bool:
    """Return whether DPDK drives its functions beside the kernel's driver, so that vfio-pci never gets them."""
    return function.vendor == VENDOR


def dpdk_device(address: str, chosen: PfPort, mac: str) -> str:
    """Return DPDK's name for a function: its PCI address, with the MAC where several ports share one address."""
    return f"{address},class=eth,mac={mac}" if len(chosen.function.ports) > 1 else address
