"""The networks that routes of a table lead to, and the frames that go to them: the same for every router.

/24 prefixes, spread over the addresses that flows go to.
"""

from collections.abc import Iterator

from nfvbed.traffic.generator import Addressing

FIRST_NETWORKS = (0x80000000, 0x10000000)
"""128.0.0.0 for frames towards the generator's port 1, 16.0.0.0 for those towards its port 0; both up to a quarter of
the address space further, in which nothing has a meaning of its own."""
GENERATOR_SOURCES = ("16.0.0.1", "128.0.0.1")
"""The generator's addresses, so that frames go to the other port's network."""
FLOWS_MOST = 16_384
"""Different destinations that frames can have: the first 16 bits of the address distinguish flows."""
PREFIX = 24
MOST = 2 * 256 * FLOWS_MOST
"""Routes whose frames can be distinguished, over both directions."""
ROUTED = Addressing(flow_address="destination-network", ipv4=GENERATOR_SOURCES)
"""Frames that go to those networks."""
NOTE = (
    f"routes are /{PREFIX} prefixes of IPv4 in one table, each direction has its half; frames go to at most"
    f" {FLOWS_MOST:,} of them in each direction, evenly spread over the table"
)


def prefixes(way: int, count: int) -> Iterator[int]:
    """Yield the networks of one direction, as numbers: first one for each flow, then the next one beside each."""
    for number in range(count):
        yield FIRST_NETWORKS[way] + (number % FLOWS_MOST << 16) + (number // FLOWS_MOST << 32 - PREFIX)


def runs(way: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield the same networks as `prefixes`, as runs of neighbours: the first network's number, and how many."""
    for flow in range(min(count, FLOWS_MOST)):
        yield FIRST_NETWORKS[way] + (flow << 16), (count - flow + FLOWS_MOST - 1) // FLOWS_MOST
