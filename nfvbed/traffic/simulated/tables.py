"""The tables of a simulated system: a cache of flows, entries that cost time, and addresses that it learns."""

import math
from dataclasses import dataclass

from nfvbed.traffic.simulated.options import SimulatedOptions

TEST_PORT_ADDRESSES = 1
"""The port that asks for addresses is learnt too."""


@dataclass(frozen=True)
class Burst:
    """Frames of one direction whose addresses move with the flow."""

    flows: int
    sent: int
    lost: int
    rate_pps: float


class SimulatedTables:
    """The forwarding tables of one simulated system."""

    def __init__(self, options: SimulatedOptions) -> None:
        self._options = options
        self.entries = 1
        """Entries that every frame is looked up in."""
        self.learnt = 0
        self.flooded = 0
        """Frames that the monitoring port was sent, cumulative."""

    def capacity_share(self, flows: int) -> float:
        """Return the share of capacity that is left with so many flows, and the present entries.

        A flow that the cache does not hold costs `flow_miss_cost` crossings more; ten times the entries cost
        `entry_cost` crossings more.
        """
        options = self._options
        misses = 0.0 if options.flow_cache is None else max(0.0, 1 - options.flow_cache / flows)
        return 1 / (1 + options.flow_miss_cost * misses + options.entry_cost * math.log10(self.entries))

    def learn(self, burst: Burst) -> None:
        """Learn addresses: above the learning rate the rest is missed; a full table takes none."""
        options, new = self._options, max(0, min(burst.flows, burst.sent) - burst.lost)
        if options.learning_rate_pps is not None and burst.rate_pps > options.learning_rate_pps:
            new = int(new * options.learning_rate_pps / burst.rate_pps)
        room = math.inf if options.mac_table_size is None else options.mac_table_size - TEST_PORT_ADDRESSES
        self.learnt = int(min(room, max(self.learnt, new)))

    def ask(self, burst: Burst) -> None:
        """Look addresses up: frames to unknown ones are flooded."""
        self.flooded += max(0, min(burst.flows, burst.sent) - self.learnt)
