"""What released Open vSwitches answered, kept by version: Debian's packages, run once each.

Ports: two of DPDK's net_null (one that receives without end), a vhost-user port with two queues of which its other side
uses one, an AF_XDP port (2.15 was built without), and a veth that the main thread reads.
"""

import json
from pathlib import Path

from nfvbed.dataplanes.ovs.switchreading import rows

CAPTURED = Path(__file__).parent / "captured"
VERSIONS = ("2.15.0", "3.1.0", "3.5.0", "4.0.0")


def answer(version: str, name: str) -> str:
    """Return what one printed."""
    return (CAPTURED / version / f"{name}.txt").read_text()


def recorded_table(version: str, name: str) -> str:
    """Return a table of its database, as `ovs-vsctl --format=json` wrote it."""
    return (CAPTURED / version / f"{name}.json").read_text()


def statuses(version: str) -> dict[str, dict[str, str]]:
    """Return the status of its interfaces."""
    table = recorded_table(version, "interfaces")
    assert json.loads(table)["headings"][0] == "name"
    return {row["name"]: row["status"] for row in rows(table)}
