"""Static steering: nfvbed itself writes the rules over the bridge's management socket."""

from nfvbed.dataplanes.ovs import openflow
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.steering.path import SteeringPath, path_rules
from nfvbed.dataplanes.ovs.steering.steering import (
    SteeredBridge,
    Steering,
    SteeringReport,
    check_forwarding,
    forget_cached,
)
from nfvbed.host.timing import Steps


class StaticSteering(Steering):
    """Rules that stay as they are written."""

    kind = "static"

    def set_up(self, bridge: SteeredBridge, path: SteeringPath) -> SteeringReport:
        """Write the rules and wait for the barrier."""
        rules = list(path_rules(path))
        steps = Steps()
        with steps.timed("deploy.rules"):
            with BridgeController(bridge.management) as connection:
                connection.add_rules(rules)
            forget_cached(bridge)
        return SteeringReport(steps.done, len(rules))

    def change(self, bridge: SteeredBridge, path: SteeringPath) -> SteeringReport:
        """Exchange all rules in one atomic bundle: a frame meets only the old rules or only the new ones.

        Every rule is replaced, also those of a path that a killed nfvbed set up and did not record. Before that, what
        the datapath has counted for the old rules is added to them: else the new ones would get it.
        """
        steps = Steps()
        with steps.timed("steer.rules"):
            forget_cached(bridge)
            with BridgeController(bridge.management) as connection:
                connection.add_bundle([openflow.delete_all_rules(), *map(openflow.add_rule, path_rules(path))])
            forget_cached(bridge)
        return SteeringReport(steps.done, check_forwarding(bridge, path))

    def tear_down(self, bridge: SteeredBridge) -> None:
        """Remove every rule of the bridge."""
        with BridgeController(bridge.management) as connection:
            connection.remove_all_rules()
