"""The addresses that a bridge domain of VPP learns, and a monitoring port in it."""

import re
from pathlib import Path

from nfvbed.dataplanes.tables import LearningTable
from nfvbed.dataplanes.vpp import interfaces
from nfvbed.dataplanes.vpp.instance import VppInstance
from nfvbed.dataplanes.vpp.interfaces import FIRST_DOMAIN, Interface
from nfvbed.dataplanes.vpp.state import VppState
from nfvbed.dataplanes.vpp.statistics import Statistics, interface_counters
from nfvbed.errors import DeployError
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.records import Deployment, PortKind

MONITOR, MONITOR_PEER = "m0", "m1"
_MONITOR_MACS = ("02:4e:46:56:03:00", "02:4e:46:56:03:01")
_IN_TABLE = re.compile(r"L2FIB total/learned entries: \d+/(\d+)")


class VppLearning(LearningTable):
    """The one bridge domain of a VPP, port to port. The monitoring port is a packet socket on a veth without a reader.

    Args:
        deployment: a vpp whose ports are joined by a bridge domain.
        limit: limit of learnt addresses, of the variant (`mac_table_size`).
    """

    def __init__(self, deployment: Deployment, limit: int | None) -> None:
        self.limit = limit
        state = VppState.of(deployment)
        self._netns = state.netns
        self._instance = VppInstance.of(deployment)
        self._api = self._instance.connect().open()
        self._statistics = Statistics(Path(state.statistics))
        try:
            inside(self._netns, _add_monitor)
            monitor = Interface(name=MONITOR, kind=PortKind.VETH, address=MONITOR)
            self._number = interfaces.add_listener(self._api, monitor, FIRST_DOMAIN)
        except BaseException:
            self._release()
            raise

    def forget(self) -> None:
        """Remove the learnt addresses."""
        self._api.call("l2fib_flush_bd", bd_id=FIRST_DOMAIN)

    def learnt(self) -> int | None:
        """Return how many addresses VPP says that it has learnt."""
        text = self._api.command("show l2fib")
        found = _IN_TABLE.search(text)
        if found is None:
            raise DeployError("VPP does not say how many addresses it holds", observed=text[:200])
        return int(found[1])

    def flooded(self) -> int:
        """Return the frames that the domain sent to the monitoring port."""
        self._instance.check()
        counted = interface_counters(self._statistics.read(), self._number)
        return counted.tx_packets + counted.drops.get("tx_error", 0)

    def close(self) -> None:
        """Remove the monitoring port and its veth."""
        try:
            interfaces.remove_kernel_port(self._api, MONITOR)
            self.forget()
        finally:
            self._release()

    def _release(self) -> None:
        self._api.close()
        self._statistics.close()
        inside(self._netns, lambda: links.remove([MONITOR]))


def _add_monitor() -> None:
    links.remove([MONITOR])
    links.add_veth(MONITOR, MONITOR_PEER, _MONITOR_MACS)
    links.silence_ipv6((MONITOR, MONITOR_PEER))
    links.set_up((MONITOR, MONITOR_PEER))
