"""Packs the root of all images as one layer, compressed with Zstandard."""

import hashlib
import subprocess
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import PrerequisiteError

_CHUNK = 1 << 20
_LEVEL = "-3"
_LEFT_OUT = ("./proc/*", "./sys/*", "./dev/*", "./run/lock/*")


@dataclass(frozen=True)
class Packed:
    """A layer that is a file."""

    digest: str
    """SHA-256 of the file, as `sha256:HEX`."""
    diff_id: str
    """SHA-256 of the plain archive, as `sha256:HEX`."""
    size_bytes: int
    plain_bytes: int


def pack(root: Path, layer: Path) -> Packed:
    """Pack a root; the file appears only when it is complete.

    Raises:
        PrerequisiteError: a tool failed, or the disk is full.
    """
    draft = layer.with_name(f"{layer.name}.new")
    draft.unlink(missing_ok=True)
    plain, plain_bytes = hashlib.sha256(), 0
    tar = ["tar", "--create", "--directory", str(root), "--sort=name", "--numeric-owner", "--one-file-system"]
    tar += [f"--exclude={one}" for one in _LEFT_OUT]
    with (
        subprocess.Popen([*tar, "."], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as archive,
        subprocess.Popen(["zstd", "-q", _LEVEL, "-T2", "-o", str(draft)], stdin=subprocess.PIPE) as packer,
    ):
        if archive.stdout is None or packer.stdin is None:
            raise PrerequisiteError("tar and zstd gave no pipe", where=str(draft))
        try:
            while chunk := archive.stdout.read(_CHUNK):
                plain.update(chunk)
                plain_bytes += len(chunk)
                packer.stdin.write(chunk)
            packer.stdin.close()
        except OSError as failure:
            archive.kill()
            raise _failed(draft, failure.strerror or str(failure)) from failure
        except BaseException:
            archive.kill()
            packer.kill()
            raise
    if archive.returncode != 0 or packer.returncode != 0:
        raise _failed(draft, f"exit status {archive.returncode} of tar, {packer.returncode} of zstd")
    with draft.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    draft.rename(layer)
    return Packed(f"sha256:{digest}", f"sha256:{plain.hexdigest()}", layer.stat().st_size, plain_bytes)


def _failed(draft: Path, observed: str) -> PrerequisiteError:
    return PrerequisiteError(
        "the layer of the images cannot be packed",
        where=str(draft),
        observed=observed,
        fix="free disk space; what tar and zstd said is above",
    )
