"""OVN on one chassis: Open vSwitch on DPDK, on AF_XDP sockets or in the kernel, whose rules OVN's daemons write."""

import time
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from nfvbed.dataplanes.chaincontrol import ChainControl, FixedChain
from nfvbed.dataplanes.connections import Connections, ConnectionTracker
from nfvbed.dataplanes.dataplane import DeployRequest, OwnEndsMaker, OwnKind
from nfvbed.dataplanes.ovs import watching
from nfvbed.dataplanes.ovs.afxdp.adapter import OvsAfxdp
from nfvbed.dataplanes.ovs.binaries import binaries_of
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.database import SwitchDatabase
from nfvbed.dataplanes.ovs.dpdk.adapter import OvsDpdk
from nfvbed.dataplanes.ovs.kernel.adapter import OvsKernel
from nfvbed.dataplanes.ovs.ovn import topology
from nfvbed.dataplanes.ovs.ovn.binaries import OvnBinaries, beside
from nfvbed.dataplanes.ovs.ovn.daemons import OvnDaemons
from nfvbed.dataplanes.ovs.ovn.logicaloptions import LogicalNetworkOptions, LogicalPathOptions
from nfvbed.dataplanes.ovs.reading import BridgeView
from nfvbed.dataplanes.ovs.state import OvsState
from nfvbed.dataplanes.ovs.steering.steering import SteeredBridge, Steering
from nfvbed.dataplanes.ovs.switch import BRIDGE, OvsSwitch, deployed_binaries
from nfvbed.dataplanes.ports import vhost_user
from nfvbed.dataplanes.tables import ForwardingTable, LearningTable, TableNotApplicable
from nfvbed.dataplanes.wiring import layout_of, port_numbers
from nfvbed.errors import DeployError
from nfvbed.host.fitness import Fitness
from nfvbed.host.network.veth import GENERATOR_LINKS, MACS
from nfvbed.host.timing import Steps
from nfvbed.patience import patient
from nfvbed.records import Deployment
from nfvbed.records.state import PlaneState, State
from nfvbed.spec.variant import Variant, options_of

_RULES_AGAIN_S = patient(20.0)
_LOOK_S = 0.02
OPENFLOW = "OpenFlow15"
"""The version that ovn-controller speaks."""


class OvnState(State):
    """What is recorded of OVN."""

    ovn_rules: int
    """OpenFlow rules of the bridge, when the chassis had followed the northbound database."""
    ovn_tracks: bool
    """Whether its ACLs track connections."""


class LogicalNetwork(OvsSwitch):
    """`br0` is the chassis' integration bridge; its ports are bound to logical ports of the same names.

    It comes before the Open vSwitch that it is on, in the order of bases.
    """

    datapath = "netdev"
    """Type of the chassis' datapath."""

    @property
    @abstractmethod
    def generator_macs(self) -> tuple[str, ...]:
        """Addresses of the generator's ports, which a logical router knows."""

    def deploy(self, request: DeployRequest) -> Deployment:
        """Deploy Open vSwitch, then OVN on it."""
        options = options_of(request.variant, LogicalNetworkOptions)
        options.check_layout(request.layout)
        version = ovn_of(options).version()
        deployment = super().deploy(request)
        rules = self._rules(deployment)
        more = OvnState(ovn_rules=rules, ovn_tracks=options.tracks_connections).as_control()
        control = deployment.control | router_ends(options).as_control() | more
        return deployment.model_copy(update={"control": control, "versions": {**deployment.versions, "ovn": version}})

    def own_ends(self, deployment: Deployment) -> Mapping[OwnKind, OwnEndsMaker]:
        """Offer no ports of its own: one would be no port of the logical network, whose rules are OVN's."""
        return {}

    def _join(self, request: DeployRequest, deployment: Deployment, steps: Steps) -> None:
        """Write the logical topology, start OVN's daemons, and wait until the bridge has its rules."""
        state, options = OvsState.of(deployment), options_of(request.variant, LogicalNetworkOptions)
        daemons = self._daemons(deployment)
        with steps.timed("deploy.ovn.databases"):
            daemons.start_databases()
        with steps.timed("deploy.ovn.topology"):
            daemons.write(topology.commands(request.layout, options, self.generator_macs))
            acls = daemons.add_acls(topology.acls(request.layout, options))
            daemons.start_northd(acls)
        with steps.timed("deploy.ovn.controller"):
            names = port_numbers(request.layout)
            with SwitchDatabase(Path(state.database)) as database:
                database.allow_openflow(BRIDGE, OPENFLOW)
                database.set_external_ids(
                    daemons.chassis_settings(BRIDGE, datapath=self.datapath),
                    {name: {"iface-id": name} for name in names},
                )
            daemons.start_controller(Path(state.database), state.netns)
        with steps.timed("deploy.ovn.rules"):
            daemons.synchronise(names, acls)

    def _rejoin(self, deployment: Deployment, bridge: SteeredBridge) -> None:
        """Wait until ovn-controller has found the switch again and written its rules."""
        wanted, deadline = OvnState.of(deployment).ovn_rules, time.monotonic() + _RULES_AGAIN_S
        while (found := self._rules(deployment)) < wanted:
            self.verify(deployment)
            if time.monotonic() > deadline:
                raise DeployError(
                    "ovn-controller does not write its rules again",
                    where=str(bridge.management),
                    observed=f"{found:,} of {wanted:,} rules after {_RULES_AGAIN_S:g} s",
                    fix=f"see ovn-controller.log in {deployment.run_directory}",
                )
            time.sleep(_LOOK_S)

    def verify(self, deployment: Deployment) -> None:
        """Check what is checked of the switch itself, and that OVN's daemons live."""
        super().verify(deployment)
        self._daemons(deployment).check()

    def forwarding_table(self, deployment: Deployment, variant: Variant) -> ForwardingTable:
        """Raise: its rules are OVN's."""
        raise TableNotApplicable("the rules of the bridge are OVN's; many ACLs are an option of variants (acl_rules)")

    def _learning_table(self, deployment: Deployment, variant: Variant) -> LearningTable:
        """Raise: what OVN learns is in its southbound database."""
        raise TableNotApplicable("OVN learns addresses into its southbound database, not into a table of the switch")

    def connections(self, deployment: Deployment) -> ConnectionTracker | None:
        """Return the connection tracking of the datapath; None where no ACL is stateful."""
        if not OvnState.of(deployment).ovn_tracks:
            return None
        return OvnConnections(BridgeView.of(OvsState.of(deployment)), port_numbers(layout_of(deployment)))

    def chain(self, deployment: Deployment) -> ChainControl:
        """Return the order of VNFs, which is that of the logical topology."""
        where, instead = f"variant {deployment.variant}", "variant ovs-dpdk or ovs-afxdp"
        return FixedChain("the logical topology is written once, when it is deployed", where, instead)

    def _steering(self, deployment: Deployment) -> Steering | None:
        return None

    def _rules(self, deployment: Deployment) -> int:
        with BridgeController(Path(OvsState.of(deployment).openflow)) as connection:
            return connection.rule_count()

    def _daemons(self, deployment: Deployment) -> OvnDaemons:
        cores = OvsState.of(deployment).control_cores
        return OvnDaemons(self._workspace(deployment), beside(deployed_binaries(deployment)), cores)


class Ovn(LogicalNetwork, OvsDpdk):
    """OVN on DPDK's vhost-user ports."""

    kind = "ovn"
    generator_macs = vhost_user.MACS

    def probe(self, variant: Variant) -> Fitness:
        """Do as for Open vSwitch on DPDK, and run OVN's controller to see that it can."""
        ovn_of(options_of(variant, LogicalNetworkOptions)).version()
        return super().probe(variant)

    def ends(self, request: DeployRequest) -> PlaneState:
        """Return the addresses of the logical router's ports as well: the generator may start before the switch."""
        macs = router_ends(options_of(request.variant, LogicalNetworkOptions)).destination_macs
        return super().ends(request).model_copy(update={"destination_macs": macs})


class OvnAfxdp(LogicalNetwork, OvsAfxdp):
    """OVN on AF_XDP sockets: veth and tap ports of the kernel."""

    kind = "ovn-afxdp"
    generator_macs = tuple(MACS[name] for name in GENERATOR_LINKS)

    def probe(self, variant: Variant) -> Fitness:
        """Run OVN's controller to see that it can, and do as for Open vSwitch on AF_XDP."""
        ovn_of(options_of(variant, LogicalNetworkOptions)).version()
        return super().probe(variant)


class OvnKernel(LogicalNetwork, OvsKernel):
    """OVN with the kernel's datapath, between veth and tap ports."""

    kind = "ovn-kernel"
    datapath = "system"
    generator_macs = tuple(MACS[name] for name in GENERATOR_LINKS)

    def probe(self, variant: Variant) -> Fitness:
        """Run OVN's controller to see that it can, and do as for Open vSwitch in the kernel."""
        ovn_of(options_of(variant, LogicalNetworkOptions)).version()
        return super().probe(variant)


def ovn_of(options: LogicalPathOptions) -> OvnBinaries:
    """Find the OVN that a variant asks for.

    Raises:
        PrerequisiteError: it is not there.
    """
    return beside(binaries_of(options))


def router_ends(options: LogicalPathOptions) -> PlaneState:
    """Return where frames are sent to: the addresses of the logical router's ports, where there is one."""
    return PlaneState(destination_macs=topology.ROUTER_MACS if options.path == "router" else None)


class OvnConnections(ConnectionTracker):
    """The connection tracking of the one chassis."""

    def __init__(self, view: BridgeView, ports: dict[str, int]) -> None:
        self._view, self._ports = view, ports

    def look(self) -> tuple[Connections, ...]:
        """Read its connection table and the flows of its datapath."""
        return (watching.connections("br0", self._view, self._ports),)
