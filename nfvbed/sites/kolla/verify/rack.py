"""The expected state of each machine of a rack, and what is found there."""

import tempfile
from contextlib import ExitStack
from pathlib import Path

from openstack.connection import Connection

from nfvbed.cloud.verify.checks import ExpectedMachine
from nfvbed.errors import ConfigurationError
from nfvbed.host.remote.connection import SshHost
from nfvbed.records.findings import Finding
from nfvbed.sites.kolla import boxglobals
from nfvbed.sites.kolla.model import Order
from nfvbed.sites.kolla.verify.containers import KollaCommands
from nfvbed.sites.kolla.verify.origin import read_origin
from nfvbed.sites.verify.cloud import verify


def verify_rack(order: Order, connection: Connection) -> tuple[Finding, ...]:
    """Read the cloud and all of its machines, and check them; nothing is changed.

    Raises:
        ConfigurationError: the site's file does not say how its machines are reached.
    """
    expected = tuple(expected_of(order, name) for name in order.hosts)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nfvbed-")))
        commands = {name: _commands(order, name, folder, stack) for name in order.hosts}
        found = verify(connection, expected, commands)
        return (*found, *(read_origin(one) for one in commands.values()))


def expected_of(order: Order, name: str) -> ExpectedMachine:
    """Return what is expected of a machine: of a compute what its variant says."""
    host, plane = order.site.hosts[name], order.plane_on(name)
    placement = order.placements.get(name)
    agents, services = list[str](), list[str]()
    if host.is_compute:
        agents += plane.neutron.of_compute
        services.append("nova-compute")
    if host.is_controller:
        agents += [order.agent.name, *order.agent.of_controller]
        services += ["nova-scheduler", "nova-conductor"]
    has_datapath = order.agent.is_open_vswitch and order.agent.name in agents and order.uplinks(name)
    return ExpectedMachine(
        host=name,
        agents=tuple(dict.fromkeys(agents)),
        services=tuple(services),
        datapath_type=boxglobals.datapath(order.site, plane.switch.datapath) if has_datapath else None,
        polling=placement.polling if plane.switch.datapath == "netdev" and placement else (),
        functions={str(nic.pci): nic.functions for nic in host.function_nics} if plane.has_functions else {},
        reserved_pages={one.node: {one.page_kib: one.count} for one in placement.pages} if placement else {},
        takes_hugepages=plane.switch.is_on_dpdk,
    )


def _commands(order: Order, name: str, folder: Path, stack: ExitStack) -> KollaCommands:
    way = order.site.reached(name)
    if way is None:
        raise ConfigurationError(
            f"the site's file does not say how {name} is reached",
            where=f"deploy/sites/{order.site.name}.yml ssh",
            observed="no key ssh",
            fix="ssh: {user: root, key: FILE, known_hosts: FILE}, as in deploy/sites/rack.yml",
        )
    reached = SshHost(way, folder)
    stack.callback(reached.disconnect)
    return KollaCommands(name, reached, order.plane_on(name).switch.container)
