"""Whether a PCI device can be given to a guest or to DPDK, over VFIO."""

import fcntl
import os
from pathlib import Path

_VFIO = "/dev/vfio/vfio"
_VFIO_GET_API_VERSION, _VFIO_CHECK_EXTENSION, _VFIO_TYPE1_IOMMU = 0x3B64, 0x3B65, 1


def vfio_reason() -> str:
    """Return why no PCI device can be given to a guest; empty when VFIO answers and the machine has an IOMMU."""
    groups = Path("/sys/kernel/iommu_groups")
    if not groups.is_dir() or not any(groups.iterdir()):
        return "no IOMMU group: no IOMMU, or it is switched off"
    try:
        handle = os.open(_VFIO, os.O_RDWR | os.O_CLOEXEC)
    except OSError as failure:
        return f"{_VFIO}: {failure.strerror}"
    try:
        fcntl.ioctl(handle, _VFIO_GET_API_VERSION)
        works = fcntl.ioctl(handle, _VFIO_CHECK_EXTENSION, _VFIO_TYPE1_IOMMU)
    except OSError as failure:
        return f"{_VFIO} opens, and refuses: {failure.strerror}"
    finally:
        os.close(handle)
    return "" if works else f"{_VFIO} knows no IOMMU of this machine"
