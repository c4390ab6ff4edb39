"""What the doctor reports of the kernel's datapath."""

from pathlib import Path

from nfvbed.dataplanes.ovs.kernel.probe import probe_openvswitch
from nfvbed.host.probes.host import Host
from nfvbed.records.findings import Finding


def findings(host: Host, root: Path) -> dict[str, Finding]:
    """Return the findings, by their names in the report.

    Args:
        root: the folder with nfvbed's data and what it has unpacked.
    """
    return {"openvswitch": probe_openvswitch(host)}
