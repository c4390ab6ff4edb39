"""Which data planes carry VNFs that read and write whole Ethernet frames, as stored tests show it.

The generator's frames have complete checksums and come through either way. A stack's do not where offloads leave the
checksum to a link: a raw-Ethernet VNF sends them on broken, and the receiver drops them in silence. So there are three
kinds of evidence: sockets that talked through such a VNF, links that leave no checksum out, and the trap itself.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from nfvbed.compare.recommendation.candidates import ExaminedRun, is_raw
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.records import QualityWarning, Record, Status
from nfvbed.records.results import ResultKind, ResultRecord
from nfvbed.records.words import CHECKSUM_TRAP

BY_SOCKETS: Final = (
    ResultKind.TCP_THROUGHPUT,
    ResultKind.UDP_THROUGHPUT,
    ResultKind.REQUEST_RESPONSE,
    ResultKind.SOCKET_LATENCY,
)


class RawEthernetEvidence(StrEnum):
    """What a stored test shows of a raw-Ethernet VNF on a data plane."""

    PROVEN = "proven"
    """Sockets talked through it: a stack's frames arrive."""
    FRAMES = "frames"
    """The generator's frames arrive, and no link on the way leaves a checksum out."""
    TRAP = "checksum-trap"
    """The generator's frames arrive; a stack's would be, or were, lost."""
    NOT = "not-carried"
    """No frame came through, or it could not be set up."""


class Carrier(Record):
    """One variant with one raw-Ethernet VNF."""

    variant: str
    vnf: str
    """Label of the VNF."""
    vnf_resolved: str = ""
    """What the label stands for on the variant."""
    carries: RawEthernetEvidence
    detail: str
    run: str
    cell: str
    by_sockets: bool = False
    """Whether sockets tried; else it is from the links' settings."""
    emulated: bool = False
    """Whether its guests were emulated: that frames come through holds, and no rate does."""


def find_carriers(runs: Sequence[ExaminedRun]) -> tuple[Carrier, ...]:
    """Return what the newest run that tells it says of each variant and raw-Ethernet VNF; sockets tell most.

    Args:
        runs: those of one host, the newest first.
    """
    found: dict[tuple[str, str], Carrier] = {}
    for run in runs:
        for row in run.rows:
            if row.simulated or not is_raw(row, run.data.rigs):
                continue
            seen = _carrier(row, [result for result in run.data.results if result.cell == row.cell])
            if seen is not None and _tells_more(seen, found.get((seen.variant, seen.vnf))):
                found[seen.variant, seen.vnf] = seen
    order = list(RawEthernetEvidence)
    return tuple(sorted(found.values(), key=lambda carrier: (order.index(carrier.carries), carrier.variant)))


def _tells_more(seen: Carrier, known: Carrier | None) -> bool:
    return known is None or (seen.by_sockets and not known.by_sockets)


def _carrier(row: CellSummary, results: Sequence[ResultRecord]) -> Carrier | None:
    """Return what a row shows; None where nothing was tried."""
    of_sockets = _by_results(results)
    if of_sockets is None and row.mrr is None and row.status not in (Status.FAILED, Status.UNSUPPORTED):
        return None
    carries, detail = of_sockets or _by_row(row)
    return Carrier(
        variant=row.variant,
        vnf=row.vnf,
        vnf_resolved=row.vnf_resolved,
        carries=carries,
        detail=detail,
        run=row.run,
        cell=row.cell,
        by_sockets=of_sockets is not None,
        emulated=row.emulated,
    )


def _by_results(results: Iterable[ResultRecord]) -> tuple[RawEthernetEvidence, str] | None:
    of_sockets = [result for result in results if result.kind in BY_SOCKETS]
    if any(result.status is Status.OK for result in of_sockets):
        names = dict.fromkeys(result.kind.value for result in of_sockets if result.status is Status.OK)
        return RawEthernetEvidence.PROVEN, f"sockets talked through it ({', '.join(names)})"
    if any(CHECKSUM_TRAP in result.reason for result in of_sockets):
        return RawEthernetEvidence.TRAP, "a stack's frames were lost: a VNF without `offloads: false`"
    return None


def _by_row(row: CellSummary) -> tuple[RawEthernetEvidence, str]:
    if row.mrr is None:
        return RawEthernetEvidence.NOT, f"{row.status.value}: {row.reason}" if row.reason else row.status.value
    if any(entry.kind is QualityWarning.OFFLOADS_ON for entry in row.warnings):
        return RawEthernetEvidence.TRAP, "frames come through, and links leave checksums out: a stack's would be lost"
    if not row.mrr.median_pps:
        return RawEthernetEvidence.NOT, "no frame came through"
    return RawEthernetEvidence.FRAMES, "frames come through, no link leaves a checksum out; no sockets tried"
