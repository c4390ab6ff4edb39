"""Rows of docs/evidence/hardware.md: what a bundle shows of data planes on the ports of real NICs."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from nfvbed.bundle.statement import digest_of
from nfvbed.characters import shown
from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.records import PortKind, QualityWarning
from nfvbed.records.trial import PORTS
from nfvbed.store.transfer import RunDocument

HEAD: Final = (
    "| NICs (vendor:device) | line rate | CPU | data plane | path | frames | rate, frames/s | wire-limited | date "
    "| bundle (SHA-256) |"
)
_ON_NICS: Final = (PortKind.PCI, PortKind.VF)
_MODEL: Final = re.compile(r"[0-9a-f]{4}:[0-9a-f]{4}$")


def rows_of(document: RunDocument, comparison: Comparison, content: bytes) -> list[str]:
    """Return a row for each cell of a run that was measured on the ports of NICs; none: there was no such cell."""
    measured = [row for row in comparison.rows if row.port_kind in _ON_NICS and row.mrr is not None]
    return [_row(row, document, digest_of(content)) for row in measured]


def _row(row: CellSummary, document: RunDocument, digest: str) -> str:
    host = _value(document, document.run.host_hash)
    cpu = host.get("cpu", {}).get("model name", "not known") if isinstance(host.get("cpu"), dict) else "not known"
    limited = any(limit.kind is QualityWarning.WIRE_LIMITED for limit in row.limits)
    columns = (
        ", ".join(_models(_value(document, row.rig_hash))) or "not recorded",
        _speed(document, row),
        f"{cpu}, kernel {host.get('kernel', 'not known')}",
        row.variant,
        f"{row.topology}{f' {row.vnf}' if row.vnf else ''}",
        f"{row.frame_size} B",
        _rate(row),
        "yes" if limited else "no",
        document.run.started_at[:10],
        digest,
    )
    return f"| {' | '.join(shown(column).replace('|', '/') for column in columns)} |"


def _rate(row: CellSummary) -> str:
    if row.mrr is None:
        return "not measured"
    between = row.mrr.interval
    return f"{row.mrr.median_pps:,.0f}" + (f" ({between.low:,.0f} to {between.high:,.0f})" if between else "")


def _value(document: RunDocument, digest: str) -> Mapping[str, Any]:
    blob = document.blobs.get(digest)
    return blob.value if blob is not None and isinstance(blob.value, dict) else {}


def _models(rig: Mapping[str, Any]) -> list[str]:
    """Return the models of the NICs at the cables of a rig, each once, without their places on the bus."""
    cables: Iterable[Any] = rig.get("cables", ())
    ends = (str(end) for cable in cables if isinstance(cable, dict) for end in cable.values())
    return list(dict.fromkeys(found[0] for end in ends if (found := _MODEL.search(end))))


def _speed(document: RunDocument, row: CellSummary) -> str:
    """Return the line rate as the generator's ports told it while this variant was deployed."""
    facts = [fact.detail for fact in document.facts if fact.step == PORTS and fact.detail.get("variant") == row.variant]
    speeds = {speed for detail in facts for speed in detail.get("speeds_mbps", ()) if isinstance(speed, int) and speed}
    return ", ".join(f"{speed:,} Mbit/s" for speed in sorted(speeds)) or "not told by the NICs"
