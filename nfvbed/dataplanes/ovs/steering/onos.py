"""Steering by an ONOS that runs already: the bridge connects to it, and it gets the rules over REST.

The switch's network namespace has no way out, so a relay takes the bridge's connection on a Unix socket and carries it
to ONOS.
"""

import sys
import time
from collections.abc import Callable

from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.database import SwitchDatabase
from nfvbed.dataplanes.ovs.steering.onos_client import OnosClient
from nfvbed.dataplanes.ovs.steering.path import SteeringPath, path_rules
from nfvbed.dataplanes.ovs.steering.steering import (
    SteeredBridge,
    Steering,
    SteeringReport,
    check_forwarding,
    forget_cached,
    installed,
)
from nfvbed.errors import ConfigurationError, DeployError
from nfvbed.host.ledger.processes import check_alive
from nfvbed.host.timing import Steps
from nfvbed.spec.onos import OnosSpec

PROCESS = "openflow-relay"
PATIENCE_S = 20.0
_LOOK_AROUND_S = 0.02


class OnosSteering(Steering):
    """Rules from ONOS."""

    kind = "onos"
    fixed = "its rules are ONOS's, which keeps the path that it was asked for"

    def __init__(self, spec: OnosSpec | None) -> None:
        """Take the site's ONOS.

        Raises:
            ConfigurationError: it has none.
        """
        if spec is None:
            raise ConfigurationError(
                "steering by ONOS needs an ONOS",
                where="site",
                observed="no key `onos`",
                fix="see docs/howto/steering.md",
            )
        self._spec = spec
        self._client = OnosClient(spec)

    def set_up(self, bridge: SteeredBridge, path: SteeringPath) -> SteeringReport:
        """Connect the bridge to ONOS, request the rules, and wait until the bridge has them."""
        rules = path_rules(path)
        device = device_id(bridge)
        steps = Steps()
        with steps.timed("deploy.controller"):
            self._client.devices()  # an ONOS that cannot be asked fails here, before anything is started
            self._connect(bridge)
            self._wait(bridge, lambda: self._client.devices().get(device, False), "ONOS does not have the bridge")
        with steps.timed("deploy.rules"):
            self._client.add_flows(device, rules)
            wanted = {rule.forwarding for rule in rules}
            self._wait(bridge, lambda: wanted <= set(installed(bridge)), "ONOS's rules did not come")
            forget_cached(bridge)
        return SteeringReport(steps.done, check_forwarding(bridge, path))

    def verify(self, bridge: SteeredBridge) -> None:
        """Check that the relay lives and ONOS has the bridge.

        Raises:
            SwitchDiedError: the relay has ended.
            DeployError: ONOS does not answer, or has lost the bridge.
        """
        check_alive(bridge.workspace.process(PROCESS))
        if not self._client.devices().get(device_id(bridge), False):
            raise DeployError("ONOS has lost the bridge", where=bridge.name, observed=_connection(bridge))

    def tear_down(self, bridge: SteeredBridge) -> None:
        """Remove the rules from ONOS, which would otherwise write them again; then disconnect the bridge."""
        device = device_id(bridge)
        ours = [f.id for f in self._client.flows(device) if f.application == self._spec.application]
        if ours:
            self._client.remove_flows(device, ours)
        with SwitchDatabase(bridge.database) as database:
            database.set_controller(bridge.name, None)
        bridge.workspace.process(PROCESS).stop()
        with BridgeController(bridge.management) as connection:
            connection.remove_all_rules()

    def _connect(self, bridge: SteeredBridge) -> None:
        # The one place of a Unix socket that Open vSwitch accepts for a controller.
        socket = bridge.workspace.directory / f"{bridge.name}.controller"
        module = "nfvbed.dataplanes.ovs.steering.relay"
        target = [self._spec.openflow_host, str(self._spec.openflow_port)]
        argv = [sys.executable, "-m", module, str(socket), *target]
        bridge.workspace.spawn(PROCESS, argv, cores=bridge.cores)
        self._wait(bridge, socket.is_socket, "the relay to ONOS does not listen")
        with SwitchDatabase(bridge.database) as database:
            database.set_controller(bridge.name, f"unix:{socket}")

    def _wait(self, bridge: SteeredBridge, done: Callable[[], bool], failure: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        process = bridge.workspace.process(PROCESS)
        while not done():
            check_alive(process)
            if time.monotonic() > deadline:
                states = sorted({flow.state for flow in self._client.flows(device_id(bridge))})
                raise DeployError(
                    failure,
                    where=f"{self._spec.url}, {device_id(bridge)}",
                    observed=f"after {PATIENCE_S:g} s; flows {states or 'none'}; {_connection(bridge)}",
                    fix=f"see ONOS's log and {process.log}",
                )
            time.sleep(_LOOK_AROUND_S)


def device_id(bridge: SteeredBridge) -> str:
    """Return ONOS's name for a bridge."""
    with BridgeController(bridge.management) as connection:
        return f"of:{connection.datapath_id():016x}"


def _connection(bridge: SteeredBridge) -> str:
    with SwitchDatabase(bridge.database) as database:
        return database.controller_status(bridge.name) or "no controller is set"
