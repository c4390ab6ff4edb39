"""The software images in the definitions of a package: each is present, with the given checksum."""

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from nfvbed.errors import ConfigurationError
from nfvbed.spec.document import Document, KeyPath
from nfvbed.vnfs.descriptors.archive import Archive
from nfvbed.vnfs.descriptors.artifacts import ALGORITHMS

_NODES = ("topology_template", "node_templates")
_TYPES = ("tosca.nodes.nfv.Vdu.Compute", "tosca.nodes.nfv.Vdu.VirtualBlockStorage")
_IMAGE = "tosca.artifacts.nfv.SwImage"


def require_images(archive: Archive, definitions: Mapping[str, Document]) -> None:
    """Check the images of a package.

    Raises:
        ConfigurationError: one is not in the package, or has another checksum; with member and line.
    """
    for member, document in definitions.items():
        for key, file in _images(document):
            if "://" not in file:
                path = posixpath.normpath(posixpath.join(posixpath.dirname(member), file))
                _check(archive, document, key, path)


def _images(document: Document) -> Iterator[tuple[KeyPath, str]]:
    """Yield node and file of each image."""
    nodes = (document.data.get("topology_template") or {}).get("node_templates") or {}
    for name, node in nodes.items():
        if node.get("type") not in _TYPES:
            continue
        for artifact in (node.get("artifacts") or {}).values():
            file = artifact if isinstance(artifact, str) else artifact.get("file", "")
            if isinstance(artifact, str) or artifact.get("type") == _IMAGE:
                yield (*_NODES, name), str(file)


def _check(archive: Archive, document: Document, node: KeyPath, path: str) -> None:
    if path not in archive.sizes:
        raise ConfigurationError(
            f"the image {path} is not in {archive.path.name}",
            where=document.where((*node, "artifacts")),
            observed=f"members: {', '.join(name for name in archive.sizes if name.startswith('Files/')) or 'no files'}",
            fix="put the image into the package; its path is relative to the definitions",
        )
    data: Any = document.data["topology_template"]["node_templates"][node[-1]]
    given = ((data.get("properties") or {}).get("sw_image_data") or {}).get("checksum") or {}
    place = (*node, "properties", "sw_image_data", "checksum")
    if not isinstance(given, dict) or not given.get("hash"):
        return
    algorithm = ALGORITHMS.get(str(given.get("algorithm", "")).lower())
    if algorithm is None:
        raise ConfigurationError(
            f"unknown algorithm for the image {path}",
            where=document.where((*place, "algorithm")),
            observed=repr(given.get("algorithm")),
            fix=f"one of {', '.join(ALGORITHMS)}; Tacker compares with Glance, which has sha-512",
        )
    found = archive.digest(path, algorithm)
    if found != str(given["hash"]).lower():
        raise ConfigurationError(
            f"the image {path} has another checksum than its descriptor gives",
            where=document.where((*place, "hash")),
            observed=f"{given['algorithm']} {found}",
            fix="get the package again, or write the image's checksum",
        )
