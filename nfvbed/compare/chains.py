"""Chains: how the rate falls with the number of VNFs, and the longest that holds a share of a shorter path's rate.

The share is a half, and the path that of one VNF, unless another one is asked for: then it may also be the path without
any VNF (`p2p`), over the same kind of ports in the same run.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from pydantic import Field

from nfvbed.compare.differences.limits import share_of
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.samples.statistics import Interval
from nfvbed.records import QualityWarning, Record
from nfvbed.spec.layout import chain_length
from nfvbed.units import FrameSize

HALF: Final = 0.5
P2P: Final = "p2p"


class ShareReference(StrEnum):
    """The path whose rate a chain's is a share of."""

    ONE_VNF = "one-vnf"
    P2P = "p2p"


class ShareRequirement(Record):
    """The part of a shorter path's rate that a chain is asked to hold."""

    share: float = Field(HALF, gt=0, le=1)
    """Part of the rate of a shorter path."""
    of: ShareReference = ShareReference.ONE_VNF


class ShareJudgement(StrEnum):
    """Whether a chain holds the share that is asked for, judged by the interval of the ratio of medians."""

    HOLDS = "holds"
    """The whole interval is at or above the share."""
    DOES_NOT = "does-not"
    """The whole interval is below the share."""
    UNDECIDED = "undecided"


class Link(Record):
    """A chain of one length."""

    length: int
    """VNFs behind each other."""
    cell: str
    rate_pps: float
    interval: Interval | None
    ratio: float
    """To the chain of one VNF, or to p2p; paired by round."""
    ratio_interval: Interval | None
    holding: ShareJudgement
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
    """Length of the longest chain that holds the share; 0: none is shown to."""
    undecided: tuple[int, ...]
    """Longer ones of which it is not decided."""
    hold: ShareRequirement = ShareRequirement()
    """What it was asked to hold."""
    whole_pps: float
    """The rate that a share of is asked for: the one-VNF chain's, or that of p2p."""

    @property
    def exhausted(self) -> bool:
        """Whether a longer chain was measured that does not hold: else the longest may be longer still."""
        return any(link.length > self.longest and link.holding is ShareJudgement.DOES_NOT for link in self.links)


def find_chains(rows: Sequence[CellSummary], hold: ShareRequirement | None = None) -> tuple[Chain, ...]:
    """Return the chains among rows; one of a single length, or without its chain of one VNF, is none.

    Args:
        rows: those of one or several runs.
        hold: what a chain is asked to hold; None: half of the one-VNF rate. Where it is a part of the p2p rate, chains
            without that are left out.
    """
    hold = hold or ShareRequirement()
    groups: dict[tuple[object, ...], dict[int, CellSummary]] = {}
    direct: dict[tuple[object, ...], CellSummary] = {}
    for row in rows:
        if row.mrr is None or row.unranked:
            continue
        if row.topology == P2P:
            direct.setdefault((*_setting(row), row.port_kind), row)
        length = chain_length(row.topology)
        if length is not None:
            # pvp and pv1p are one path by two names: the first one is taken.
            groups.setdefault((row.vnf, *_setting(row)), {}).setdefault(length, row)
    chains = []
    for by_length in groups.values():
        ordered = [by_length[length] for length in sorted(by_length)]
        whole = (
            ordered[0]
            if hold.of is ShareReference.ONE_VNF
            else direct.get((*_setting(ordered[0]), ordered[0].port_kind))
        )
        chains.append(_chain(ordered, whole, hold) if whole is not None else None)
    return tuple(chain for chain in chains if chain is not None)


def _setting(row: CellSummary) -> tuple[object, ...]:
    return row.run, row.variant, row.frame_size, row.flows, row.bidirectional, row.placement_class


def _chain(rows: Sequence[CellSummary], whole: CellSummary, hold: ShareRequirement) -> Chain | None:
    one = rows[0]
    if len(rows) < 2 or chain_length(one.topology) != 1 or whole.mrr is None or whole.mrr.median_pps <= 0:
        return None
    links = tuple(_links(whole, rows, hold))
    longest = max((link.length for link in links if link.holding is ShareJudgement.HOLDS), default=0)
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
        undecided=tuple(
            link.length for link in links if link.length > longest and link.holding is ShareJudgement.UNDECIDED
        ),
        hold=hold,
        whole_pps=whole.mrr.median_pps,
    )


def _links(whole: CellSummary, rows: Sequence[CellSummary], hold: ShareRequirement) -> Iterable[Link]:
    for row in rows:
        if row.mrr is None or whole.mrr is None:
            continue
        share = share_of(row, whole)
        ratio = row.mrr.median_pps / whole.mrr.median_pps if share is None or row is whole else share.ratio
        interval = None if share is None or row is whole else share.interval
        holding, reason = (ShareJudgement.HOLDS, "") if row is whole else _holding(row, whole, interval, hold)
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


def _holding(
    row: CellSummary, whole: CellSummary, interval: Interval | None, hold: ShareRequirement
) -> tuple[ShareJudgement, str]:
    """Return the judgement by the interval; a rate that the generator bounded is a lower bound and decides one way."""
    if interval is None:
        return ShareJudgement.UNDECIDED, "too few trials for an interval"
    # A range covers at no level; all ratios on one side are an answer all the same, and say what they are.
    by_range = "by the range of the ratios: too few trials for an interval" if interval.is_range else ""
    if interval.low >= hold.share:
        if _is_bounded_by_the_generator(whole):
            name = "one-VNF" if hold.of is ShareReference.ONE_VNF else P2P
            return ShareJudgement.UNDECIDED, f"the generator set the {name} rate, which may be higher"
        return ShareJudgement.HOLDS, by_range
    if interval.high < hold.share:
        if _is_bounded_by_the_generator(row):
            return ShareJudgement.UNDECIDED, "the generator set this rate, which may be higher"
        return ShareJudgement.DOES_NOT, by_range
    kind = "range" if interval.is_range else "interval"
    share = "a half" if hold.share == HALF else f"{hold.share:.4g}"
    return ShareJudgement.UNDECIDED, f"the {kind} {interval.low:.2f} to {interval.high:.2f} holds {share}"


def _is_bounded_by_the_generator(row: CellSummary) -> bool:
    # Ports and VNFs are the chain's own: what they bound is its rate.
    return any(limit.kind is QualityWarning.GENERATOR_LIMITED for limit in row.limits)
