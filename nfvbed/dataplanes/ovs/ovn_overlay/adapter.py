"""OVN on the hosts of an overlay: one northbound database, an ovn-controller for each host, which makes the tunnels."""

from pathlib import Path

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ovs.binaries import binaries_in
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.database import SwitchDatabase
from nfvbed.dataplanes.ovs.overlay.adapter import OvsOverlay
from nfvbed.dataplanes.ovs.overlay.host import ADDRESSES, INTEGRATION, find_other
from nfvbed.dataplanes.ovs.overlay.hostplan import HostPlan, host_plans
from nfvbed.dataplanes.ovs.overlay.watch import HostView, OverlayState
from nfvbed.dataplanes.ovs.ovn import topology
from nfvbed.dataplanes.ovs.ovn.adapter import ovn_of, router_ends
from nfvbed.dataplanes.ovs.ovn.binaries import beside
from nfvbed.dataplanes.ovs.ovn.daemons import CONTROLLER, OvnDaemons
from nfvbed.dataplanes.ovs.ovn_overlay.host import ChassisHost
from nfvbed.dataplanes.ovs.ovn_overlay.options import OvnOverlayOptions
from nfvbed.dataplanes.ports import vhost_user
from nfvbed.dataplanes.wiring import port_numbers
from nfvbed.errors import DeployError
from nfvbed.host.fitness import Fitness
from nfvbed.host.timing import Steps
from nfvbed.records import Deployment
from nfvbed.records.state import Cores, State
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant, options_of

_LOCAL = 0xFFFFFFFE
"""OpenFlow number of the bridge's own port (OFPP_LOCAL)."""


class ChassisState(State):
    """How OVN was started."""

    programs: str
    """Folder of the Open vSwitch that OVN is beside."""
    control_cores: Cores


class OvnOverlay(OvsOverlay):
    """The path's ports are logical ports on the br-int of the chassis that they are on."""

    kind = "ovn-overlay"
    host_kind = ChassisHost

    def probe(self, variant: Variant) -> Fitness:
        """Run OVN's controller to see that it can, and do as for the hosts of an overlay."""
        ovn_of(options_of(variant, OvnOverlayOptions)).version()
        return super().probe(variant)

    def deploy(self, request: DeployRequest) -> Deployment:
        """Start the hosts and join their underlay, then OVN."""
        options = options_of(request.variant, OvnOverlayOptions)
        options.check_layout(request.layout)
        ovn = ovn_of(options)
        version = ovn.version()
        deployment = super().deploy(request)
        started = ChassisState(programs=str(ovn.switch.root), control_cores=request.arrangement.control_cores)
        deployment = deployment.model_copy(update={"control": deployment.control | started.as_control()})
        steps = Steps()
        self._start(request, deployment, steps)
        views = tuple(_seen(view, plan) for view, plan in self._chassis(deployment))
        state = OverlayState.of(deployment).model_copy(update={"hosts": views})
        control = deployment.control | state.as_control() | router_ends(options).as_control()
        more = {"control": control, "versions": {**deployment.versions, "ovn": version}}
        return deployment.model_copy(update={**more, "steps": (*deployment.steps, *steps.done)})

    def _start(self, request: DeployRequest, deployment: Deployment, steps: Steps) -> None:
        """Write the logical topology, start OVN's daemons, and wait until all chassis have its rules."""
        daemons = self._daemons(deployment)
        with steps.timed("deploy.ovn.databases"):
            daemons.start_databases()
        with steps.timed("deploy.ovn.topology"):
            options = options_of(request.variant, OvnOverlayOptions)
            daemons.write(topology.commands(request.layout, options, vhost_user.MACS))
            acls = daemons.add_acls(topology.acls(request.layout, options))
            daemons.start_northd(acls)
        with steps.timed("deploy.ovn.controllers"):
            for view, plan in self._chassis(deployment):
                settings = daemons.chassis_settings(INTEGRATION, plan.name, ADDRESSES[plan.index])
                with SwitchDatabase(Path(view.database)) as database:
                    database.set_external_ids(settings, {name: {"iface-id": name} for name in plan.ports})
                daemons.start_controller(Path(view.database), view.netns, _controller(view))
        with steps.timed("deploy.ovn.rules"):
            daemons.synchronise(port_numbers(request.layout), acls)
        with steps.timed("deploy.tunnels"):
            for view, plan in self._chassis(deployment):
                if view.physical:
                    find_other(plan, view.netns, Path(view.unixctl))

    def verify(self, deployment: Deployment) -> None:
        """Check that every host's ovs-vswitchd lives, and OVN's daemons."""
        super().verify(deployment)
        self._daemons(deployment).check()

    def _chassis(self, deployment: Deployment) -> list[tuple[HostView, HostPlan]]:
        views = OverlayState.of(deployment).hosts
        return list(zip(views, host_plans(layout(deployment.topology), len(views)), strict=True))

    def _daemons(self, deployment: Deployment) -> OvnDaemons:
        state = ChassisState.of(deployment)
        names = tuple(_controller(view) for view in OverlayState.of(deployment).hosts)
        found = beside(binaries_in(Path(state.programs)))
        return OvnDaemons(self._workspace(deployment), found, state.control_cores, names)


def _controller(view: HostView) -> str:
    return f"{CONTROLLER}-{view.name}"


def _seen(view: HostView, plan: HostPlan) -> HostView:
    """Return a chassis with what ovn-controller made on it: its rules, and the port of its tunnel.

    Raises:
        DeployError: there is no tunnel where there is another chassis, or more than one.
    """
    with BridgeController(Path(view.integration)) as bridge:
        rules, numbers = bridge.rule_count(), set(bridge.ports())
    if not view.physical:
        return view.model_copy(update={"rules": rules})
    tunnels = sorted(numbers - set(plan.ports.values()) - {_LOCAL})
    if len(tunnels) != 1:
        raise DeployError(
            f"{view.name} has no tunnel to the other chassis, or more than one",
            where=view.integration,
            observed=f"ports {tunnels} beside the path's",
            fix=f"see {_controller(view)}.log in the run directory",
        )
    return view.model_copy(update={"rules": rules, "tunnel": tunnels[0]})
