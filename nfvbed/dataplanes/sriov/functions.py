"""Brings up the functions of a deployment, step by step, and hands their devices to their users."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from nfvbed.dataplanes.sriov import settings, vfs
from nfvbed.dataplanes.sriov.plan import FunctionPlan
from nfvbed.dataplanes.sriov.settings import NetlinkVfLink, VfLink, VfState
from nfvbed.dataplanes.sriov.vfs import VirtualFunction
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.host.ledger.entries import DriverEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.network import rebind
from nfvbed.host.nics import binding, mellanox, netdevs
from nfvbed.host.nics.binding import VFIO
from nfvbed.host.nics.pf import SYSFS, PfPort, net_ports
from nfvbed.records import Record
from nfvbed.records.state import NESTED, PlaneState


class FunctionRecord(Record):
    """A function as it was set up; recorded with the deployment."""

    name: str
    vnf: int | None = None
    """Place of the VNF that has it; None: the generator."""
    port: int = 0
    """Its number there."""
    index: int
    address: str
    use: str
    driver: str
    mac: str
    netdev: str = ""
    """Empty: it has none, or it is not used."""
    netns: str = ""
    laid_down: VfState
    """Settings, as read back from the physical function."""


@dataclass(frozen=True)
class SriovNic:
    """The NIC that the steps work on."""

    chosen: PfPort
    ledger: Ledger
    link: VfLink
    sysfs: Path = SYSFS

    @property
    def is_fresh(self) -> bool:
        """Whether the NIC had no functions before."""
        return self.chosen.function.num_vfs == 0


def nic(chosen: PfPort, ledger: Ledger) -> SriovNic:
    """Return the NIC, with its settings over netlink."""
    return SriovNic(chosen, ledger, NetlinkVfLink(chosen.port.name))


def create(on: SriovNic, wanted: int, needed: int) -> tuple[VirtualFunction, ...]:
    """Make the functions, where they are not there yet; none has a driver when this returns.

    Raises:
        UnsupportedError: functions that are there already are in use.
    """
    found = vfs.create(on.chosen.function, wanted, on.ledger, on.sysfs)[:needed]
    for one in found:
        if one.driver is not None:
            _refuse_used(on, one)
            override = rebind.read_override(one.address, on.sysfs)
            on.ledger.record(DriverEntry(address=one.address, previous=one.driver, override=override))
            rebind.unbind(one.address, override, on.sysfs)
    return found


def _refuse_used(on: SriovNic, one: VirtualFunction) -> None:
    up = [p.name for p in net_ports(one.address, on.sysfs) if _is_up(on.sysfs / "class/net" / p.name)]
    if up:
        raise UnsupportedError(
            "a virtual function that was there already is in use",
            where=f"{on.chosen.port.name} vf {one.index}, {one.address}",
            observed=f"{', '.join(up)} is up",
            fix=f"ip link set {up[0]} down, if it is not needed; or choose another NIC",
        )


def _is_up(folder: Path) -> bool:
    return bool(int((folder / "flags").read_text(), 0) & 1)


def lay_down(on: SriovNic, plans: tuple[FunctionPlan, ...]) -> dict[int, VfState]:
    """Apply all settings; the ledger has the former ones of functions that were there before."""
    ledger = None if on.is_fresh else on.ledger
    if any(one.settings.min_rate_mbps or one.settings.max_rate_mbps for one in plans):
        netdevs.wait_for_speed(on.chosen.port.name)
    return {one.index: settings.apply(on.link, one.index, one.settings, ledger, on.chosen.port.name) for one in plans}


def give_drivers(on: SriovNic, plans: tuple[FunctionPlan, ...], found: tuple[VirtualFunction, ...]) -> dict[int, str]:
    """Bind every function to the driver that its use needs.

    Raises:
        DeployError: a driver does not take it.
    """
    vfs.allow_drivers(on.chosen.function, on.sysfs)
    stays = mellanox.keeps_kernel_driver(on.chosen.function)
    drivers = {}
    for one in plans:
        wanted = VFIO if one.use == "guest" or (one.use == "dpdk" and not stays) else None
        drivers[one.index] = binding.bind(found[one.index].address, wanted, on.ledger, on.sysfs)
    return drivers


def take_netdevs(
    on: SriovNic,
    plans: tuple[FunctionPlan, ...],
    found: tuple[VirtualFunction, ...],
    space_of: Callable[[str], str],
) -> dict[int, str]:
    """Move network devices into their users' namespaces: those of functions that the kernel drives.

    Args:
        found: PCI devices of the functions.
        space_of: makes a namespace, given its name, and returns its path.

    Returns:
        The path of each device's namespace, by the function's index.

    Raises:
        DeployError: a device has not taken the address that was laid down for it.
    """
    spaces: dict[int, str] = {}
    for one in plans:
        if one.use != "kernel":
            continue
        port = netdevs.appeared(found[one.index].address, on.chosen.port.dev_port, on.sysfs)
        if port.mac != one.mac:
            raise DeployError(
                "a virtual function has not taken its address: its driver does not reach the physical function",
                where=f"{port.name}, {found[one.index].address}",
                observed=f"{port.mac}, laid down was {one.mac}",
                fix="see dmesg; under QEMU's igb: a guest with memory below 4 GiB alone, as its functions' registers "
                "must lie there",
            )
        spaces[one.index] = space_of(one.space)
        netdevs.move(port, spaces[one.index], one.netdev, on.ledger)
    return spaces


def record(
    plan: FunctionPlan, address: str, driver: str, spaces: Mapping[int, str], laid_down: VfState
) -> FunctionRecord:
    """Return a function's record.

    Args:
        spaces: paths of the namespaces by index, of functions with a network device.
    """
    return FunctionRecord(
        name=plan.name,
        vnf=plan.end.vnf,
        port=plan.end.port,
        index=plan.index,
        address=address,
        use=plan.use,
        driver=driver,
        mac=plan.mac,
        netdev=plan.netdev if plan.index in spaces else "",
        netns=spaces.get(plan.index, ""),
        laid_down=laid_down,
    )


class FunctionState(PlaneState):
    """What is recorded of the functions of one NIC."""

    pf_interface: str
    pf_address: str
    functions: Annotated[tuple[FunctionRecord, ...], NESTED]

    @property
    def by_name(self) -> dict[str, FunctionRecord]:
        """The functions by their names, in the order of the path."""
        return {record.name: record for record in self.functions}
