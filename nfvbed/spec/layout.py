"""Topologies by name: what lies on the path from outside end 0 to outside end 1, and which ports the switch joins.

Names are those of ETSI TST 009 and VSPERF: `p2p` (Phy2Phy), `pvp`, `pvvp`, chains `pv1p` to `pv10p`, parallel `pvpv`,
`pvpv4`, `pvpv8`, `v2v`, `p2v`, `v2p`, and `pcp` (a container between the ports). `vepc` is laid out as pvp: its VNF is
a mobile core, its outside ends the eNB's end of S1-U and the server behind SGi.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator

MAX_CHAIN = 10
CHAINS = "pvNp"
"""In a variant's file: chains of every length."""

VEPC = "vepc"
"""The topology whose VNF is a mobile core."""
PARALLEL = "pvpv"
"""In a variant's file: two, four and eight VNFs side by side."""
SIDE_BY_SIDE = {1: "pvp", 2: PARALLEL, 4: "pvpv4", 8: "pvpv8"}
"""The topologies in which so many VNFs share the flows; rules share them out by bits, so it is a power of two."""

_CHAIN = re.compile(r"pv([1-9][0-9]?)p")


class EndKind(StrEnum):
    """The thing at an end of the path."""

    GENERATOR = "generator"
    """A port of the traffic generator, outside the switch."""
    SOURCE = "source"
    """A VNF that sends."""
    SINK = "sink"
    """A VNF that receives."""


@dataclass(frozen=True, order=True)
class End:
    """One end of a cable: port 0 or 1 of a VNF (by its place, from 0), or of the outside (None)."""

    vnf: int | None
    port: int

    @property
    def name(self) -> str:
        """The switch's port there: `p0`, `p1` lead outside, `v2a` and `v2b` to the second VNF's port 0 and 1."""
        return f"p{self.port}" if self.vnf is None else f"v{self.vnf + 1}{'ab'[self.port]}"


@dataclass(frozen=True)
class Cable:
    """Two ports that the switch joins in both directions.

    With a share (i, n) only every n-th flow belongs to it: those whose number leaves the rest i.
    """

    first: End
    second: End
    share: tuple[int, int] | None = None


@dataclass(frozen=True)
class Layout:
    """A topology laid out."""

    name: str
    vnfs: int
    cables: tuple[Cable, ...]
    ends: tuple[EndKind, EndKind] = (EndKind.GENERATOR, EndKind.GENERATOR)

    @property
    def outside(self) -> tuple[int, ...]:
        """The generator's ports that it has: both, one (`p2v`: 0, `v2p`: 1) or none (`v2v`)."""
        return tuple(number for number, end in enumerate(self.ends) if end is EndKind.GENERATOR)

    @property
    def ways(self) -> int:
        """How many VNFs are side by side, each with a share of the flows; 1 where all flows go one way."""
        return max((cable.share[1] for cable in self.cables if cable.share), default=1)

    @property
    def one_way(self) -> bool:
        """Whether traffic can only go from end 0 to end 1."""
        return self.outside != (0, 1)

    @property
    def switch_ends(self) -> tuple[End, ...]:
        """The ends of the cables in the order of the path: outside end 0, the VNFs', outside end 1."""
        ends = {end for cable in self.cables for end in (cable.first, cable.second)}
        last, place = End(None, 1), {vnf: number for number, vnf in enumerate(self.order)}
        return tuple(
            sorted(ends, key=lambda end: (end == last, end.vnf is not None, place.get(end.vnf or 0, 0), end.port))
        )

    @property
    def order(self) -> tuple[int, ...]:
        """The VNFs in the order of the path; those side by side as they are numbered."""
        met = (end.vnf for cable in self.cables for end in (cable.first, cable.second))
        return tuple(dict.fromkeys(vnf for vnf in met if vnf is not None))

    def in_order(self, order: tuple[int, ...]) -> "Layout":
        """Return this chain with its VNFs in another order; each keeps its number, its ports and their direction.

        Args:
            order: the VNFs, from outside end 0 to outside end 1; empty: as they are numbered.

        Raises:
            ValueError: it is no chain, or the order does not name each of its VNFs once.
        """
        if not order:
            return self
        if self.ways > 1 or self.one_way or sorted(order) != list(range(self.vnfs)):
            raise ValueError(f"{order} is no order of the VNFs of {self.name}")
        return _chain(self.name, order)

    def ports_of(self, vnf: int) -> tuple[int, ...]:
        """Return the ports of a VNF in the switch: two, or one where it is an end."""
        ends = {end for cable in self.cables for end in (cable.first, cable.second)}
        return tuple(sorted(end.port for end in ends if end.vnf == vnf))


@lru_cache(maxsize=64)
def layout(name: str) -> Layout:
    """Return the layout of a topology.

    Raises:
        ValueError: there is none of that name; the message lists what there is.
    """
    outside = (End(None, 0), End(None, 1))
    chain = _CHAIN.fullmatch(name)
    if chain and int(chain[1]) <= MAX_CHAIN:
        return _chain(name, range(int(chain[1])))
    lengths = {"p2p": 0, "pvp": 1, "pvvp": 2, "pcp": 1, VEPC: 1}
    if name in lengths:
        return _chain(name, range(lengths[name]))
    if is_parallel(name):
        count = next(vnfs for vnfs, known in SIDE_BY_SIDE.items() if known == name)
        cables = [
            Cable(*pair, share=(vnf, count))
            for vnf in range(count)
            for pair in ((outside[0], End(vnf, 0)), (End(vnf, 1), outside[1]))
        ]
        return Layout(name, count, tuple(cables))
    if name == "p2v":
        return Layout(name, 1, (Cable(outside[0], End(0, 0)),), (EndKind.GENERATOR, EndKind.SINK))
    if name == "v2p":
        return Layout(name, 1, (Cable(End(0, 0), outside[1]),), (EndKind.SOURCE, EndKind.GENERATOR))
    if name == "v2v":
        return Layout(name, 2, (Cable(End(0, 0), End(1, 0)),), (EndKind.SOURCE, EndKind.SINK))
    raise ValueError(
        f"unknown topology {name!r}: there are p2p, pvp, pvvp, pv1p to pv{MAX_CHAIN}p, pvpv, pvpv4, pvpv8, v2v, p2v,"
        " v2p, pcp, vepc"
    )


def _chain(name: str, order: Sequence[int]) -> Layout:
    inner = [(End(vnf, 0), End(vnf, 1)) for vnf in order]
    path = [End(None, 0), *(end for pair in inner for end in pair), End(None, 1)]
    cables = tuple(Cable(path[index], path[index + 1]) for index in range(0, len(path), 2))
    return Layout(name, len(order), cables)


def chain_length(name: str) -> int | None:
    """Return the VNFs that follow each other between two generator ports (`pvp`: 1); None for what is no chain."""
    chain = _CHAIN.fullmatch(name)
    return int(chain[1]) if chain else {"pvp": 1, "pvvp": 2}.get(name)


def chains(longest: int = MAX_CHAIN) -> tuple[str, ...]:
    """Return the names of the chains of one VNF to so many: `pv1p`, `pv2p`, ..."""
    return tuple(f"pv{length}p" for length in range(1, longest + 1))


def without_chains(topologies: Iterable[str]) -> tuple[str, ...]:
    """Return what a variant lists beside chains of every length: each has one layout."""
    return tuple(name for name in topologies if name != CHAINS)


def offers(topologies: tuple[str, ...], name: str) -> bool:
    """Return whether a variant that lists these topologies has that one.

    `pvNp` stands for chains of every length, `pvpv` for every number of VNFs side by side.
    """
    return name in topologies or family_of(name) in topologies


def each_of(topologies: tuple[str, ...]) -> tuple[str, ...]:
    """Return the topologies that a variant lists, with all of a family in the place of its name; each once."""
    families = {CHAINS: chains(), PARALLEL: tuple(name for name in SIDE_BY_SIDE.values() if is_parallel(name))}
    return tuple(dict.fromkeys(name for listed in topologies for name in families.get(listed, (listed,))))


def is_chain(name: str) -> bool:
    """Return whether this is a chain of VNFs of some length."""
    return _CHAIN.fullmatch(name) is not None


def is_parallel(name: str) -> bool:
    """Return whether this is several VNFs side by side."""
    return name in SIDE_BY_SIDE.values() and name != SIDE_BY_SIDE[1]


def family_of(name: str) -> str:
    """Return the name that a variant's file has for topologies like this one: `pvNp`, `pvpv`, else its own."""
    if is_chain(name):
        return CHAINS
    return PARALLEL if is_parallel(name) else name


def _known(name: str) -> str:
    layout(name)
    return name


def _known_or_chains(name: str) -> str:
    return name if name == CHAINS else _known(name)


Topology = Annotated[str, AfterValidator(_known)]
OfferedTopology = Annotated[str, AfterValidator(_known_or_chains)]
