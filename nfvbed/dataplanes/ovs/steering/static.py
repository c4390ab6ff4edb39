"""Static steering: nfvbed itself writes the rules over the bridge's management socket."""

from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.steering.path import SteeringPath, path_rules
from nfvbed.dataplanes.ovs.steering.steering import SteeredBridge, Steering, SteeringReport, forget_cached
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

    def tear_down(self, bridge: SteeredBridge) -> None:
        """Remove every rule of the bridge."""
        with BridgeController(bridge.management) as connection:
            connection.remove_all_rules()
