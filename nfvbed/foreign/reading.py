"""Reads results of other tools, whichever it is."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nfvbed.foreign import csit, nfvbench
from nfvbed.foreign.documents import read_document, refused
from nfvbed.foreign.records import ForeignResult, Tool
from nfvbed.spec.textfile import read_beginning, read_bytes
from nfvbed.vsperf.conf import VsperfResult
from nfvbed.vsperf.conf.results import MOST_BYTES, read_results

_BEGINNINGS: Final = (b"{", b"[")
"""Beginnings of JSON documents, after space and a byte order mark."""
_RECEIVED: Final = "throughput_rx_fps"


def read_foreign(path: Path) -> tuple[ForeignResult, ...]:
    """Return the numbers of a file that CSIT, NFVbench or VSPERF wrote.

    Raises:
        ConfigurationError: it is not there, or none of these wrote it.
    """
    if not read_beginning(path, 4096).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_BEGINNINGS):
        return tuple(_of_vsperf(path))
    document, sha256 = read_document(path)
    for known, results_of in ((csit.is_uti, csit.results_of), (nfvbench.is_nfvbench, nfvbench.results_of)):
        if known(document):
            return results_of(document, path, sha256)
    keys = ", ".join(list(document)[:6]) if isinstance(document, dict) else type(document).__name__
    raise refused(str(path), f"a JSON document that neither CSIT nor NFVbench writes: {keys}")


def _of_vsperf(path: Path) -> Iterator[ForeignResult]:
    lines, sha256 = read_results(path), hashlib.sha256(read_bytes(path, most=MOST_BYTES)).hexdigest()
    for line in lines:
        if _RECEIVED in line.numbers:
            yield ForeignResult(
                tool=Tool.VSPERF,
                tool_version="",
                file=str(path),
                sha256=sha256,
                place=f"line {line.line}",
                test=line.test or line.type,
                system=", ".join(filter(None, (line.deployment, line.vswitch))),
                measured_at=line.started_at.isoformat(sep=" ") if line.started_at else "",
                frame_size=str(line.packet_size_bytes),
                quantity=f"received, {line.type}",
                value=line.numbers[_RECEIVED],
                unit="frames/s",
                remark=_remark(line),
            )


def _remark(line: VsperfResult) -> str:
    said = {"frame_loss_percent": "loss {:g} %", "tx_rate_fps": "sent {:g} frames/s"}
    return "; ".join(form.format(line.numbers[name]) for name, form in said.items() if name in line.numbers)
