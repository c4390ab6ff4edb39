"""What the doctor reports of Open vSwitch's programs."""

from pathlib import Path

from nfvbed.dataplanes.ovs.probe import probe_ovs
from nfvbed.host.probes.host import Host
from nfvbed.records.findings import Finding


def findings(host: Host, root: Path) -> dict[str, Finding]:
    """Return the findings, by their names in the report.

    Args:
        root: the folder with nfvbed's data and what it has unpacked.
    """
    return {"ovs": probe_ovs(root)}
