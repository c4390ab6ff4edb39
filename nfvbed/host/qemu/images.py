"""Disk images of guests: found, and checked against their digests.

The doctor looks for them as the driver of virtual machines does, and before anything is deployed.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from nfvbed.errors import OnboardError, PrerequisiteError
from nfvbed.spec.textfile import read_text
from nfvbed.spec.vnf import ImageSpec

_QCOW2 = b"QFI\xfb"


class SidecarFile(BaseModel):
    """One file of an image that was built here."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    sha256: str
    size_bytes: int


class Sidecar(BaseModel):
    """The file beside an image that was built here (images/README.md); other readers' keys are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    version: str
    cmdline: str
    files: dict[str, SidecarFile]
    """By suffix."""

    def sha256_of(self, name: str) -> str | None:
        """Return the digest that a file had when it was built."""
        return next((file.sha256 for file in self.files.values() if file.name == name), None)


@dataclass(frozen=True)
class Image:
    """An image that is there, with the right digest."""

    path: Path
    format: Literal["qcow2", "raw"]
    digest: str
    """SHA-256, in hexadecimal."""
    sidecar: Sidecar | None
    """None: a user's own, which boots by its own loader."""

    def file_beside(self, suffix: str) -> Path:
        """Return the file of the same name with another suffix."""
        return self.path.with_suffix(suffix)

    @property
    def direct(self) -> bool:
        """Whether QEMU can load its kernel without the disk's loader."""
        return self.sidecar is not None and all(self.file_beside(s).is_file() for s in (".kernel", ".initrd"))


def find(spec: ImageSpec, root: Path, declared: str = "") -> Image:
    """Find an image and check it.

    Args:
        declared: the file and key, or the option, that names the image, for messages; empty: not known.

    Raises:
        PrerequisiteError: it is not there.
        OnboardError: its digest is not the declared one, or not that of the build.
    """
    path = root / spec.file
    if not path.is_file():
        raise PrerequisiteError(
            "the VNF's image is not there",
            where=f"{path}, named by {declared}" if declared else str(path),
            observed="a folder" if path.is_dir() else "no such file",
            fix=how_to_get(spec),
        )
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


def how_to_get(spec: ImageSpec) -> str:
    """Return advice for getting an image: the project's own is built, a user's is not."""
    return "make images" if spec.agent and spec.sha256 is None else "put the file there, or name another one"


def _sidecar(path: Path) -> Sidecar | None:
    beside = path.with_suffix(".json")
    if not beside.exists():
        return None
    try:
        return Sidecar.model_validate_json(read_text(beside, "make images"))
    except ValidationError as failure:
        raise OnboardError(
            "what lies beside the image cannot be read", where=str(beside), observed=str(failure), fix="make images"
        ) from failure


def _digest(path: Path) -> str:
    status = path.stat()
    return _digest_of(path, status.st_size, status.st_mtime_ns)


@lru_cache
def _digest_of(path: Path, size: int, modified: int) -> str:
    """Return a file's digest; it is read once for as long as the file stays the same."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
