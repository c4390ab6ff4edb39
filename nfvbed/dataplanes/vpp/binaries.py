"""Where VPP is: nfvbed neither ships nor builds it, so the user names it or has it on the PATH.

The program finds its plug-ins by itself, in `../lib/<architecture>/vpp_plugins` beside its own folder, and tells its
API's definitions when it runs. So only the program has to be named.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from nfvbed.errors import PrerequisiteError
from nfvbed.host.probes.findings import VersionFinding
from nfvbed.host.probes.software import absent, asked

VPP_VARIABLE = "VPP_BIN"
INSTALL = (
    "install the packages vpp and vpp-plugin-core (packagecloud.io/fdio/release), or name the program of a VPP of your"
    f" own in {VPP_VARIABLE}"
)
_TIMEOUT_S = 10.0
_PLUGIN_FOLDERS = ("lib/vpp_plugins", "lib64/vpp_plugins", "lib/*/vpp_plugins")
"""Beside the folder of the program."""
_VERSION = re.compile(r"\d+\.\d+[\w.~+-]*")


def locate() -> Path:
    """Find VPP's program: only $VPP_BIN if it is set, else `vpp` on the PATH.

    Raises:
        PrerequisiteError: it is not there.
    """
    named = os.environ.get(VPP_VARIABLE)
    path = named or shutil.which("vpp")
    if path is None or not Path(path).is_file() or not os.access(path, os.X_OK):
        observed = f"{VPP_VARIABLE}={named} is no program" if named else "not on PATH"
        raise PrerequisiteError("VPP is not there", where=VPP_VARIABLE, observed=observed, fix=INSTALL)
    return Path(path).resolve()


def require_plugin(program: Path, name: str, package: str) -> None:
    """Check that a plug-in is where this VPP looks for its plug-ins.

    Args:
        program: the program that `locate` found.
        name: name of the plug-in's file.
        package: the package that has the plug-in, for the message.

    Raises:
        PrerequisiteError: it is not there.
    """
    root = program.parent.parent
    folders = [folder for pattern in _PLUGIN_FOLDERS for folder in sorted(root.glob(pattern))]
    if not any((folder / name).is_file() for folder in folders):
        raise PrerequisiteError(
            f"this VPP has no plug-in {name.removesuffix('.so')}",
            where=str(program),
            observed=f"not in {', '.join(map(str, folders)) or f'any vpp_plugins below {root}'}",
            fix=f"install the package {package} of VPP's own version, or build VPP with that plug-in",
        )


def version(program: Path) -> str:
    """Return the program's version ("26.06-release"); one that lacks a library, or a CPU's feature, fails here.

    Raises:
        PrerequisiteError: it does not run.
    """
    try:
        done = subprocess.run(
            [str(program), "--version"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise PrerequisiteError("VPP does not run", where=str(program), observed=str(failure), fix=INSTALL) from failure
    found = _VERSION.search(done.stdout)
    if done.returncode or found is None:
        observed = (done.stderr or done.stdout).strip() or f"exit status {done.returncode}"
        raise PrerequisiteError("VPP does not run", where=str(program), observed=observed, fix=INSTALL)
    return found.group()


def probe_vpp() -> VersionFinding:
    """Find VPP where VPP_BIN says, or on PATH; nfvbed does not ship it."""
    try:
        path = str(locate())
    except PrerequisiteError as error:
        return absent("VPP", error.observed, error.fix)
    return asked("VPP", [path, "--version"], f"name a working program in {VPP_VARIABLE}")
