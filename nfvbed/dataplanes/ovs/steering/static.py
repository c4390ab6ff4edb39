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
    """Rules that nobody changes afterwards."""

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
        """Exchange all rules in one atomic bundle: a frame is looked up among the old ones or the new ones.

        Whatever is there is replaced: also a path that a killed nfvbed had brought in and not written down. What the
        datapath has counted of the old path is brought to its rules before: it would be added to the new ones.
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
