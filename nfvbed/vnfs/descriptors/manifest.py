"""The two files that list a SOL004 package's content: `TOSCA-Metadata/TOSCA.meta` and the manifest."""

import hashlib
from collections.abc import Mapping

from nfvbed.vnfs.descriptors.model import VENDOR

META = "TOSCA-Metadata/TOSCA.meta"
MANIFEST = ".mf"
"""End of the manifest's name."""
BASE_HOT = "BaseHOT/"
"""Folder in which Tacker looks for a package's own HOT."""
RELEASED = "2023-01-01T00:00:00Z"
"""Date that SOL004 asks for: the one of the image's files (`images/vloop/recipe.json`), so that packages of equal
content are equal."""
_ALGORITHM = "SHA-256"
_VERSION = "1.0"


def complete(members: Mapping[str, bytes], stem: str, changes: str) -> dict[str, bytes]:
    """Return the members, with both files before them.

    Args:
        members: all other files, by path.
        stem: name of the VNF, which names of files begin with.
        changes: path of the member with the changes.
    """
    meta = {
        "TOSCA-Meta-File-Version": "1.0",
        "CSAR-Version": "1.1",
        "Created-by": VENDOR,
        "Entry-Definitions": f"Definitions/{stem}.yaml",
        "ETSI-Entry-Manifest": f"{stem}{MANIFEST}",
        "ETSI-Entry-Change-Log": changes,
    }
    product = {
        "vnf_product_name": stem,
        "vnf_provider_id": VENDOR,
        "vnf_package_version": _VERSION,
        "vnf_release_date_time": RELEASED,
    }
    blocks = ["\n".join(["metadata:", *(f"  {key}: {value}" for key, value in product.items())])]
    for path, content in members.items():
        digest = hashlib.sha256(content).hexdigest()
        blocks.append(f"Source: {path}\nAlgorithm: {_ALGORITHM}\nHash: {digest}")
    first = {META: _lines(meta), f"{stem}{MANIFEST}": ("\n\n".join(blocks) + "\n").encode()}
    return {**first, **members}


def _lines(entries: Mapping[str, str]) -> bytes:
    return "".join(f"{key}: {value}\n" for key, value in entries.items()).encode()
