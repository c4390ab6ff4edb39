"""Where OVN's programs are: in the same root or prefix as the Open vSwitch that is used."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nfvbed.dataplanes.ovs.binaries import OvsBinaries
from nfvbed.errors import PrerequisiteError

_TIMEOUT_S = 10.0
_VERSION = re.compile(r"^ovn-controller (\S+)", re.MULTILINE)
_PREFIXES: Final = ("usr", ".", "usr/local")
"""Below a folder with Open vSwitch: as packages have it, or what `make install` of both was told."""
FIX: Final = "make setup; of a release, make releases; of a program, install OVN into the same prefix"


@dataclass(frozen=True)
class OvnBinaries:
    """The files of one OVN, which are started as those of the Open vSwitch are."""

    switch: OvsBinaries
    prefix: Path

    @property
    def nbctl(self) -> Path:
        """The program that writes the northbound database."""
        return self.prefix / "bin/ovn-nbctl"

    @property
    def northd(self) -> Path:
        """The daemon that compiles the northbound database into the southbound one."""
        return self.prefix / "bin/ovn-northd"

    @property
    def controller(self) -> Path:
        """The daemon that writes a chassis' rules."""
        return self.prefix / "bin/ovn-controller"

    @property
    def schemas(self) -> tuple[Path, Path]:
        """The schemas of the northbound and the southbound database."""
        folder = self.prefix / "share/ovn"
        return folder / "ovn-nb.ovsschema", folder / "ovn-sb.ovsschema"

    @property
    def files(self) -> tuple[Path, ...]:
        """All of them."""
        return self.nbctl, self.northd, self.controller, *self.schemas

    def command(self, program: Path) -> tuple[str, ...]:
        """Return how one of the programs is started; its arguments follow.

        Raises:
            PrerequisiteError: what enters a root is not built.
        """
        return self.switch.command(program)

    def version(self) -> str:
        """Return OVN's version.

        Raises:
            PrerequisiteError: it does not run.
        """
        try:
            argv = [*self.command(self.controller), "--version"]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as failure:
            raise _unusable(self.controller, str(failure)) from failure
        found = _VERSION.search(done.stdout)
        if found is None:
            raise _unusable(self.controller, (done.stderr or done.stdout).strip())
        return found[1]


def beside(switch: OvsBinaries) -> OvnBinaries:
    """Find OVN beside an Open vSwitch.

    Raises:
        PrerequisiteError: a file is missing.
    """
    tried = [OvnBinaries(switch, switch.root / prefix) for prefix in _PREFIXES]
    missing = [[path for path in found.files if not path.is_file()] for found in tried]
    for found, lacking in zip(tried, missing, strict=True):
        if not lacking:
            return found
    observed = f"no {missing[0][0]}"
    raise PrerequisiteError("OVN is not there", where=str(switch.root), observed=observed, fix=FIX)


def _unusable(program: Path, observed: str) -> PrerequisiteError:
    return PrerequisiteError("OVN does not run", where=str(program), observed=observed, fix=FIX)
