"""The learnt addresses of the kernel's bridge, and a monitoring port on it."""

from pyroute2 import IPRoute

from nfvbed.dataplanes.tables import LearningTable
from nfvbed.errors import SwitchDiedError
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside

MONITOR, MONITOR_PEER = "m0", "m1"
_MONITOR_MACS = ("02:4e:46:56:02:00", "02:4e:46:56:02:01")


class BridgeLearning(LearningTable):
    """One bridge in its namespace. The monitoring port is a veth with nothing at its peer.

    Args:
        netns: path of the bridge's namespace.
        limit: limit of the variant (`fdb_max_learned`).
    """

    def __init__(self, netns: str, bridge: str, limit: int | None) -> None:
        self.limit = limit
        self._netns = netns
        self._bridge = bridge
        inside(netns, lambda: links.remove([MONITOR]))
        inside(netns, self._add_monitor)

    def _add_monitor(self) -> None:
        links.add_veth(MONITOR, MONITOR_PEER, _MONITOR_MACS)
        links.silence_ipv6((MONITOR, MONITOR_PEER))
        links.set_up((MONITOR, MONITOR_PEER))
        with IPRoute() as route:
            port = route.link_lookup(ifname=MONITOR)[0]
            route.link("set", index=port, master=route.link_lookup(ifname=self._bridge)[0])
            route.brport("set", index=port, learning=0)

    def forget(self) -> None:
        """Remove the learnt addresses; static entries stay."""
        inside(self._netns, lambda: links.forget_learnt(self._bridge))

    def learnt(self) -> int | None:
        """Return how many addresses the kernel says that the bridge has learnt (6.7 or later)."""
        return inside(self._netns, lambda: links.learnt_addresses(self._bridge)[0])

    def flooded(self) -> int:
        """Return the frames that the bridge sent, or wanted to send, to the monitoring port."""
        counted = inside(self._netns, lambda: links.counters(MONITOR))
        if counted is None:
            raise SwitchDiedError("the monitoring port is gone", where=self._netns, fix="see who removed it")
        return counted.tx_packets + counted.tx_dropped

    def close(self) -> None:
        """Remove the monitoring port, whose peer goes with it."""
        inside(self._netns, lambda: links.remove([MONITOR]))
        self.forget()
