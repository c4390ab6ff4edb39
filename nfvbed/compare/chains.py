"""Chains: how the rate falls with the number of VNFs, and the longest chain that holds half of what one VNF does."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from nfvbed.compare.limits import share_of
from nfvbed.compare.statistics import Interval
from nfvbed.compare.summary import CellSummary
from nfvbed.records import QualityWarning, Record
from nfvbed.spec.layout import chain_length
from nfvbed.units import FrameSize

HALF: Final = 0.5


class Holding(StrEnum):
    """Whether a chain holds half of the rate of one VNF, judged by the interval of the ratio of medians."""

    HOLDS = "holds"
    """The whole interval is at or above a half."""
    DOES_NOT = "does-not"
    """The whole interval is below a half."""
    UNDECIDED = "undecided"


class Link(Record):
    """A chain of one length."""

    length: int
    """VNFs behind each other."""
    cell: str
    rate_pps: float
    interval: Interval | None
    ratio: float
    """To the chain of one VNF, paired by round."""
    ratio_interval: Interval | None
    holding: Holding
    reason: str = ""
    limited: bool = False


class Chain(Record):
    """One variant with one kind of VNF, by length; same run, class and traffic."""

    run: str
    variant: str
    vnf: str
    vnf_resolved: str
    frame_size: FrameSize
    flows: int
    bidirectional: bool
    placement_class: str
    links: tuple[Link, ...]
    """By length; the first has length 1."""
    longest: int
    """Length of the longest chain that holds half of the one-VNF rate."""
    undecided: tuple[int, ...]
    """Longer ones of which it is not decided."""

    @property
    def exhausted(self) -> bool:
        """Whether a longer chain was measured that does not hold: else the longest may be longer still."""
        return any(link.length > self.longest and link.holding is Holding.DOES_NOT for link in self.links)


def find_chains(rows: Sequence[CellSummary]) -> tuple[Chain, ...]:
    """Find the chains among rows; one of a single length, or without its chain of one VNF, is none."""
    groups: dict[tuple[object, ...], dict[int, CellSummary]] = {}
    for row in rows:
        length = chain_length(row.topology)
        if length is None or row.mrr is None or row.emulated:
            continue
        key = row.run, row.variant, row.vnf, row.frame_size, row.flows, row.bidirectional, row.placement_class
        # pvp and pv1p are one path by two names: the first one is taken.
        groups.setdefault(key, {}).setdefault(length, row)
    chains = (_chain([by_length[length] for length in sorted(by_length)]) for by_length in groups.values())
    return tuple(chain for chain in chains if chain is not None)


def _chain(rows: Sequence[CellSummary]) -> Chain | None:
    one = rows[0]
    if len(rows) < 2 or chain_length(one.topology) != 1 or one.mrr is None or one.mrr.median_pps <= 0:
        return None
    links = tuple(_links(one, rows))
    longest = max(link.length for link in links if link.holding is Holding.HOLDS)
    return Chain(
        run=one.run,
        variant=one.variant,
        vnf=one.vnf,
        vnf_resolved=one.vnf_resolved,
        frame_size=one.frame_size,
        flows=one.flows,
        bidirectional=one.bidirectional,
        placement_class=one.placement_class,
        links=links,
        longest=longest,
        undecided=tuple(link.length for link in links if link.length > longest and link.holding is Holding.UNDECIDED),
    )


def _links(one: CellSummary, rows: Sequence[CellSummary]) -> Iterable[Link]:
    for row in rows:
        if row.mrr is None or one.mrr is None:
            continue
        share = share_of(row, one)
        ratio = row.mrr.median_pps / one.mrr.median_pps if share is None or row is one else share.ratio
        interval = None if share is None or row is one else share.interval
        holding, reason = (Holding.HOLDS, "") if row is one else _holding(row, one, interval)
        yield Link(
            length=chain_length(row.topology) or 0,
            cell=row.cell,
            rate_pps=row.mrr.median_pps,
            interval=row.mrr.interval,
            ratio=ratio,
            ratio_interval=interval,
            holding=holding,
            reason=reason,
            limited=row.limited,
        )


def _holding(row: CellSummary, one: CellSummary, interval: Interval | None) -> tuple[Holding, str]:
    """Judge by the interval; a rate that the generator bounded is a lower bound and decides one way only."""
    if interval is None:
        return Holding.UNDECIDED, "too few trials for an interval"
    # A range covers at no level; all ratios on one side are an answer all the same, and say what they are.
    by_range = "by the range of the ratios: too few trials for an interval" if interval.is_range else ""
    if interval.low >= HALF:
        if _is_bounded_by_the_generator(one):
            return Holding.UNDECIDED, "the generator set the one-VNF rate, which may be higher"
        return Holding.HOLDS, by_range
    if interval.high < HALF:
        if _is_bounded_by_the_generator(row):
            return Holding.UNDECIDED, "the generator set this rate, which may be higher"
        return Holding.DOES_NOT, by_range
    kind = "range" if interval.is_range else "interval"
    return Holding.UNDECIDED, f"the {kind} {interval.low:.2f} to {interval.high:.2f} holds a half"


def _is_bounded_by_the_generator(row: CellSummary) -> bool:
    # Ports and VNFs are the chain's own: what they bound is its rate.
    return any(limit.kind is QualityWarning.GENERATOR_LIMITED for limit in row.limits)
