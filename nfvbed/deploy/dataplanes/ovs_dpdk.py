"""Open vSwitch's userspace datapath on DPDK, with vhost-user ports."""

from collections.abc import Mapping
from pathlib import Path

from nfvbed.deploy.dataplane import DeployRequest
from nfvbed.deploy.dataplanes import vhost_user_ports
from nfvbed.deploy.dataplanes.ovs_probe import try_open_vswitch
from nfvbed.deploy.dataplanes.ovs_switch import BRIDGE, VNF_PORT_MIB, OvsSwitch, StartedSwitch
from nfvbed.deploy.lab.generator import IDLE_PORT
from nfvbed.deploy.lab.timing import Steps
from nfvbed.deploy.ovs import reading, tuning
from nfvbed.deploy.ovs.binaries import locate
from nfvbed.deploy.ovs.database import PortRequest, SwitchState
from nfvbed.deploy.ovs.instance import SWITCH, DpdkSettings, OvsInstance, settings
from nfvbed.deploy.wiring import end_name, port_numbers, queues_of, vnf_ports
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.records import Readiness, Support
from nfvbed.spec.dataplanes.ovs import OvsOptions
from nfvbed.spec.dataplanes.ovs_dpdk import OvsDpdkOptions
from nfvbed.spec.variant import Variant

_OPEN_PORTS = 2


def ovs_options(variant: Variant) -> OvsDpdkOptions:
    """Give the variant's options.

    Raises:
        ConfigurationError: they are those of another data plane.
        UnsupportedError: they ask for more queues than a generator's port has.
    """
    options = variant.options
    if not isinstance(options, OvsDpdkOptions):
        raise ConfigurationError(f"variant {variant.name} is no ovs-dpdk", observed=options.dataplane)
    if options.n_rxq != 1:
        raise UnsupportedError(
            "vhost-user ports have as many queues as their other side, and the generator has one",
            where=f"variant {variant.name}, n_rxq",
            observed=str(options.n_rxq),
            fix="n_rxq: 1",
        )
    return options


class OvsDpdk(OvsSwitch):
    """`br0` in an instance of its own, all its ports vhost-user; PMD threads on the switch's cores."""

    kind = "ovs-dpdk"

    def probe(self, variant: Variant) -> Support:
        """Look for the programs, run them, and look for memory; nothing is started that polls."""
        try:
            options = ovs_options(variant)
        except UnsupportedError as failure:
            reason = f"{failure.what} ({failure.observed})"
            return Support(variant=variant.name, readiness=Readiness.UNSUPPORTED, reason=reason, fix=failure.fix)
        return try_open_vswitch(variant, options.socket_memory_mib)

    def options(self, request: DeployRequest) -> OvsOptions:
        """Give the variant's options; refuse what the ports cannot have."""
        options = ovs_options(request.variant)
        vhost_user_ports.check_queue_size(options.rx_queue_size)
        tuning.check_version(options, locate().vswitchd)
        tuning.check_ports(options, list(port_numbers(request.layout)))
        return options

    def start(self, request: DeployRequest, steps: Steps) -> StartedSwitch:
        """Start database and switch, make the bridge and all ports of the layout."""
        options, plan, workspace = ovs_options(request.variant), request.layout, request.workspace
        sockets = vhost_user_ports.sockets(workspace.directory, port_numbers(plan))
        instance = OvsInstance(workspace, locate(), request.arrangement.control_cores)
        state, netns = _start(request, instance, sockets, steps)
        return StartedSwitch(
            instance=instance,
            netns=netns,
            ports=vhost_user_ports.server_ports([sockets[f"p{end}"] for end in plan.outside], options.rx_queue_size),
            vnf_ports=vnf_ports(
                plan,
                lambda end: vhost_user_ports.vnf_port(
                    end, sockets[end_name(end)], options.rx_queue_size, queues_of(request.vnf)
                ),
            ),
            threads=reading.pmd_threads(workspace.process(SWITCH).pid),
            daemon_cores=request.arrangement.control_cores,
            versions={"dpdk": state.dpdk_version},
            control={IDLE_PORT: vhost_user_ports.IDLE} if len(plan.outside) == 1 else {},
        )


def _start(
    request: DeployRequest, instance: OvsInstance, sockets: Mapping[str, Path], steps: Steps
) -> tuple[SwitchState, str]:
    """Start database and switch and make the bridge; give what the switch says and its network namespace."""
    options, arrangement = ovs_options(request.variant), request.arrangement
    more_mib = VNF_PORT_MIB * max(0, len(sockets) - _OPEN_PORTS)
    with steps.timed("deploy.hugepages"):
        memory_mib = options.socket_memory_mib + more_mib
        asked_mib = max(request.variant.hugepages_mib + more_mib, memory_mib)
        hugepages = request.workspace.hugepages(asked_mib, least_mib=memory_mib)
        netns = request.workspace.network_namespace("switch")
    with steps.timed("deploy.database"):
        instance.start_database()
    dpdk = DpdkSettings(memory_mib, hugepages, arrangement.switch_cores, main_core=arrangement.control_cores[0])
    other_config = settings(dpdk, f"nfvbed-{request.workspace.id}-ovs") | tuning.userspace_settings(options)
    numbers = port_numbers(request.layout)
    ports = [
        PortRequest(
            name,
            "dpdkvhostuserclient",
            numbers[name],
            {"vhost-server-path": str(path)},
            tuning.interface_settings(name, options, arrangement.switch_cores),
        )
        for name, path in sockets.items()
    ]
    with instance.connect() as database:
        with steps.timed("deploy.switch"):
            database.initialise(other_config)
            instance.start_switch(netns)
            state = database.wait_for_switch()
        with steps.timed("deploy.bridge"):
            database.add_bridge(BRIDGE, ports, tuning.bridge_settings(options))
    return state, netns
