"""Brings up the hosts of an overlay, as much as possible on all of them at the same time.

The rules come before the ports: without a port that is polled there is no poll-mode thread, so the cores of these
threads are still free. The hosts write their rules on a core each, where they later share one. The ports come last,
as a switch that finds no peer at a vhost-user socket looks again only a second later.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ovs.binaries import binaries_of
from nfvbed.dataplanes.ovs.database import SwitchDatabase
from nfvbed.dataplanes.ovs.instance import DpdkSettings, OvsInstance, settings
from nfvbed.dataplanes.ovs.overlay.host import OverlayHost, add_wire
from nfvbed.dataplanes.ovs.overlay.hostoptions import OverlayHostOptions
from nfvbed.dataplanes.ovs.overlay.hostplan import HostPlan, host_plans
from nfvbed.dataplanes.ovs.overlay.tenants import tenant_rules
from nfvbed.dataplanes.ovs.tablerules import flow_mod
from nfvbed.host.native import native_binary
from nfvbed.host.timing import Steps
from nfvbed.spec.variant import options_of

VNF_PORT_MIB = 64
"""Hugepage memory of each of a host's ports beyond the two that `socket_memory_mib` is for (ADR 0005)."""
_OPEN_PORTS = 2
_NICE, _SLICE_NS = -15, 100_000
"""Nice value and time slice of poll-mode threads that share a core, as of VNFs beside the generator."""
_SLEEP_US = 100

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


@dataclass(frozen=True)
class Overlay:
    """Hosts that are up, with their rules written."""

    hosts: tuple[OverlayHost, ...]
    counts: tuple[int, ...]
    """Rules that each host's br-int holds."""
    dpdk_version: str


@lru_cache(maxsize=1)
def _tenants(count: int) -> tuple[bytes, ...]:
    return tuple(flow_mod(rule) for rule in tenant_rules(count))


def bring_up(request: DeployRequest, sockets: Mapping[str, Path], kind: type[OverlayHost], steps: Steps) -> Overlay:
    """Start the hosts, write their rules, join their underlay, and open the path's ports.

    Args:
        sockets: those of the path's ports, by name.
        kind: what the hosts are, by who writes their rules.
        steps: records how long each step took.
    """
    hosts = _hosts(request, kind, steps)
    with ExitStack() as stack:
        databases = []
        for host in hosts:
            with steps.timed(f"deploy.{host.name}.database"):
                host.instance.start_database()
                databases.append(stack.enter_context(host.instance.connect()))
        with steps.timed("deploy.switches"):
            for host, database in zip(hosts, databases, strict=True):
                _start_switch(request, host, database)
            tenants = _beside(_switch_core(request, hosts[0]), lambda: _tenants(hosts[0].tenant_rules))
            states = [database.wait_for_switch() for database in databases]
        counts = _bring_rules_in(request, list(zip(hosts, databases, strict=True)), tenants, steps)
        if len(hosts) > 1:
            with steps.timed("deploy.underlay"):
                _join(hosts, databases)
        with steps.timed("deploy.ports"):
            for host, database in zip(hosts, databases, strict=True):
                host.add_ports(database, sockets)
    return Overlay(hosts, counts, states[0].dpdk_version)


def _hosts(request: DeployRequest, kind: type[OverlayHost], steps: Steps) -> tuple[OverlayHost, ...]:
    """Make the hosts' namespaces, and the wire between them."""
    options, workspace = options_of(request.variant, OverlayHostOptions), request.workspace
    plans = host_plans(request.layout, options.hosts)
    with steps.timed("deploy.namespaces"):
        netns = tuple(workspace.network_namespace(plan.name) for plan in plans)
        if options.hosts > 1 and options.underlay == "veth":
            add_wire((netns[0], netns[1]))
    hosts = []
    for plan, space in zip(plans, netns, strict=True):
        environment = _sharing(request, plan) if options.shares_core and options.underlay == "memif" else {}
        instance = OvsInstance(
            workspace, binaries_of(options), request.arrangement.control_cores, plan.name, environment
        )
        hosts.append(kind(plan, instance, space, options, workspace.directory / "wire.sock"))
    return tuple(hosts)


def _start_switch(request: DeployRequest, host: OverlayHost, database: SwitchDatabase) -> None:
    options, arrangement = host.options, request.arrangement
    memory_mib = options.socket_memory_mib + VNF_PORT_MIB * max(0, len(host.plan.ports) - _OPEN_PORTS)
    asked_mib = max(request.variant.hugepages_mib // options.hosts, memory_mib)
    hugepages = request.workspace.hugepages(asked_mib, least_mib=memory_mib)
    cores = (_switch_core(request, host),)
    dpdk = DpdkSettings(memory_mib, hugepages, cores, main_core=arrangement.control_cores[0])
    other_config = settings(dpdk, f"nfvbed-{request.workspace.id}-{host.name}")
    database.initialise(other_config | _sleeping(options))
    host.instance.start_switch(host.netns)


def _bring_rules_in(
    request: DeployRequest,
    hosts: Sequence[tuple[OverlayHost, SwitchDatabase]],
    tenants: tuple[bytes, ...],
    steps: Steps,
) -> tuple[int, ...]:
    """Make br-int on all hosts and write its rules, at once; return how many rules each holds.

    The main threads of all hosts but the first do it on the core of their poll-mode thread, which is not there yet.
    """

    def work(each: tuple[OverlayHost, SwitchDatabase]) -> int:
        host, database = each
        with steps.timed(f"deploy.{host.name}.bridge"):
            host.add_integration(database)
        pid = request.workspace.process(host.instance.switch_name).pid
        lent = _switch_core(request, host) if host.plan.index else request.arrangement.control_cores[0]
        with steps.timed(f"deploy.{host.name}.rules"), _main_thread_on(lent, pid, request.arrangement.control_cores):
            return host.add_rules(tenants)

    return tuple(_at_once(work, hosts))


def _join(hosts: Sequence[OverlayHost], databases: Sequence[SwitchDatabase]) -> None:
    for host, database in zip(hosts, databases, strict=True):
        host.add_physical(database)
    for host in hosts:
        host.join_underlay()
    for host in hosts:
        host.find_other()


def _at_once(work: Callable[[_Given], _Made], given: Sequence[_Given]) -> list[_Made]:
    with ThreadPoolExecutor(max_workers=len(given), thread_name_prefix="nfvbed-overlay") as executor:
        return list(executor.map(work, given))


def _beside(core: int, work: Callable[[], _Made]) -> _Made:
    """Run something on another core than nfvbed's own."""

    def moved() -> _Made:
        os.sched_setaffinity(0, (core,))
        return work()

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="nfvbed-overlay") as executor:
        return executor.submit(moved).result()


@contextmanager
def _main_thread_on(core: int, pid: int, home: Sequence[int]) -> Iterator[None]:
    """Lend a core to the main thread of a process; its other threads stay where they are.

    That a process has ended is reported by what is asked of it meanwhile.
    """
    with suppress(ProcessLookupError):
        os.sched_setaffinity(pid, (core,))
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.sched_setaffinity(pid, home)


def _switch_core(request: DeployRequest, host: OverlayHost) -> int:
    cores = request.arrangement.switch_cores
    return cores[host.plan.index % len(cores)]


def _sharing(request: DeployRequest, plan: HostPlan) -> dict[str, str]:
    """Return the variables that make poll-mode threads yield their core when the underlay has no frames for them."""
    return {
        "LD_PRELOAD": str(native_binary("nfvbed-yield")),
        "NFVBED_YIELD_REPORT": str(request.workspace.directory / f"{plan.name}.yield"),
        "NFVBED_YIELD_NICE": str(_NICE),
        "NFVBED_YIELD_SLICE_NS": str(_SLICE_NS),
    }


def _sleeping(options: OverlayHostOptions) -> dict[str, str]:
    """Return the setting that lets poll-mode threads sleep."""
    return {"pmd-maxsleep": str(_SLEEP_US)} if options.sleeps else {}
