"""What the doctor is told of Open vSwitch's programs."""

from pathlib import Path

from nfvbed.dataplanes.ovs.probe import probe_ovs
from nfvbed.host.probes.host import Host
from nfvbed.records.findings import Finding


def findings(host: Host, root: Path) -> dict[str, Finding]:
    """Return what was found, by its name in the report.

    Args:
        host: that is looked at.
        root: the folder with nfvbed's data and what it has unpacked.
    """
    return {"ovs": probe_ovs(root)}
