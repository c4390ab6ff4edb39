"""The addresses that Open vSwitch's action NORMAL learns, and a monitoring port on its bridge."""

import re
from pathlib import Path

from nfvbed.dataplanes.ovs import unixctl
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.database import PortRequest, SwitchDatabase
from nfvbed.dataplanes.ovs.state import OvsState
from nfvbed.dataplanes.tables import LearningTable
from nfvbed.errors import DeployError
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside

MONITOR = "nfvmon"
MONITOR_NUMBER = 250
"""Beyond the ports of the longest chain."""

_IN_TABLE = re.compile(r"MAC entries in the table: (\d+)/(\d+)")


class OvsLearning(LearningTable):
    """One bridge. The monitoring port is an internal port, up, at which nothing listens.

    A vhost-user port without a peer would not do: frames are flooded only to ports with a carrier.
    """

    def __init__(self, state: OvsState) -> None:
        self._state = state
        self._bridge = state.bridge
        with self._database() as database:
            database.remove_port(self._bridge, MONITOR)
            database.add_port(self._bridge, PortRequest(MONITOR, "internal", MONITOR_NUMBER))
        inside(state.netns, _listen)
        self.limit = self._in_table()[1]

    def forget(self) -> None:
        """Remove the learnt addresses, and what the datapath has cached of them."""
        self._command("fdb/flush", self._bridge)
        self._command("revalidator/purge")

    def learnt(self) -> int | None:
        """Return how many addresses the switch says that it has learnt."""
        return self._in_table()[0]

    def flooded(self) -> int:
        """Return the frames that the bridge sent, or wanted to send, to the monitoring port."""
        with BridgeController(Path(self._state.openflow)) as connection:
            port = connection.ports()[MONITOR_NUMBER]
        return (port.tx_packets or 0) + (port.tx_dropped or 0)

    def close(self) -> None:
        """Remove the monitoring port."""
        with self._database() as database:
            database.remove_port(self._bridge, MONITOR)
        self.forget()

    def _in_table(self) -> tuple[int, int]:
        return in_table(self._command("fdb/stats-show", self._bridge))

    def _command(self, name: str, *arguments: str) -> str:
        return unixctl.command(Path(self._state.unixctl), name, *arguments)

    def _database(self) -> SwitchDatabase:
        return SwitchDatabase(Path(self._state.database))


def in_table(text: str) -> tuple[int, int]:
    """Read from `fdb/stats-show` how many addresses a bridge holds, and how many it can.

    Raises:
        DeployError: the switch does not say.
    """
    found = _IN_TABLE.search(text)
    if found is None:
        raise DeployError("Open vSwitch does not say how many addresses it holds", observed=text[:200])
    return int(found[1]), int(found[2])


def _listen() -> None:
    links.silence_ipv6()
    links.silence_ipv6((MONITOR,))
    links.set_up((MONITOR,))
