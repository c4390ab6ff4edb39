"""The controller as compute: Neutron's Open vSwitch agent on the userspace datapath, instances on vhost-user."""

from collections.abc import Sequence

from nfvbed.cloud.compute import AddressLead, Compute
from nfvbed.cloud.devcloud.cloud import DevCloud
from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.cloud.devcloud.places import CONTROLLER
from nfvbed.cloud.devcloud.services import libvirt, neutron, nova, openvswitch
from nfvbed.cloud.devcloud.services.computes import ComputeKind
from nfvbed.cloud.devcloud.services.nova import GUEST_RING_SIZE
from nfvbed.cloud.devcloud.services.openvswitch import BRIDGES, SwitchSetup
from nfvbed.cloud.devcloud.services.settings import OWN_MECHANISM
from nfvbed.cloud.instances import DATA_NETWORKS, PlacedInstance
from nfvbed.cloud.verify.checks import ExpectedMachine
from nfvbed.cloud.verify.commands import Hypervisor, MachineCommands
from nfvbed.dataplanes.computes import guests, packages
from nfvbed.dataplanes.computes.node_commands import COMPUTE_SERVICE, NodeCommands, NodeHypervisor
from nfvbed.dataplanes.computes.own_node import running_node
from nfvbed.dataplanes.computes.refusals import Others
from nfvbed.dataplanes.ovs import nodeoptions, reading
from nfvbed.dataplanes.ovs.dpdk.options import OvsDpdkOptions
from nfvbed.dataplanes.ovs.dpdkoptions import DpdkDatapathOptions
from nfvbed.dataplanes.ovs.nodeswitch import INTEGRATION, NodeSwitch, SwitchPort
from nfvbed.dataplanes.ports import vhost_user
from nfvbed.errors import DeployError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.fitness import Fitness
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import GeneratorPort, Hop, PortKind, SwitchCounters, WorkThread
from nfvbed.spec.layout import End, Layout
from nfvbed.spec.variant import Variant, options_of

OTHERS: Others = {
    "port_type": ("vhost-user", "instances have vhost-user sockets, and the generator too"),
    "socket_memory_mib": (nodeoptions.SOCKET_MEMORY_MIB, "the cloud's switch has been started with that"),
    "rx_queue_size": (GUEST_RING_SIZE, "Nova gives guests rings of that size (rx_queue_size)"),
}
_NODE_FOLDER = "/run/nfvbed"
_PREFIX = "vhu"
_ID = 11
"""Characters of a port's id in the name of its device (os-vif)."""
VERSIONS = {"openvswitch": "openvswitch-switch-dpdk", "dpdk": "librte-eal23"}
_PORTS_MIB = 160
"""Hugepage memory that the switch takes for packets of the generator's two ports: 30 for each pool, and a port's old
one is there until it has its new one."""
_PORTS = {"gen0": BRIDGES[DATA_NETWORKS[0]], "gen1": BRIDGES[DATA_NETWORKS[1]]}
"""The generator's ports with their bridges."""


SECOND = ComputeKind(
    "ovs-dpdk-2",
    "neutron-openvswitch-agent",
    (openvswitch.SERVICE, libvirt.SERVICE, nova.COMPUTE, neutron.agent("openvswitch")),
    OWN_MECHANISM,
    switch=SwitchSetup(dpdk=True),
    joined=True,
)


class OvsDpdkCompute(Compute):
    """Open vSwitch of the controller; where a site has two computes, that of the second one is joined with it."""

    dataplane = "ovs-dpdk"
    host = CONTROLLER
    second: ComputeKind | None = SECOND
    second_host = SECOND.host
    vnf_port_kind = PortKind.VHOST_USER
    options: type[DpdkDatapathOptions] = OvsDpdkOptions

    def __init__(self, cloud: DevCloud) -> None:
        self._cloud = cloud
        self._maxsleep_us = 0

    @property
    def guests_mib(self) -> int:
        """The controller's hugepage memory for guests."""
        return self._cloud.guests_mib

    @property
    def _node(self) -> Node:
        node = self._cloud.find_node()
        if node is None:
            raise DeployError("no cloud runs", where=CONTROLLER, fix="nfvbed devcloud start")
        return node

    @property
    def _switch(self) -> NodeSwitch:
        return NodeSwitch(self._node)

    def probe(self, variant: Variant) -> Fitness:
        """Return that nothing is lacking: the switch runs wherever the cloud does."""
        check_options(variant)
        return Fitness()

    def check(self, variant: Variant, plan: Layout) -> None:
        """Refuse options that Nova and Neutron decide."""
        check_options(variant)

    def start(self) -> None:
        """Start nothing: the cloud's own start has started it."""
        self.verify()

    def apply(self, variant: Variant, arrangement: Arrangement) -> None:
        """Set threads, queues and caches."""
        options = options_of(variant, self.options)
        self._maxsleep_us = options.pmd_maxsleep_us
        self._switch.apply(nodeoptions.settings(options, arrangement.switch_cores))

    def rest(self, resting: bool) -> None:
        """Let polling threads sleep, or not: those that poll take a core from the cloud while guests boot."""
        self._switch.rest(resting, self._maxsleep_us)

    def attach(self, workspace: Workspace, variant: Variant) -> tuple[GeneratorPort, GeneratorPort]:
        """Add a port to both data bridges, whose sockets the generator serves from this machine."""
        options = options_of(variant, self.options)
        node = self._node
        # The switch takes its packets' memory when the generator connects, which has taken its own by then: pages of a
        # mount that is not used stay free beside the generator's.
        workspace.hugepages(_PORTS_MIB)
        # Through a link of the workspace: names of sockets are short, and folders of checkouts need not be.
        folder = workspace.directory / "node"
        folder.unlink(missing_ok=True)
        folder.symlink_to(node.places.exchange)
        self.detach()
        words: list[str] = []
        for name, bridge in _PORTS.items():
            (node.places.exchange / f"{name}.sock").unlink(missing_ok=True)
            words += ["--", "add-port", bridge, name, "--", "set", "Interface", name]
            words += ["type=dpdkvhostuserclient", f"options:vhost-server-path={_NODE_FOLDER}/{name}.sock"]
            words += [f"options:n_rxq={options.n_rxq}"]
        self._switch.vsctl(*words[1:])
        first, second = vhost_user.server_ports([folder / f"{name}.sock" for name in _PORTS], options.rx_queue_size)
        return first, second

    def detach(self) -> None:
        """Take both ports off their bridges, where they are."""
        words: list[str] = []
        for name, bridge in _PORTS.items():
            words += ["--", "--if-exists", "del-port", bridge, name]
        self._switch.vsctl(*words[1:])

    def versions(self) -> dict[str, str]:
        """Return versions of the packages in the private root."""
        return packages.versions(self._cloud.places, VERSIONS)

    def threads(self, instances: Sequence[PlacedInstance]) -> tuple[WorkThread, ...]:
        """Return the polling threads and the guests' vCPUs."""
        nodes = (self._node, *(self._node_of(host) for host in self._others(instances)))
        switches = [reading.pmd_threads(NodeSwitch(node).pid) for node in nodes]
        vcpus = [guests.vcpu_threads(node, instances) for node in nodes]
        return tuple(thread for of_node in (*switches, *vcpus) for thread in of_node)

    def hops(self, instances: Sequence[PlacedInstance]) -> tuple[Hop, ...]:
        """Read the ports along the path: the generator's, those of each instance, the generator's other one.

        Instances on a second compute have ports of its switch.
        """
        first, last = (
            SwitchPort(bridge, name, End(None, number)) for number, (name, bridge) in enumerate(_PORTS.items())
        )
        others = self._others(instances)
        if not others:
            between = [port for place, one in enumerate(instances) for port in _ports_of(place, one)]
            return self._switch.hops([first, *between, last])
        found = list(self._switch.hops([first, last]))
        for place, one in enumerate(instances):
            switch = NodeSwitch(self._node_of(one.host))
            found[-1:-1] = switch.port_hops(_ports_of(place, one), one.host)
        dropped = [NodeSwitch(self._node_of(host)).datapath_hop(f"{host} datapath") for host in others]
        return (*found[:2], *dropped, *found[2:])

    def _others(self, instances: Sequence[PlacedInstance]) -> tuple[str, ...]:
        """Return the hosts of instances that are not on this compute's own, each once."""
        return tuple(dict.fromkeys(one.host for one in instances if one.host != self.host))

    def _node_of(self, host: str) -> Node:
        return self._node if host == self.host else running_node(self._cloud, host)

    def hypervisor(self, host: str) -> Hypervisor:
        """Return the node's, or that of the second compute's node."""
        return NodeHypervisor(self._node_of(host))

    def lead(self, leads: Sequence[AddressLead]) -> None:
        """Put static addresses into Neutron's bridge."""
        self._switch.lead(leads, lambda port: device_name(port.id))

    def counters(self) -> SwitchCounters:
        """Read what came in through the generator's and the instances' ports, and the polling threads' cycles."""
        return self._switch.counters(_PORTS, _PREFIX)

    def expected(self, variant: Variant, arrangement: Arrangement) -> ExpectedMachine:
        """Return the controller's agents and services, its userspace datapath, and a thread on each switch core."""
        return ExpectedMachine(
            host=self.host,
            agents=("neutron-openvswitch-agent", "neutron-dhcp-agent"),
            services=("nova-scheduler", "nova-conductor", COMPUTE_SERVICE),
            datapath_type="netdev",
            polling=arrangement.switch_cores,
            takes_hugepages=True,
        )

    def reading(self) -> MachineCommands:
        """Return commands on the controller."""
        return NodeCommands(self._node)

    def verify(self) -> None:
        """Check that the switch's daemon runs."""
        self._switch.verify()


def check_options(variant: Variant) -> None:
    """Refuse options that do not reach a switch with DPDK.

    Raises:
        UnsupportedError: with the option's key, its value and what it would have to be.
    """
    nodeoptions.check(variant, options_of(variant, OvsDpdkOptions), OTHERS)


def _ports_of(place: int, instance: PlacedInstance) -> list[SwitchPort]:
    """Return the ports of an instance on the path."""
    return [
        SwitchPort(INTEGRATION, device_name(port.id), End(place, number))
        for number, port in enumerate(instance.ports[:2])
    ]


def device_name(port_id: str) -> str:
    """Return the name that os-vif gives the vhost-user port of a Neutron port."""
    return f"{_PREFIX}{port_id[:_ID]}"
