"""Where Open vSwitch's programs are: unpacked privately by `make setup`, a release's, the user's, or the system's own.

The private copy comes first, so that a distribution's Open vSwitch is neither needed nor touched. Of the system's only
the program files are used, never its daemons.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nfvbed.dataplanes.ovs.packagesets import PackageSetOptions
from nfvbed.errors import PrerequisiteError
from nfvbed.host.native import native_binary

OVS_DIRECTORY_VARIABLE = "NFVBED_OVS_DIR"
PRIVATE_DIRECTORY = Path(".nfvbed") / "ovs"
RELEASES_DIRECTORY = Path(".nfvbed") / "releases"
PROJECT_ROOT = Path(__file__).resolve().parents[3]

VSWITCHD = Path("usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk")
OVSDB_SERVER = Path("usr/sbin/ovsdb-server")
OVSDB_TOOL = Path("usr/bin/ovsdb-tool")
SCHEMA = Path("usr/share/openvswitch/vswitch.ovsschema")

PACKAGES = "packages.txt"
"""File of a root that `setup/releases` made: a line that names the suite, then packages with their versions."""
_LOADER = Path("lib64/ld-linux-x86-64.so.2")
"""Loader of the C library; its path is compiled into every program, so a folder that has it is a root."""


@dataclass(frozen=True)
class BinaryLayout:
    """Where the files are below a folder."""

    vswitchd: Path
    ovsdb_server: Path
    ovsdb_tool: Path
    schema: Path

    @property
    def files(self) -> tuple[Path, ...]:
        """All of them."""
        return self.vswitchd, self.ovsdb_server, self.ovsdb_tool, self.schema


def _installed(prefix: str) -> BinaryLayout:
    below = Path(prefix)
    schema = below / "share/openvswitch/vswitch.ovsschema"
    return BinaryLayout(below / "sbin/ovs-vswitchd", below / "sbin/ovsdb-server", below / "bin/ovsdb-tool", schema)


PACKAGED: Final = BinaryLayout(VSWITCHD, OVSDB_SERVER, OVSDB_TOOL, SCHEMA)
"""As Debian's openvswitch-switch-dpdk has them."""
_BUILT: Final = BinaryLayout(
    Path("vswitchd/ovs-vswitchd"),
    Path("ovsdb/ovsdb-server"),
    Path("ovsdb/ovsdb-tool"),
    Path("vswitchd/vswitch.ovsschema"),
)
_LAYOUTS: Final = (PACKAGED, _BUILT, _installed("."), _installed("usr/local"), _installed("usr"))
"""Layouts of a user's folder: Debian's package, a build tree, the prefix of `make install`, or its DESTDIR."""


@dataclass(frozen=True)
class OvsBinaries:
    """The files of one Open vSwitch, all from the same place."""

    root: Path
    layout: BinaryLayout = PACKAGED

    @property
    def vswitchd(self) -> Path:
        """The switch daemon, built with DPDK."""
        return self.root / self.layout.vswitchd

    @property
    def ovsdb_server(self) -> Path:
        """The database server."""
        return self.root / self.layout.ovsdb_server

    @property
    def ovsdb_tool(self) -> Path:
        """Creates databases."""
        return self.root / self.layout.ovsdb_tool

    @property
    def schema(self) -> Path:
        """The schema of the switch's database."""
        return self.root / self.layout.schema

    @property
    def is_whole(self) -> bool:
        """Whether they are in a root with a C library of its own, which its programs then see alone."""
        # In some suites a link to a path of the root's own.
        return self.root != Path("/") and os.path.lexists(self.root / _LOADER)

    def seen(self, path: Path) -> str:
        """Return the path by which these programs see one of their files."""
        return f"/{path.relative_to(self.root)}" if self.is_whole else str(path)

    def command(self, program: Path) -> tuple[str, ...]:
        """Return how one of the programs is started; its arguments follow.

        Raises:
            PrerequisiteError: what enters a root is not built.
        """
        if not self.is_whole:
            return (str(program),)
        return (str(native_binary("nfvbed-exec")), "--root", str(self.root), "--", self.seen(program))

    def versions(self) -> dict[str, str]:
        """Return the suite of a root and what tells its packages from those of another; empty for all others."""
        try:
            text = (self.root / PACKAGES).read_text()
        except (FileNotFoundError, NotADirectoryError):
            return {}
        heading, *lines = text.splitlines()
        found = dict(line.split(maxsplit=1) for line in lines if " " in line)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        suite = heading.rpartition(" ")[2]
        packages = {"packages": f"{len(found)} of {suite}, SHA-256 {digest}"}
        return packages | {name: found[name] for name in ("libc6",) if name in found}

    def missing(self) -> tuple[Path, ...]:
        """Return the files that are not there."""
        return tuple(self.root / path for path in self.layout.files if not (self.root / path).is_file())


def binaries_of(options: PackageSetOptions, project_root: Path = PROJECT_ROOT) -> OvsBinaries:
    """Find the Open vSwitch that a variant asks for.

    Raises:
        PrerequisiteError: it is not there.
    """
    if options.program is not None:
        return binaries_in(Path(options.program))
    if options.release is None:
        return locate(project_root)
    found = OvsBinaries(project_root / RELEASES_DIRECTORY / options.release)
    missing = found.missing()
    if missing:
        raise PrerequisiteError(
            f"Open vSwitch {options.release} is not there",
            where=f"release: {options.release}",
            observed=f"no {missing[0]}",
            fix=f"make releases, or setup/releases {options.release}",
        )
    return found


def binaries_in(folder: Path) -> OvsBinaries:
    """Find Open vSwitch in a folder, however it came there.

    Raises:
        PrerequisiteError: it holds none whose files are all there.
    """
    for layout in _LAYOUTS:
        found = OvsBinaries(folder, layout)
        if not found.missing():
            return found
    tried = ", ".join(str(layout.vswitchd) for layout in _LAYOUTS)
    raise PrerequisiteError(
        "there is no Open vSwitch in this folder",
        where=f"program: {folder}",
        observed=f"no {tried} with ovsdb-server, ovsdb-tool and vswitch.ovsschema of the same build",
        fix="name the folder of a build, the prefix of its make install, or a root as make releases makes them",
    )


def locate(project_root: Path = PROJECT_ROOT) -> OvsBinaries:
    """Find the usual Open vSwitch: $NFVBED_OVS_DIR alone if it is set, else the private copy, else the system's.

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
