"""What the doctor reports of VPP."""

from pathlib import Path

from nfvbed.dataplanes.vpp.binaries import probe_vpp
from nfvbed.host.probes.host import Host
from nfvbed.records.findings import Finding


def findings(host: Host, root: Path) -> dict[str, Finding]:
    """Return the findings, by their names in the report.

    Args:
        root: the folder with nfvbed's data and what it has unpacked.
    """
    return {"vpp": probe_vpp()}
