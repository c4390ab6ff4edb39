"""Devices that a guest node can have beside its CPUs and memory; a site's file names them by kind.

To add a kind: a value in `DEVICES` (and its name in `GuestSpec.devices`, `nfvbed/spec/site.py`).
"""

from dataclasses import dataclass

from nfvbed.errors import ConfigurationError


@dataclass(frozen=True)
class NodeDevice:
    """A kind of device: its part of QEMU's command line, and the modules that the guest's kernel needs."""

    arguments: tuple[str, ...] = ()
    """QEMU's, in order."""
    machine: tuple[str, ...] = ()
    """Options of QEMU's machine (`-M q35,...`)."""
    parameters: tuple[str, ...] = ()
    """Parameters of the guest's kernel."""
    modules: tuple[str, ...] = ()
    """Loaded in the guest before anything runs there."""


CABLED_NICS = ("0000:01:00.0", "0000:02:00.0", "0000:03:00.0", "0000:04:00.0")
"""Where the firmware finds the four NICs of `cabled-nics`, if nothing else is below a root port; cables join them in
pairs."""


def _cabled_nics() -> tuple[str, ...]:
    """Return four NICs in two pairs; the two of a pair are joined by a hub of QEMU's."""
    words: list[str] = []
    for place, address in enumerate(CABLED_NICS):
        root, cable = f"cabled-root{place}", f"cable{place // 2}-end{place % 2}"
        words += ["-device", f"pcie-root-port,id={root},chassis={0x10 + place},slot={0x10 + place}"]
        words += ["-netdev", f"hubport,id={cable},hubid={place // 2}"]
        words += ["-device", f"igb,bus={root},netdev={cable},mac=52:54:00:4e:47:{address[5:7]}"]
    return tuple(words)


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
            # A NIC without anything at its other end holds its frames back, so QEMU's own network takes them.
            *("-netdev", "user,id=igb-net,restrict=on"),
            *("-device", "igb,bus=igb-root,netdev=igb-net,mac=52:54:00:4e:46:01"),
        ),
        modules=("igb", "igbvf"),
    ),
    "cabled-nics": NodeDevice(arguments=_cabled_nics(), modules=("igb",)),
}
"""By name; those of one node are given to QEMU in the order of the site's file."""


def devices(names: tuple[str, ...]) -> tuple[NodeDevice, ...]:
    """Return the devices of these names.

    Raises:
        ConfigurationError: there is no such kind.
    """
    unknown = [name for name in names if name not in DEVICES]
    if unknown:
        raise ConfigurationError(
            f"a guest node has no device {unknown[0]}", where="guest.devices", observed=f"it has {', '.join(DEVICES)}"
        )
    return tuple(DEVICES[name] for name in names)
