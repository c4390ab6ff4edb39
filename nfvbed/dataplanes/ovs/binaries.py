"""Where Open vSwitch's programs are: unpacked privately by `make setup`, or the system's own.

The private copy comes first, so that a distribution's Open vSwitch is neither needed nor touched. Of the system's only
the program files are used, never its daemons.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import PrerequisiteError

OVS_DIRECTORY_VARIABLE = "NFVBED_OVS_DIR"
PRIVATE_DIRECTORY = Path(".nfvbed") / "ovs"
PROJECT_ROOT = Path(__file__).resolve().parents[3]

VSWITCHD = Path("usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk")
OVSDB_SERVER = Path("usr/sbin/ovsdb-server")
OVSDB_TOOL = Path("usr/bin/ovsdb-tool")
SCHEMA = Path("usr/share/openvswitch/vswitch.ovsschema")


@dataclass(frozen=True)
class OvsBinaries:
    """The files of one Open vSwitch, all from the same place."""

    root: Path

    @property
    def vswitchd(self) -> Path:
        """The switch daemon, built with DPDK."""
        return self.root / VSWITCHD

    @property
    def ovsdb_server(self) -> Path:
        """The database server."""
        return self.root / OVSDB_SERVER

    @property
    def ovsdb_tool(self) -> Path:
        """Creates databases."""
        return self.root / OVSDB_TOOL

    @property
    def schema(self) -> Path:
        """The schema of the switch's database."""
        return self.root / SCHEMA

    def missing(self) -> tuple[Path, ...]:
        """Return the files that are not there."""
        files = (self.vswitchd, self.ovsdb_server, self.ovsdb_tool, self.schema)
        return tuple(path for path in files if not path.is_file())


def locate(project_root: Path = PROJECT_ROOT) -> OvsBinaries:
    """Find Open vSwitch: $NFVBED_OVS_DIR alone if it is set, else the private copy, else the system's.

    Raises:
        PrerequisiteError: no place holds all the files.
    """
    override = os.environ.get(OVS_DIRECTORY_VARIABLE)
    places = [Path(override)] if override else [project_root / PRIVATE_DIRECTORY, Path("/")]
    seen: list[str] = []
    for place in places:
        binaries = OvsBinaries(place)
        missing = binaries.missing()
        if not missing:
            return binaries
        seen.append(f"no {missing[0]}")
    raise PrerequisiteError(
        "Open vSwitch with DPDK is not there",
        where=OVS_DIRECTORY_VARIABLE if override else str(PRIVATE_DIRECTORY),
        observed="; ".join(seen),
        fix="make setup",
    )
