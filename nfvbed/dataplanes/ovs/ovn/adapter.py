"""OVN on one chassis: Open vSwitch on DPDK, whose rules OVN's own daemons write."""

import time
from pathlib import Path

from nfvbed.dataplanes.chaincontrol import ChainControl, FixedChain
from nfvbed.dataplanes.connections import Connections, ConnectionTracker
from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ovs import watching
from nfvbed.dataplanes.ovs.binaries import locate
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.database import SwitchDatabase
from nfvbed.dataplanes.ovs.dpdk.adapter import OvsDpdk
from nfvbed.dataplanes.ovs.instance import SWITCH
from nfvbed.dataplanes.ovs.ovn import binaries as ovn_binaries
from nfvbed.dataplanes.ovs.ovn import topology
from nfvbed.dataplanes.ovs.ovn.daemons import OvnDaemons
from nfvbed.dataplanes.ovs.ovn.options import OvnOptions
from nfvbed.dataplanes.ovs.reading import BridgeView
from nfvbed.dataplanes.ovs.state import OvsState
from nfvbed.dataplanes.ovs.steering.steering import SteeredBridge, Steering
from nfvbed.dataplanes.ovs.switch import BRIDGE
from nfvbed.dataplanes.tables import ForwardingTable, LearningTable, TableNotApplicable
from nfvbed.dataplanes.wiring import layout_of, port_numbers
from nfvbed.errors import DeployError
from nfvbed.host.fitness import Fitness
from nfvbed.host.ledger.processes import check_alive
from nfvbed.host.timing import Steps
from nfvbed.patience import patient
from nfvbed.records import Deployment
from nfvbed.records.state import PlaneState, State
from nfvbed.spec.variant import Variant, options_of

_RULES_AGAIN_S = patient(20.0)
_LOOK_S = 0.02
OPENFLOW = "OpenFlow15"
"""The version that ovn-controller speaks."""
_TOGETHER = 500
"""Commands of one transaction: a command line has a limit."""


class OvnState(State):
    """What is recorded of OVN."""

    ovn_rules: int
    """OpenFlow rules of the bridge, when the chassis had followed the northbound database."""
    ovn_tracks: bool
    """Whether its ACLs track connections."""


class Ovn(OvsDpdk):
    """`br0` is the chassis' integration bridge; its ports are bound to logical ports of the same names."""

    kind = "ovn"

    def probe(self, variant: Variant) -> Fitness:
        """Do as for Open vSwitch on DPDK, and run OVN's controller to see that it can."""
        ovn_binaries.locate(locate().root).version()
        return super().probe(variant)

    def deploy(self, request: DeployRequest) -> Deployment:
        """Deploy Open vSwitch, then OVN on it."""
        options = options_of(request.variant, OvnOptions)
        options.check_layout(request.layout)
        deployment = super().deploy(request)
        rules = self._rules(deployment)
        more = OvnState(ovn_rules=rules, ovn_tracks=options.tracks_connections).as_control()
        version = ovn_binaries.locate(locate().root).version()
        return deployment.model_copy(
            update={"control": deployment.control | more, "versions": {**deployment.versions, "ovn": version}}
        )

    def own_ends(self, deployment: Deployment) -> None:
        """Offer no taps of its own: one would be no port of the logical network, whose rules are OVN's."""

    def ends(self, request: DeployRequest) -> PlaneState:
        """Return the addresses of the logical router's ports as well: what it routes is sent to them."""
        found = super().ends(request)
        is_routed = options_of(request.variant, OvnOptions).path == "router"
        return found.model_copy(update={"destination_macs": topology.ROUTER_MACS}) if is_routed else found

    def _join(self, request: DeployRequest, deployment: Deployment, steps: Steps) -> None:
        """Start OVN's daemons, write the logical topology, and wait until the bridge has its rules."""
        state, options = OvsState.of(deployment), options_of(request.variant, OvnOptions)
        daemons = self._daemons(deployment)
        with steps.timed("deploy.ovn.databases"):
            daemons.start_databases()
        with steps.timed("deploy.ovn.controller"):
            names = port_numbers(request.layout)
            with SwitchDatabase(Path(state.database)) as database:
                database.allow_openflow(BRIDGE, OPENFLOW)
                database.set_external_ids(
                    {**daemons.chassis_settings, "ovn-bridge": BRIDGE},
                    {name: {"iface-id": name} for name in names},
                )
            daemons.start_controller(Path(state.database), state.netns)
        with steps.timed("deploy.ovn.topology"):
            found = list(topology.commands(request.layout, options))
            for start in range(0, len(found), _TOGETHER):
                daemons.change(topology.nbctl_arguments(found[start : start + _TOGETHER]))
            daemons.synchronise(names)

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
        """Check that ovs-vswitchd lives, and OVN's daemons."""
        check_alive(self._workspace(deployment).process(SWITCH))
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
        where, instead = f"variant {deployment.variant}", "variant ovs-dpdk"
        return FixedChain("the logical topology is written once, when it is deployed", where, instead)

    def _steering(self, deployment: Deployment) -> Steering | None:
        return None

    def _rules(self, deployment: Deployment) -> int:
        with BridgeController(Path(OvsState.of(deployment).openflow)) as connection:
            return connection.rule_count()

    def _daemons(self, deployment: Deployment) -> OvnDaemons:
        switch, cores = locate(), OvsState.of(deployment).control_cores
        return OvnDaemons(self._workspace(deployment), switch, ovn_binaries.locate(switch.root), cores)


class OvnConnections(ConnectionTracker):
    """The connection tracking of the one chassis."""

    def __init__(self, view: BridgeView, ports: dict[str, int]) -> None:
        self._view, self._ports = view, ports

    def look(self) -> tuple[Connections, ...]:
        """Read its connection table and the flows of its datapath."""
        return (watching.connections("br0", self._view, self._ports),)
