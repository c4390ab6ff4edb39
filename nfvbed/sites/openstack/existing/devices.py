"""Devices of this machine that lead to an existing cloud: whether the generator may have them, and their counters.

They stay as they are: nfvbed brings none of them up, and sets nothing of them. A NIC that goes to DPDK is given back.
"""

from collections.abc import Callable
from typing import TypeVar

from nfvbed.errors import PrerequisiteError, SwitchDiedError, UnsupportedError
from nfvbed.host.network import links, veth
from nfvbed.host.network.links import LinkCounters
from nfvbed.host.network.namespaces import inside, inside_with_sysfs
from nfvbed.host.nics import fit, take, uses
from nfvbed.host.nics.fit import Machine
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import GeneratorPort, Hop, PortKind
from nfvbed.spec.existing import CloudPortSpec

_KEY = "ports"
"""Key of the site's file."""
_Result = TypeVar("_Result")


def require(ports: tuple[CloudPortSpec, CloudPortSpec], machine: Machine = fit.HERE) -> None:
    """Make sure that both devices are free for the generator; nothing is changed.

    Raises:
        PrerequisiteError: one is not there, or has no link.
        UnsupportedError: one is in use by this host.
    """
    if ports[0].kind is PortKind.PCI:
        fit.require_addresses(_given(ports), _KEY, machine)
        return
    for place, port in enumerate(ports):
        _require_device(port, f"{_KEY}[{place}]")


def attach(
    ports: tuple[CloudPortSpec, CloudPortSpec], workspace: Workspace, machine: Machine = fit.HERE
) -> tuple[GeneratorPort, GeneratorPort]:
    """Return the generator's ports; NICs are given to DPDK until the workspace is closed.

    Raises:
        PrerequisiteError, UnsupportedError: as `require`.
        DeployError: the kernel does not give a NIC away.
    """
    if ports[0].kind is PortKind.PCI:
        first, second = take.take_addresses(_given(ports), _KEY, workspace.ledger, machine)
        return first, second
    require(ports, machine)
    first, second = (
        GeneratorPort(engine="xdp", spec=str(port.device), kind=port.kind, netns=port.netns_path) for port in ports
    )
    return first, second


def verify(ports: tuple[CloudPortSpec, CloudPortSpec]) -> None:
    """Check that the kernel's devices are there and have a link.

    Raises:
        SwitchDiedError: one has not: frames reach no VNF.
    """
    for port in ports:
        counted = None if port.device is None else _read(port)
        if port.device is not None and (counted is None or not counted.up):
            raise SwitchDiedError(
                "a device of the generator has lost the cloud",
                where=port.named,
                observed="it is gone" if counted is None else "it is down, or has no carrier",
                fix="see its cable and whatever is at the other end of it",
            )


def hops(ports: tuple[CloudPortSpec, CloudPortSpec]) -> tuple[Hop, ...]:
    """Return the kernel's counters of its devices; DPDK's devices are counted by the generator alone."""
    found = ((place, port, _read(port)) for place, port in enumerate(ports) if port.device is not None)
    return tuple(
        veth.generator_hop(str(port.device), place, counted) for place, port, counted in found if counted is not None
    )


def _given(ports: tuple[CloudPortSpec, CloudPortSpec]) -> dict[str, str]:
    """Return the addresses of NICs with their user: one generator has both."""
    return {str(port.pci): "generator" for port in ports}


def _require_device(port: CloudPortSpec, where: str) -> None:
    try:
        counted = _read(port)
    except OSError as failure:
        raise PrerequisiteError(
            "a network namespace of the generator's ports cannot be entered",
            where=where,
            observed=f"{port.netns}: {failure.strerror or failure}",
            fix="name one of `ip netns`, or the path of one; nfvbed is run as root",
        ) from failure
    if counted is None:
        names = sorted(_within(port, links.all_counters))
        raise PrerequisiteError(
            "a device of the generator is not on this machine",
            where=where,
            observed=f"{port.named}; there are {', '.join(names) or 'none'}",
            fix="name one that reaches the network of the same place in networks",
        )
    found = _uses(port)
    if found:
        raise UnsupportedError(
            "a device of the generator is in use by this host",
            where=where,
            observed=f"{port.named}: {'; '.join(found)}",
            fix="name another one: the generator takes all of its frames, and this host would be cut off; or take its"
            " addresses, routes and bridges away",
        )
    if not counted.up:
        raise PrerequisiteError(
            "a device of the generator has no link",
            where=where,
            observed=f"{port.named} is down, or has no carrier",
            fix=f"ip link set {port.device} up; then see its cable",
        )


def _read(port: CloudPortSpec) -> LinkCounters | None:
    """Return the counters of a device; None: it is not there."""
    return _within(port, lambda: links.counters(str(port.device)))


def _uses(port: CloudPortSpec) -> tuple[str, ...]:
    """Return what this host uses a device for; a namespace's /sys shows only the devices of who mounted it."""
    name = str(port.device)
    if port.netns_path is None:
        return uses.uses_of(name)
    return inside_with_sysfs(port.netns_path, lambda: uses.uses_of(name))


def _within(port: CloudPortSpec, work: Callable[[], _Result]) -> _Result:
    return work() if port.netns_path is None else inside(port.netns_path, work)
