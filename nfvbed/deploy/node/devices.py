"""What a guest node can have beside its CPUs and memory; each kind is one value here, named in the site's file.

To add a kind: a value in `DEVICES` (and its name in `GuestSpec.devices`, `nfvbed/spec/site.py`).
"""

from dataclasses import dataclass

from nfvbed.errors import ConfigurationError


@dataclass(frozen=True)
class NodeDevice:
    """A kind of device, as QEMU and the guest's kernel are told of it."""

    arguments: tuple[str, ...] = ()
    """QEMU's, in order."""
    machine: tuple[str, ...] = ()
    """Options of QEMU's machine (`-M q35,...`)."""
    parameters: tuple[str, ...] = ()
    """Of the guest's kernel."""
    modules: tuple[str, ...] = ()
    """Loaded in the guest before anything runs there."""


DEVICES: dict[str, NodeDevice] = {
    "iommu": NodeDevice(
        arguments=("-device", "intel-iommu,intremap=on,device-iotlb=on,caching-mode=on"),
        machine=("kernel-irqchip=split",),
        parameters=("intel_iommu=on", "iommu=pt"),
        modules=("vfio-pci",),
    ),
    "igb": NodeDevice(
        arguments=(
            *("-device", "pcie-root-port,id=igb-root,chassis=1,slot=1"),
            # A card without anything at its other end holds its frames back, so QEMU's own network takes them.
            *("-netdev", "user,id=igb-net,restrict=on"),
            *("-device", "igb,bus=igb-root,netdev=igb-net,mac=52:54:00:4e:46:01"),
        ),
        modules=("igb", "igbvf"),
    ),
}
"""By name; those of one node are given to QEMU in the order of the site's file."""


def devices(names: tuple[str, ...]) -> tuple[NodeDevice, ...]:
    """Give the devices of these names.

    Raises:
        ConfigurationError: there is no such kind.
    """
    unknown = [name for name in names if name not in DEVICES]
    if unknown:
        raise ConfigurationError(
            f"a guest node has no device {unknown[0]}", where="guest.devices", observed=f"it has {', '.join(DEVICES)}"
        )
    return tuple(DEVICES[name] for name in names)
