"""Takes network ports from the kernel for a switch and its generator; the ledger gives them back, even after a kill."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from nfvbed.host.cores.topology import CpuTopology
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.host.nics import binding, fit, inventory, netdevs
from nfvbed.host.nics.binding import VFIO
from nfvbed.host.nics.fit import Machine
from nfvbed.host.nics.inventory import Nic
from nfvbed.host.nics.pf import SYSFS
from nfvbed.records import GeneratorPort, PortKind, QualityWarning
from nfvbed.spec.pci import CableSpec


def take(cables: tuple[CableSpec, ...], netns: str, ledger: Ledger, machine: Machine = fit.HERE) -> dict[str, Nic]:
    """Give every port to DPDK by vfio-pci. Ports that keep the kernel's driver go into their user's namespace, up.

    Args:
        netns: path of the switch's network namespace; the generator runs in the machine's own.

    Returns:
        The ports by their PCI addresses, as they were before.

    Raises:
        UnsupportedError: one of them may not be taken; nothing was changed then.
        DeployError: the kernel refuses.
    """
    nics = fit.require(cables, machine)
    switch = {cable.switch for cable in cables}
    for address, nic in nics.items():
        if not nic.keeps_kernel_driver:
            binding.bind(address, VFIO, ledger, machine.sysfs)
        elif address in switch:
            _lead_into(nic, netns, ledger)
        else:
            for port in nic.ports:
                netdevs.bring_up(port.name, ledger)
    return nics


def _lead_into(nic: Nic, netns: str, ledger: Ledger) -> None:
    """Move a port's network device into a namespace: DPDK in that namespace finds it nowhere else."""
    names = [port.name for port in nic.ports]
    for port in nic.ports:
        netdevs.move(port, netns, port.name, ledger)
    inside(netns, lambda: links.set_up(names))


def take_addresses(
    given: Mapping[str, str], key: str, ledger: Ledger, machine: Machine = fit.HERE
) -> tuple[GeneratorPort, ...]:
    """Give ports of a generator alone to DPDK, and return them; those that keep the kernel's driver are up.

    Args:
        given: the program that takes each port, by PCI address.
        key: the key of the site's file that names the ports, in the plural.

    Raises:
        UnsupportedError: one of them may not be taken; nothing was changed then.
        DeployError: the kernel refuses.
    """
    for address, nic in fit.require_addresses(given, key, machine).items():
        if not nic.keeps_kernel_driver:
            binding.bind(address, VFIO, ledger, machine.sysfs)
        else:
            for port in nic.ports:
                netdevs.bring_up(port.name, ledger)
    return tuple(_generator_port(address) for address in given)


def generator_ports(cables: tuple[CableSpec, ...]) -> tuple[GeneratorPort, ...]:
    """Return the generator's ports: the cables' other ends."""
    return tuple(_generator_port(cable.generator) for cable in cables)


def _generator_port(address: str) -> GeneratorPort:
    return GeneratorPort(engine="dpdk", spec=f"pci:{address}", kind=PortKind.PCI)


def near_node(cables: tuple[CableSpec, ...], sysfs: Path = SYSFS) -> int | None:
    """Return the NUMA node of the switch's ports; None where they are on several, or the machine does not say."""
    nodes = _nodes(inventory.read(cable.switch, sysfs) for cable in cables)
    return next(iter(nodes)) if len(nodes) == 1 else None


def memory_nodes(nics: Iterable[Nic], cores: Iterable[int], topology: CpuTopology) -> tuple[int, ...]:
    """Return the NUMA nodes of a switch's ports and cores, which need memory; none on a machine with one node."""
    if len([node for node in topology.nodes if node]) < 2:
        return ()
    return tuple(sorted(_nodes(nics) | {topology.node_of(core) for core in cores}))


def warnings(nics: Iterable[Nic], cores: Iterable[int], topology: CpuTopology) -> tuple[QualityWarning, ...]:
    """Return a warning where a switch's ports and cores are on different NUMA nodes; others check the generator's."""
    nodes = _nodes(nics)
    apart = bool(nodes) and any(nodes != {topology.node_of(core)} for core in cores)
    return (QualityWarning.WRONG_NUMA_NODE,) if apart else ()


def described(cables: tuple[CableSpec, ...], sysfs: Path = SYSFS) -> list[dict[str, str]]:
    """Return the cables with what is at their ends, for the description of a rig."""
    return [{side: _named(address, sysfs) for side, address in cable.model_dump().items()} for cable in cables]


def _named(address: str, sysfs: Path) -> str:
    nic = inventory.read(address, sysfs)
    return f"{address} {nic.vendor:04x}:{nic.device:04x}" if nic is not None else address


def _nodes(nics: Iterable[Nic | None]) -> set[int]:
    return {nic.numa_node for nic in nics if nic is not None and nic.numa_node is not None}
