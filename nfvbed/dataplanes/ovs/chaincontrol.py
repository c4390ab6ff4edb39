"""The order of VNFs behind an Open vSwitch, changed by exchanging all rules at once."""

from nfvbed.dataplanes.chaincontrol import ChainControl, FixedChain
from nfvbed.dataplanes.ovs.steering.path import steering_path
from nfvbed.dataplanes.ovs.steering.steering import SteeredBridge, Steering, check_forwarding
from nfvbed.dataplanes.wiring import layout_of
from nfvbed.records import Deployment
from nfvbed.records.chain import ChainCable

STATIC = "deploy with steering: static, or a chain of the wanted order from the start"


class OvsChain(ChainControl):
    """A path whose rules nfvbed itself writes."""

    def __init__(self, deployment: Deployment, bridge: SteeredBridge, writer: Steering) -> None:
        self._deployment = deployment
        self._bridge = bridge
        self._writer = writer
        self.fixed = writer.fixed

    def cables(self) -> tuple[ChainCable, ...]:
        """Read the cables' rules, once the switch has brought their counters up to date."""
        path = steering_path(layout_of(self._deployment))
        check_forwarding(self._bridge, path)
        counted = self._writer.cables(self._bridge, path)
        return tuple(
            ChainCable(
                first=cable.port_a,
                second=cable.port_b,
                forward_packets=counters.forward_packets,
                backward_packets=counters.backward_packets,
                cookies=counters.cookies,
            )
            for cable, counters in zip(path.cables, counted, strict=True)
        )

    def apply(self, order: tuple[int, ...]) -> None:
        """Exchange all rules in one bundle."""
        if self.fixed:
            FixedChain(self.fixed, self._deployment.variant, STATIC).apply(order)
        plan = layout_of(self._deployment.model_copy(update={"order": order}))
        self._writer.change(self._bridge, steering_path(plan))
