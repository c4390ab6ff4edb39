"""What the page of a chain shows: the path as it is, the order that its reader is making, and what is in the way."""

from datetime import datetime
from typing import Self

from nfvbed.dashboard.problems import Problem, problem_of
from nfvbed.errors import UsageError
from nfvbed.records import Hop, Record
from nfvbed.records.chain import ChainCable, ChainReport, ChainVnf, order_of


class Step(Record):
    """A VNF in the order that is being made."""

    vnf: ChainVnf
    earlier: str | None
    """The whole order with it one place nearer to port 0; None: it is the first."""
    later: str | None


class Draft(Record):
    """The order that is being made."""

    steps: tuple[Step, ...]
    order: str
    """Names with commas."""
    changed: bool
    """Whether it differs from the path as it is."""
    problem: Problem | None = None
    """Why the order that the address asks for is none; then it is the path as it is."""

    @classmethod
    def of(cls, report: ChainReport, asked: str | None) -> Self:
        """Return the order that is asked for, or the path as it is."""
        names, problem = report.path, None
        if asked is not None:
            try:
                order = order_of(asked.split(","), [vnf.name for vnf in report.vnfs])
                names = tuple(report.vnfs[number].name for number in order)
            except UsageError as error:
                problem = problem_of(error)
        known = {vnf.name: vnf for vnf in report.vnfs}
        steps = tuple(
            Step(vnf=known[name], earlier=_moved(names, place, -1), later=_moved(names, place, 1))
            for place, name in enumerate(names)
        )
        return cls(steps=steps, order=",".join(names), changed=names != report.path, problem=problem)


class HopRow(Record):
    """A hop, and where in the path it is."""

    hop: Hop
    belongs_to: str
    """Name of the VNF that it is at; empty at the ends and within the switch."""
    drops: str


class ChainView(Record):
    """The path on a site."""

    report: ChainReport
    at: datetime
    draft: Draft
    hops: tuple[HopRow, ...]
    cables: tuple[ChainCable, ...]

    @classmethod
    def of(cls, report: ChainReport, at: datetime, asked: str | None) -> Self:
        """Return what a page shows of a path.

        Args:
            at: when it was read.
            asked: the order that the address asks for.
        """
        names = [vnf.name for vnf in report.vnfs]
        hops = tuple(
            HopRow(
                hop=hop,
                belongs_to="" if hop.vnf is None or hop.vnf >= len(names) else names[hop.vnf],
                drops=", ".join(f"{name} {count}" for name, count in hop.drops.items() if count),
            )
            for hop in report.hops
        )
        return cls(report=report, at=at, draft=Draft.of(report, asked), hops=hops, cables=report.cables)


def _moved(names: tuple[str, ...], place: int, by: int) -> str | None:
    """Return the order with one name moved by a place; None where it would leave the path."""
    if not 0 <= place + by < len(names):
        return None
    other = list(names)
    other[place], other[place + by] = other[place + by], other[place]
    return ",".join(other)
