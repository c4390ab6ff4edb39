"""Whether the network ports that a site's cables name may be taken; refusals give the reason before any change."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import UnsupportedError
from nfvbed.host import fixes
from nfvbed.host.nics import inventory, uses
from nfvbed.host.nics.binding import VFIO
from nfvbed.host.nics.inventory import GroupMember, Nic
from nfvbed.host.nics.pf import SYSFS
from nfvbed.host.nics.vfio import vfio_reason
from nfvbed.spec.pci import CableSpec

_HOW = (
    'in the site\'s file (deploy/sites): cables: [{switch: "0000:3b:00.0", generator: "0000:5e:00.0"}, {switch: ..., '
    "generator: ...}], each with the addresses of two ports that are cabled to each other (lspci -D)"
)
_USER_SPACE = frozenset({VFIO, "uio_pci_generic", "igb_uio"})
"""Drivers that have no network device: the port was given to DPDK already."""


OWN_GROUP = (
    "NICs in other slots (those below a root port with ACS have groups of their own), or give the neighbour to vfio-pci"
    " too if it is not needed: what it carries ends"
)
"""What can be done where a port shares its IOMMU group."""


@dataclass(frozen=True)
class Machine:
    """The places that are read; tests give other ones."""

    sysfs: Path = SYSFS
    uses_of: Callable[[str], tuple[str, ...]] = uses.uses_of
    vfio_reason: Callable[[], str] = vfio_reason
    is_group_busy: Callable[[int], bool] = uses.is_group_busy


HERE = Machine()


def require(cables: tuple[CableSpec, ...], machine: Machine = HERE) -> dict[str, Nic]:
    """Check that all ports can be taken; nothing is changed.

    Returns:
        The ports by their PCI addresses.

    Raises:
        UnsupportedError: one cannot, with what was found and what fixes it.
    """
    if not cables:
        raise UnsupportedError(
            "the site names no cables between network ports",
            where="cables",
            observed="its switch and its generator have no ports on a NIC",
            fix=_HOW,
        )
    sides = (("switch", [cable.switch for cable in cables]), ("generator", [cable.generator for cable in cables]))
    return require_addresses({address: side for side, addresses in sides for address in addresses}, "cables", machine)


def require_addresses(given: Mapping[str, str], key: str, machine: Machine = HERE) -> dict[str, Nic]:
    """Check that ports can be taken; nothing is changed.

    Args:
        given: the program that takes each port, by PCI address.
        key: the key of the site's file that names the ports, in the plural.

    Returns:
        The ports by their PCI addresses.

    Raises:
        UnsupportedError: one cannot, with what was found and what fixes it.
    """
    nics = {address: _found(address, key, machine) for address in given}
    for nic in nics.values():
        _refuse_used(nic, key, machine)
    _require_vfio([nic for nic in nics.values() if not nic.keeps_kernel_driver], given, key, machine)
    return nics


def _found(address: str, key: str, machine: Machine) -> Nic:
    nic = inventory.read(address, machine.sysfs)
    where = f"{key}, {address}"
    if nic is None:
        there = ", ".join(inventory.network_addresses(machine.sysfs)) or "no network port at all"
        raise UnsupportedError(
            f"a port of the site's {key} is not on this machine",
            where=where,
            observed=f"{address}; on its PCI bus there is {there}",
            fix="correct the address (lspci -D)"
            + (", or take out the key cables on this machine" if key == "cables" else ""),
        )
    if not nic.is_network:
        raise UnsupportedError(
            f"a port of the site's {key} is no NIC", where=where, observed=address, fix="see lspci -D"
        )
    if len(nic.ports) > 1:
        names = ", ".join(port.name for port in nic.ports)
        raise UnsupportedError(
            "a NIC with several ports at one PCI address (ConnectX-3) cannot be distinguished by it",
            where=where,
            observed=f"{address}: {names}",
            fix="cables between NICs whose ports have an address each; or a variant that takes virtual functions",
        )
    return nic


def _refuse_used(nic: Nic, key: str, machine: Machine) -> None:
    """Refuse the port through which a user is logged in, and any that carries other traffic of the host."""
    where = f"{key}, {nic.address}"
    for port in nic.ports:
        found = machine.uses_of(port.name)
        if found:
            raise UnsupportedError(
                f"a port of the site's {key} is in use by this host",
                where=where,
                observed=f"{nic.address} is {port.name}: {'; '.join(found)}",
                fix=f"name another port; or take its addresses, routes and bridges away from {port.name}, if"
                " they are not needed and you do not reach this host by them",
            )
    if not nic.ports and nic.driver is not None and nic.driver not in _USER_SPACE:
        raise UnsupportedError(
            f"a port of the site's {key} has a driver, and no network device here",
            where=where,
            observed=f"{nic.address}, driver {nic.driver}: its device may be in use in another network namespace",
            fix=f"bring it back, or unbind it if it is not needed: echo {nic.address} > "
            f"/sys/bus/pci/devices/{nic.address}/driver/unbind",
        )


def _require_vfio(nics: list[Nic], given: Mapping[str, str], key: str, machine: Machine) -> None:
    reason = machine.vfio_reason() if nics else ""
    if nics and not reason and not (machine.sysfs / "bus/pci/drivers" / VFIO).is_dir():
        reason = f"the driver {VFIO} is not loaded"
    if reason:
        raise UnsupportedError(
            "ports of NICs cannot be given to DPDK",
            where=VFIO,
            observed=reason,
            fix=fixes.VFIO,
        )
    for nic in nics:
        _refuse_shared_group(nic, given, key, machine)


def sharing(address: str, group: Iterable[GroupMember], given: Mapping[str, str]) -> GroupMember | None:
    """Return the device of a port's IOMMU group that keeps VFIO from giving the port away; None: there is none.

    VFIO gives a whole IOMMU group to one program; devices without a driver, and bridges, do not count (the kernel's
    Documentation/driver-api/vfio.rst).

    Args:
        group: all devices of its group.
        given: the program that takes each port that is to be given away, by PCI address.
    """
    for other in group:
        if other.address == address or not other.can_be_driven:
            continue
        if other.address in given:
            if given[other.address] != given[address]:
                return other
        elif other.driver not in (None, VFIO, "pci-stub"):
            return other
    return None


def shared_words(address: str, other: GroupMember, given: Mapping[str, str]) -> str:
    """Return words for a port and the device that shares its group, with who has or gets each."""
    if other.address in given:
        return f"{address} ({given[address]}) and {other.address} ({given[other.address]})"
    return f"{address} and {other.address}, driver {other.driver}"


def _refuse_shared_group(nic: Nic, given: Mapping[str, str], key: str, machine: Machine) -> None:
    """Refuse two programs in one IOMMU group: VFIO gives a group, whole, to one program."""
    where = f"{key}, {nic.address}"
    other = sharing(nic.address, inventory.group_members(nic.iommu_group, machine.sysfs), given)
    if other is not None:
        raise UnsupportedError(
            "a port shares its IOMMU group with a device that another program has",
            where=where,
            observed=f"{shared_words(nic.address, other, given)}: group {nic.iommu_group}",
            fix=OWN_GROUP,
        )
    if nic.driver == VFIO and nic.iommu_group is not None and machine.is_group_busy(nic.iommu_group):
        raise UnsupportedError(
            f"a port of the site's {key} is in use by another program over vfio",
            where=where,
            observed=f"/dev/vfio/{nic.iommu_group} cannot be opened",
            fix=f"see who has it (fuser -v /dev/vfio/{nic.iommu_group}): what nfvbed left deployed ends with"
            " nfvbed destroy; end another DPDK or a virtual machine only if it is yours",
        )
