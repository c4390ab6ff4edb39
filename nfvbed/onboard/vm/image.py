"""Disk images: found, checked against their digest, and used so that they are never written to."""

import hashlib
import os
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from nfvbed.deploy.qemu.binaries import QemuBinaries
from nfvbed.errors import OnboardError, PrerequisiteError
from nfvbed.onboard.vm.guest import DirectBoot, Disk
from nfvbed.spec.vnf import ImageSpec

_QCOW2 = b"QFI\xfb"
_TOOL_S = 60


class SidecarFile(BaseModel):
    """One file of an image that was built here."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    sha256: str
    size_bytes: int


class Sidecar(BaseModel):
    """What lies beside an image that was built here (images/README.md); keys for others are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    version: str
    cmdline: str
    files: dict[str, SidecarFile]
    """By suffix."""

    def sha256_of(self, name: str) -> str | None:
        """Give the digest that a file had when it was built."""
        return next((file.sha256 for file in self.files.values() if file.name == name), None)


@dataclass(frozen=True)
class Image:
    """An image that is there and has the digest that it should have."""

    path: Path
    format: Literal["qcow2", "raw"]
    digest: str
    """SHA-256, in hexadecimal."""
    sidecar: Sidecar | None
    """None: a user's own, which boots by its own loader."""

    def file_beside(self, suffix: str) -> Path:
        """Give the file of the same name with another suffix."""
        return self.path.with_suffix(suffix)

    @property
    def direct(self) -> bool:
        """Whether QEMU can load its kernel without the disk's loader."""
        return self.sidecar is not None and all(self.file_beside(s).is_file() for s in (".kernel", ".initrd"))


def find(spec: ImageSpec, root: Path) -> Image:
    """Find an image and check it.

    Args:
        spec: as declared.
        root: of the project.

    Raises:
        PrerequisiteError: it is not there.
        OnboardError: it is not the file that was declared, or that was built.
    """
    path = root / spec.file
    if not path.is_file():
        own = f"make images builds it; its path is below {root}" if spec.sha256 is None else "put the file there"
        raise PrerequisiteError("the VNF's image is not there", where=str(path), observed="no such file", fix=own)
    sidecar = _sidecar(path)
    expected = spec.sha256 or (sidecar.sha256_of(path.name) if sidecar else None)
    digest = _digest(path)
    if expected is not None and digest != expected:
        raise OnboardError(
            "the VNF's image is not the one that was declared" if spec.sha256 else "the VNF's image was changed",
            where=str(path),
            observed=f"sha256 {digest}, expected {expected}",
            fix="get the file again, or declare its digest" if spec.sha256 else "make images",
        )
    with path.open("rb") as stream:
        kind: Literal["qcow2", "raw"] = "qcow2" if stream.read(4) == _QCOW2 else "raw"
    return Image(path, kind, digest, sidecar)


def _sidecar(path: Path) -> Sidecar | None:
    beside = path.with_suffix(".json")
    try:
        return Sidecar.model_validate_json(beside.read_text())
    except FileNotFoundError:
        return None
    except ValidationError as failure:
        raise OnboardError(
            "what lies beside the image cannot be read", where=str(beside), observed=str(failure), fix="make images"
        ) from failure


def _digest(path: Path) -> str:
    status = path.stat()
    return _digest_of(path, status.st_size, status.st_mtime_ns)


@lru_cache
def _digest_of(path: Path, size: int, modified: int) -> str:
    """Read a file once for as long as it stays the same."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def disk(image: Image, overlay: Path, binaries: QemuBinaries) -> Disk:
    """Give what the guest boots from.

    An image that was built here is mounted read-only by its own guest; any other gets an overlay, which takes what its
    guest writes and ends with the run directory.

    Args:
        image: to boot.
        overlay: where the overlay is made.
        binaries: QEMU's.

    Raises:
        OnboardError: the overlay cannot be made.
    """
    if image.sidecar is not None:
        return Disk(image.path, image.format, read_only=True)
    argv = [str(binaries.image_tool), "create", "-q", "-f", "qcow2", "-F", image.format, "-b", str(image.path)]
    overlay.unlink(missing_ok=True)
    try:
        done = subprocess.run(
            [*argv, str(overlay)],
            env=os.environ | binaries.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TOOL_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise OnboardError("qemu-img does not run", where=str(binaries.image_tool), observed=str(failure)) from failure
    if done.returncode != 0:
        raise OnboardError(
            "the image cannot be used",
            where=str(image.path),
            observed=(done.stderr or done.stdout).strip(),
            fix="it must be a disk image in the form qcow2 or raw",
        )
    return Disk(overlay, "qcow2", read_only=False)


def direct_boot(image: Image, parameters: str) -> DirectBoot | None:
    """Give kernel and command line where the image has them beside it; None: the disk boots by itself.

    Args:
        image: to boot.
        parameters: what nfvbed adds to the image's own command line.
    """
    if image.sidecar is None or not image.direct:
        return None
    line = f"{image.sidecar.cmdline} {parameters}".strip()
    return DirectBoot(image.file_beside(".kernel"), image.file_beside(".initrd"), line)
