"""Traffic that would change the answer: where the order of variants is another one."""

from collections.abc import Iterable, Sequence
from typing import Final

from nfvbed.compare.recommendation.candidates import ExaminedRun
from nfvbed.compare.recommendation.rankings import Ranking
from nfvbed.compare.samples.statistics import median
from nfvbed.records import Record, Status
from nfvbed.records.results import ResultKind, TablePayload
from nfvbed.spec.layout import chain_length

RATE: Final = "rate"
"""Name of the quantity in the rows of a scaling test."""


class RankReversal(Record):
    """A condition under which the first place is another's."""

    what: str
    """What differs from the answer's traffic point: `frame size`, `chain length`, `path`, `VNF`, `flows`, `directions`;
    several: with commas."""
    here: str
    there: str
    first: tuple[str, ...]
    """Who is in the first place there."""
    behind: tuple[str, ...]
    """Who is in the answer's first place, and behind there."""
    judged: bool = True
    """By verdicts, or ranges that do not overlap; else by medians of a test beside the maximum receive rate."""
    run: str = ""
    """The run of such a test."""


def find_flips(answer: Ranking, others: Iterable[Ranking]) -> tuple[RankReversal, ...]:
    """Return the traffic points at which a variant of a later place is ahead of one in the answer's first place.

    Args:
        others: those of the other traffic points.
    """
    found = []
    for other in others:
        behind = tuple(name for name in answer.first if _place(other, name) not in (None, 1))
        if behind:
            what, here, there = _difference(answer, other)
            found.append(RankReversal(what=what, here=here, there=there, first=other.first, behind=behind))
    return tuple(sorted(found, key=lambda flip: flip.what.count(",")))


def flips_by_flows(answer: Ranking, runs: Sequence[ExaminedRun]) -> tuple[RankReversal, ...]:
    """Return from how many flows on another variant has the higher median, in the newest run that scaled them.

    Args:
        answer: one with a single variant in its first place; else there is nothing to flip.
        runs: those of one host, the newest first.
    """
    if not answer.is_clear:
        return ()
    leader = answer.first[0]
    for run in runs:
        rates = _rates_by_flows(answer, run)
        flows = sorted({number for by_flows in rates.values() for number in by_flows})
        for number in flows if leader in rates else ():
            at = {name: by_flows[number] for name, by_flows in rates.items() if number in by_flows}
            best = max(at, key=at.__getitem__)
            if leader in at and best != leader:
                there = f"{number:,}, and as far as measured"
                return (
                    RankReversal(
                        what="flows",
                        here=f"{answer.flows:,}",
                        there=there if number == flows[-1] else f"{number:,}",
                        first=(best,),
                        behind=(leader,),
                        judged=False,
                        run=run.data.run.id,
                    ),
                )
        if leader in rates and len(rates) > 1:
            return ()
    return ()


def _rates_by_flows(answer: Ranking, run: ExaminedRun) -> dict[str, dict[int, float]]:
    """Return each variant's median rate by number of flows, at the answer's path and frame size."""
    cells = {
        cell.id: cell.variant
        for cell in run.data.cells
        if (cell.topology, cell.vnf, cell.frame_size) == (answer.topology, answer.vnf, answer.frame_size)
        and cell.status is not Status.FAILED
    }
    seen: dict[str, dict[int, list[float]]] = {}
    for result in run.data.results:
        if result.kind is not ResultKind.FLOW_SCALING or result.status is not Status.OK or result.simulated:
            continue
        if result.cell not in cells or not result.payload:
            continue
        for row in TablePayload.model_validate(result.payload).rows:
            values = [entry.value for entry in row.quantities if entry.name == RATE and entry.value is not None]
            flows = row.parameters.get("flows")
            if values and isinstance(flows, int):
                seen.setdefault(cells[result.cell], {}).setdefault(flows, []).append(values[0])
    return {name: {flows: median(found) for flows, found in rates.items()} for name, rates in seen.items()}


def _place(ranking: Ranking, variant: str) -> int | None:
    return next((entry.place for entry in ranking.ranked if entry.variant == variant), None)


def _difference(answer: Ranking, other: Ranking) -> tuple[str, str, str]:
    """Return what differs between two traffic points, and how it is here and there."""
    lengths = chain_length(answer.topology), chain_length(other.topology)
    parts: list[tuple[str, str, str]] = []
    if answer.topology != other.topology:
        if None in lengths:
            parts.append(("path", answer.topology, other.topology))
        else:
            here, there = (f"{length} VNF{'s' if length != 1 else ''}" for length in lengths)
            parts.append(("chain length", here, there))
    if answer.vnf != other.vnf:
        parts.append(("VNF", answer.vnf or "none", other.vnf or "none"))
    if answer.frame_size != other.frame_size:
        parts.append(("frame size", _size(answer.frame_size), _size(other.frame_size)))
    if answer.flows != other.flows:
        parts.append(("flows", f"{answer.flows:,}", f"{other.flows:,}"))
    if answer.bidirectional != other.bidirectional:
        parts.append(("directions", _ways(answer), _ways(other)))
    what, here, there = (", ".join(part[place] for part in parts) for place in range(3))
    return what, here, there


def _ways(ranking: Ranking) -> str:
    return "both" if ranking.bidirectional else "one"


def _size(size: object) -> str:
    return "IMIX" if size == "imix" else f"{size} B"
