"""Starts the Open vSwitch of a node: database, settings, daemon, and a bridge for each physical network."""

from collections.abc import Mapping

from nfvbed.cloud.devcloud.nodes.channel import Channel, Command
from nfvbed.cloud.devcloud.processes import NodeProcesses
from nfvbed.cloud.devcloud.services import openvswitch
from nfvbed.cloud.devcloud.waiting import wait_until


def start_switch(
    channel: Channel,
    processes: NodeProcesses,
    settings: Mapping[str, str],
    setup: openvswitch.SwitchSetup = openvswitch.PLAIN,
) -> None:
    """Start the switch, or what has ended of it.

    Args:
        settings: its `other_config`.
        setup: what it has before Neutron's agent comes to it.

    Raises:
        DeployError: it did not come up.
    """
    server, switch = openvswitch.SERVICE.processes
    if channel.run(Command(("/usr/bin/test", "-e", openvswitch.DATABASE))).status != 0:
        channel.check(openvswitch.create_database())
    processes.start((server,))
    processes.await_success("ovsdb-server answers", openvswitch.configure(settings), 20.0)
    if setup.external_ids:
        channel.check(openvswitch.identify(setup))
    processes.start((switch,))
    if openvswitch.with_dpdk(settings):

        def missing() -> str:
            processes.check_alive(switch.name)
            printed = channel.run(openvswitch.dpdk_state()).stdout.strip()
            return "" if printed == "true" else f"dpdk_initialized is {printed!r}"

        wait_until("Open vSwitch has started DPDK", missing, 30.0)
    channel.check(openvswitch.add_bridges(setup))
