"""Where OVN's programs are: beside the Open vSwitch that is used."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import PrerequisiteError

_TIMEOUT_S = 10.0
_VERSION = re.compile(r"^ovn-controller (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class OvnBinaries:
    """The files of one OVN."""

    root: Path

    @property
    def nbctl(self) -> Path:
        """The program that writes the northbound database."""
        return self.root / "usr/bin/ovn-nbctl"

    @property
    def northd(self) -> Path:
        """The daemon that compiles the northbound database into the southbound one."""
        return self.root / "usr/bin/ovn-northd"

    @property
    def controller(self) -> Path:
        """The daemon that writes a chassis' rules."""
        return self.root / "usr/bin/ovn-controller"

    @property
    def schemas(self) -> tuple[Path, Path]:
        """The schemas of the northbound and the southbound database."""
        folder = self.root / "usr/share/ovn"
        return folder / "ovn-nb.ovsschema", folder / "ovn-sb.ovsschema"

    def version(self) -> str:
        """Return OVN's version.

        Raises:
            PrerequisiteError: it does not run.
        """
        try:
            argv = [str(self.controller), "--version"]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as failure:
            raise _unusable(self.controller, str(failure)) from failure
        found = _VERSION.search(done.stdout)
        if found is None:
            raise _unusable(self.controller, (done.stderr or done.stdout).strip())
        return found[1]


def locate(root: Path) -> OvnBinaries:
    """Find OVN beside an Open vSwitch.

    Args:
        root: where that is unpacked.

    Raises:
        PrerequisiteError: a file is missing.
    """
    found = OvnBinaries(root)
    for path in (found.nbctl, found.northd, found.controller, *found.schemas):
        if not path.is_file():
            raise PrerequisiteError("OVN is not there", where=str(root), observed=f"no {path}", fix="make setup")
    return found


def _unusable(program: Path, observed: str) -> PrerequisiteError:
    return PrerequisiteError("OVN does not run", where=str(program), observed=observed, fix="make setup")
