"""The controller as compute: Neutron's Open vSwitch agent on the userspace datapath, instances on vhost-user."""

import json
from collections.abc import Sequence
from pathlib import Path

from nfvbed.dataplanes.ovs import pmd, reading, unixctl
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.openflow import PortCounters
from nfvbed.dataplanes.ports import vhost_user
from nfvbed.errors import DeployError, SwitchDiedError
from nfvbed.host.arrangement import Arrangement
from nfvbed.host.fitness import Fitness
from nfvbed.host.workspace import Workspace
from nfvbed.records import GeneratorPort, Hop, HopKind, PortKind, SwitchCounters, WorkThread
from nfvbed.sites.openstack.cloud import DevCloud
from nfvbed.sites.openstack.computes import guests, ovs_options, packages
from nfvbed.sites.openstack.computes.compute import Compute
from nfvbed.sites.openstack.instances import DATA_NETWORKS, PlacedInstance
from nfvbed.sites.openstack.nodes.channel import Command
from nfvbed.sites.openstack.nodes.inside import file_in, process
from nfvbed.sites.openstack.nodes.node import Node
from nfvbed.sites.openstack.places import CONTROLLER
from nfvbed.sites.openstack.services.openvswitch import BRIDGES
from nfvbed.spec.layout import Layout
from nfvbed.spec.variant import Variant

_INTEGRATION = "br-int"
_DAEMON = "ovs-vswitchd"
_PROGRAM = "ovs-vswitchd-dpdk"
_RESTING_US = 300
"""Longest sleep of polling threads while nothing is measured (`pmd-maxsleep`)."""
_NODE_FOLDER = "/run/nfvbed"
_TAP = 11
"""Characters of a port's id in the name of its device (os-vif)."""
_VERSIONS = {"openvswitch": "openvswitch-switch-dpdk", "dpdk": "librte-eal23"}


class OvsDpdkCompute(Compute):
    """Open vSwitch of the controller."""

    host = CONTROLLER
    vnf_port_kind = PortKind.VHOST_USER

    def __init__(self, cloud: DevCloud) -> None:
        self._cloud = cloud

    @property
    def _node(self) -> Node:
        node = self._cloud.find_node()
        if node is None:
            raise DeployError("no cloud runs", where=CONTROLLER, fix="nfvbed devcloud start")
        return node

    def probe(self, variant: Variant) -> Fitness:
        """It is there wherever the cloud is."""
        ovs_options.check(variant)
        return Fitness()

    def check(self, variant: Variant, plan: Layout) -> None:
        """Refuse options that Nova and Neutron decide."""
        ovs_options.check(variant)

    def start(self) -> None:
        """Nothing is missing: the cloud's own start has brought it up."""
        self.verify()

    def apply(self, variant: Variant, arrangement: Arrangement) -> None:
        """Set threads, queues and caches; what the variant does not ask for is as Open vSwitch has it."""
        wanted = ovs_options.settings(ovs_options.ovs_options(variant), arrangement.switch_cores)
        words = ["set", "Open_vSwitch", ".", *(f'other_config:{key}="{value}"' for key, value in wanted.items())]
        for key in ovs_options.MANAGED:
            if key not in wanted:
                words += ["--", "remove", "Open_vSwitch", ".", "other_config", key]
        self._vsctl(*words)

    def rest(self, resting: bool) -> None:
        """Let polling threads sleep, or not: they would take a core from the cloud while guests boot."""
        self._vsctl("set", "Open_vSwitch", ".", f'other_config:pmd-maxsleep="{_RESTING_US if resting else 0}"')

    def attach(self, workspace: Workspace, variant: Variant) -> tuple[GeneratorPort, GeneratorPort]:
        """Add a port to both data bridges, whose sockets the generator serves from this machine."""
        options = ovs_options.ovs_options(variant)
        node = self._node
        # Through a link of the workspace: names of sockets are short, and folders of checkouts need not be.
        folder = workspace.directory / "node"
        folder.unlink(missing_ok=True)
        folder.symlink_to(node.places.exchange)
        self.detach()
        words: list[str] = []
        for name, network in zip(_ports(), DATA_NETWORKS, strict=True):
            (node.places.exchange / f"{name}.sock").unlink(missing_ok=True)
            words += ["--", "add-port", BRIDGES[network], name, "--", "set", "Interface", name]
            words += ["type=dpdkvhostuserclient", f"options:vhost-server-path={_NODE_FOLDER}/{name}.sock"]
            words += [f"options:n_rxq={options.n_rxq}"]
        self._vsctl(*words[1:])
        first, second = vhost_user.server_ports([folder / f"{name}.sock" for name in _ports()], options.rx_queue_size)
        return first, second

    def detach(self) -> None:
        """Take both ports off their bridges, where they are."""
        words: list[str] = []
        for name, network in zip(_ports(), DATA_NETWORKS, strict=True):
            words += ["--", "--if-exists", "del-port", BRIDGES[network], name]
        self._vsctl(*words[1:])

    def versions(self) -> dict[str, str]:
        """Of the packages of the private root."""
        return packages.versions(self._cloud.places, _VERSIONS)

    def threads(self, instances: Sequence[PlacedInstance]) -> tuple[WorkThread, ...]:
        """Return the polling threads and the guests' vCPUs."""
        node = self._node
        return (*reading.pmd_threads(process(node, _PROGRAM).pid), *guests.vcpu_threads(node, instances))

    def hops(self, instances: Sequence[PlacedInstance]) -> tuple[Hop, ...]:
        """Read the ports along the path: the generator's, those of each instance, the generator's other one."""
        node, numbers = self._node, self._port_numbers()
        first, last = _ports()
        counted = {
            bridge: _counted(node, bridge) for bridge in (_INTEGRATION, *map(BRIDGES.__getitem__, DATA_NETWORKS))
        }

        def hop(bridge: str, name: str, vnf: int | None, port: int) -> Hop:
            found = reading.port_hop(f"{bridge} port {name}", counted[bridge][numbers[name]])
            return found.model_copy(update={"kind": HopKind.SWITCH_PORT, "vnf": vnf, "port": port})

        datapath = Hop(name="datapath", drops=self._datapath_drops(node))
        found = [hop(BRIDGES[DATA_NETWORKS[0]], first, None, 0), datapath]
        for place, instance in enumerate(instances):
            found += [
                hop(_INTEGRATION, device_name(port.id), place, number) for number, port in enumerate(instance.ports[:2])
            ]
        found.append(hop(BRIDGES[DATA_NETWORKS[1]], last, None, 1))
        return tuple(found)

    def counters(self) -> SwitchCounters:
        """Read what came in by the generator's and the instances' ports, and the polling threads' cycles."""
        node, numbers = self._node, self._port_numbers()
        measured = {name: number for name, number in numbers.items() if name in _ports() or name.startswith("vhu")}
        ports: dict[str, PortCounters] = {}
        for bridge in (_INTEGRATION, *(BRIDGES[network] for network in DATA_NETWORKS)):
            counted = _counted(node, bridge)
            ports |= {
                name: counted[number] for name, number in measured.items() if _is_on(name, bridge, counted, number)
            }
        threads = pmd.parse_statistics(unixctl.command(_control(node), "dpif-netdev/pmd-stats-show"))
        return SwitchCounters(
            packets=sum(one.rx_packets or 0 for one in ports.values()),
            busy_cycles=sum(thread.busy_cycles for thread in threads),
            source=pmd.SOURCE,
            raw={"ports": {name: reading.port_totals(one) for name, one in ports.items()}},
        )

    def verify(self) -> None:
        """Ask the node's first process whether the switch's daemon runs."""
        (state,) = [one for one in self._node.channel.services() if one.name == _DAEMON]
        if state.status is not None:
            raise SwitchDiedError(
                "the cloud's Open vSwitch has ended",
                where=f"{_DAEMON} on node {self.host}",
                observed=f"exit status {state.status}",
                fix="nfvbed devcloud logs ovs-vswitchd; nfvbed devcloud start starts it again",
            )

    def _datapath_drops(self, node: Node) -> dict[str, int]:
        control = _control(node)
        names = reading.DATAPATH_DROPS
        return {name: int(unixctl.command(control, "coverage/read-counter", name)) for name in names}

    def _port_numbers(self) -> dict[str, int]:
        """Return the OpenFlow numbers of all ports, by their names."""
        printed = self._vsctl("--format=json", "--columns=name,ofport", "list", "Interface")
        rows = json.loads(printed)["data"]
        return {name: number for name, number in rows if isinstance(number, int)}

    def _vsctl(self, *words: str) -> str:
        return self._node.channel.check(Command(("/usr/bin/ovs-vsctl", "--timeout=20", *words), timeout_s=30.0))


def device_name(port_id: str) -> str:
    """Return the name that os-vif gives the vhost-user port of a Neutron port."""
    return f"vhu{port_id[:_TAP]}"


def _ports() -> tuple[str, str]:
    """Return the names of the generator's ports."""
    return "gen0", "gen1"


def _is_on(name: str, bridge: str, counted: dict[int, PortCounters], number: int) -> bool:
    """Whether a port is on a bridge: numbers are unique on one bridge alone."""
    home = dict(zip(_ports(), (BRIDGES[network] for network in DATA_NETWORKS), strict=True)).get(name, _INTEGRATION)
    return home == bridge and number in counted


def _counted(node: Node, bridge: str) -> dict[int, PortCounters]:
    with BridgeController(file_in(node, f"/run/openvswitch/{bridge}.mgmt")) as controller:
        return dict(controller.ports())


def _control(node: Node) -> Path:
    """Return the daemon's control socket: its name has the id that the daemon has in the node."""
    pid = file_in(node, "/run/openvswitch/ovs-vswitchd.pid").read_text().strip()
    return file_in(node, f"/run/openvswitch/{_PROGRAM}.{pid}.ctl")
