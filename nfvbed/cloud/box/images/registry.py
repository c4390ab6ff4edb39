"""Writes images into the storage of a registry (docker-registry's, version 2), without one that runs."""

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from nfvbed.cloud.box.images.dockerfiles import ServiceImage
from nfvbed.errors import InternalError

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIGURATION = "application/vnd.oci.image.config.v1+json"
PLAIN_LAYER = "application/vnd.oci.image.layer.v1.tar"
ZSTD_LAYER = f"{PLAIN_LAYER}+zstd"

_ROOTS_OWN = ("etc", "usr", "root")
"""Below these folders of `/`, those of small layers are root's. A layer's folders take the place of those below it,
with owner and rights: one that was a user's home would be root's from then on."""
_FOLDER_MODES = {"/root": 0o700, "/etc/sudoers.d": 0o750}
"""Modes of folders that not all may read."""
_READ_BY_BUILDS = ("/var/lib/ansible/requirements.yml",)
"""Files that only the building of Kolla's own images reads, in a home."""


@dataclass(frozen=True)
class Layer:
    """A layer that is in the storage."""

    digest: str
    """SHA-256 of what is stored, as `sha256:HEX`."""
    size_bytes: int
    diff_id: str
    """SHA-256 of the plain archive."""
    media_type: str


class Storage:
    """The storage of a registry.

    Args:
        folder: that the registry's configuration calls `rootdirectory`.
    """

    def __init__(self, folder: Path) -> None:
        self._top = folder / "docker" / "registry" / "v2"

    def add_layer(self, path: Path, digest: str, diff_id: str) -> Layer:
        """Take a compressed layer, by a hard link.

        Args:
            digest: SHA-256 of the file, as `sha256:HEX`.
            diff_id: the same of what was compressed.
        """
        data = self.blob(digest)
        if not data.exists():
            data.hardlink_to(path)
        return Layer(digest, path.stat().st_size, diff_id, ZSTD_LAYER)

    def blob(self, digest: str) -> Path:
        """Return the file of a blob, by its digest `sha256:HEX`."""
        return self._place(digest) / "data"

    def add_image(self, repository: str, tag: str, image: ServiceImage, shared: Layer) -> str:
        """Write an image of a shared layer and its own one; return the digest of its manifest.

        Args:
            repository: as `kolla/nova-api`.
        """
        archive = small_layer(image)
        digest = self._add(archive)
        layers = (shared, Layer(digest, len(archive), digest, PLAIN_LAYER))
        described = _json(configuration(image, layers))
        configured = self._add(described)
        manifest = self._add(
            _json(
                {
                    "schemaVersion": 2,
                    "mediaType": MANIFEST,
                    "config": {"mediaType": CONFIGURATION, "size": len(described), "digest": configured},
                    "layers": [
                        {"mediaType": one.media_type, "size": one.size_bytes, "digest": one.digest} for one in layers
                    ],
                    "annotations": image.labels,
                }
            )
        )
        for one in (configured, *(layer.digest for layer in layers)):
            self._link(repository, "_layers", "sha256", _bare(one), digest=one)
        self._link(repository, "_manifests", "revisions", "sha256", _bare(manifest), digest=manifest)
        self._link(repository, "_manifests", "tags", tag, "index", "sha256", _bare(manifest), digest=manifest)
        self._link(repository, "_manifests", "tags", tag, "current", digest=manifest)
        return manifest

    def _add(self, data: bytes) -> str:
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        self.blob(digest).write_bytes(data)
        return digest

    def _place(self, digest: str) -> Path:
        bare = _bare(digest)
        place = self._top / "blobs" / "sha256" / bare[:2] / bare
        place.mkdir(parents=True, exist_ok=True)
        return place

    def _link(self, *parts: str, digest: str) -> None:
        place = self._top.joinpath("repositories", *parts)
        place.mkdir(parents=True, exist_ok=True)
        (place / "link").write_text(digest)


def small_layer(image: ServiceImage) -> bytes:
    """Return an image's own files and their folders as a plain archive; the same files give the same bytes.

    Raises:
        InternalError: a file is in a folder whose owner is not known here.
    """
    out = io.BytesIO()
    files = {path: file for path, file in sorted(image.files.items()) if path not in _READ_BY_BUILDS}
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in _folders((*files, *image.links)):
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.type, entry.mode = tarfile.DIRTYPE, _FOLDER_MODES.get(path, 0o755)
            archive.addfile(entry)
        for path, file in files.items():
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.size, entry.mode = len(file.content), file.mode
            archive.addfile(entry, io.BytesIO(file.content))
        for path, target in sorted(image.links.items()):
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, target, 0o777
            archive.addfile(entry)
    return out.getvalue()


def _folders(paths: Iterable[str]) -> list[str]:
    found = set[str]()
    for path in paths:
        parents = [str(parent) for parent in PurePosixPath(path).parents][:-1]
        if parents and path.split("/")[1] not in _ROOTS_OWN:
            raise InternalError(
                f"an image's own layer would change the owner of {parents[0]}", observed=path, where="registry.py"
            )
        found.update(parents)
    return sorted(found)


def configuration(image: ServiceImage, layers: tuple[Layer, ...]) -> dict[str, Any]:
    """Return an image's configuration, in the form of OCI."""
    return {
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "User": image.user,
            "Env": [f"{name}={value}" for name, value in image.environment.items()],
            "Entrypoint": list(image.entrypoint),
            "Cmd": list(image.command),
            "WorkingDir": image.workdir,
            "Labels": image.labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [one.diff_id for one in layers]},
    }


def _json(data: dict[str, Any]) -> bytes:
    return json.dumps(data, sort_keys=True).encode()


def _bare(digest: str) -> str:
    return digest.removeprefix("sha256:")
