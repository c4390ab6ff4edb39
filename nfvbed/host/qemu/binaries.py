"""Where QEMU's programs are: unpacked privately by `make setup`, else the system's own.

The private copy comes first: before QEMU 10 a guest with vhost-user ports crashes without KVM.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nfvbed.errors import PrerequisiteError

QEMU_DIRECTORY_VARIABLE = "NFVBED_QEMU_DIR"
PRIVATE_DIRECTORY = Path(".nfvbed") / "qemu"
PROJECT_ROOT = Path(__file__).resolve().parents[3]

PROGRAM = Path("usr/bin/qemu-system-x86_64")
IMAGE_TOOL = Path("usr/bin/qemu-img")
_LIBRARIES = (Path("usr/lib/x86_64-linux-gnu"), Path("lib/x86_64-linux-gnu"))
_FIRMWARE = (Path("usr/share/qemu"), Path("usr/share/seabios"), Path("usr/lib/ipxe/qemu"))
_ASK_S = 30


@dataclass(frozen=True)
class QemuBinaries:
    """The files of one QEMU, all from the same place."""

    root: Path

    @property
    def program(self) -> Path:
        """The emulator's program."""
        return self.root / PROGRAM

    @property
    def image_tool(self) -> Path:
        """The program that makes disks."""
        return self.root / IMAGE_TOOL

    @property
    def kernel(self) -> Path:
        """The kernel of the guest that probes accelerators; only a private copy has it."""
        return self.root / "boot/vmlinuz"

    @property
    def busybox(self) -> Path:
        """The userland of that guest."""
        return self.root / "boot/busybox"

    @property
    def environment(self) -> dict[str, str]:
        """Variables by which the programs find the libraries beside them."""
        if self.root == Path("/"):
            return {}
        return {"LD_LIBRARY_PATH": ":".join(str(self.root / folder) for folder in _LIBRARIES)}

    @property
    def firmware(self) -> tuple[str, ...]:
        """Arguments by which QEMU finds its ROMs."""
        return tuple(word for folder in _FIRMWARE for word in ("-L", str(self.root / folder)))

    @property
    def version(self) -> str:
        """QEMU's version: `10.0.2`.

        Raises:
            PrerequisiteError: it does not answer.
        """
        return _version(self)

    def missing(self) -> tuple[Path, ...]:
        """Return the files that are not there."""
        return tuple(path for path in (self.program, self.image_tool) if not path.is_file())


@lru_cache
def _version(binaries: QemuBinaries) -> str:
    observed = "no answer"
    try:
        done = subprocess.run(
            [str(binaries.program), "--version"],
            env=os.environ | binaries.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_ASK_S,
            check=False,
        )
        match = re.search(r"\d+\.\d+(?:\.\d+)*", done.stdout)
        if match and done.returncode == 0:
            return match[0]
        observed = (done.stderr or done.stdout).strip() or observed
    except (OSError, subprocess.TimeoutExpired) as failure:
        observed = str(failure)
    raise PrerequisiteError("QEMU does not run", where=str(binaries.program), observed=observed, fix="make clean setup")


def locate(project_root: Path = PROJECT_ROOT) -> QemuBinaries:
    """Find QEMU: only $NFVBED_QEMU_DIR if it is set, else the private copy, else the system's.

    Raises:
        PrerequisiteError: no place holds all the files.
    """
    override = os.environ.get(QEMU_DIRECTORY_VARIABLE)
    places = [Path(override)] if override else [project_root / PRIVATE_DIRECTORY, Path("/")]
    seen: list[str] = []
    for place in places:
        binaries = QemuBinaries(place)
        missing = binaries.missing()
        if not missing:
            return binaries
        seen.append(f"no {missing[0]}")
    raise PrerequisiteError(
        "QEMU is not there",
        where=QEMU_DIRECTORY_VARIABLE if override else str(PRIVATE_DIRECTORY),
        observed="; ".join(seen),
        fix="make setup",
    )
