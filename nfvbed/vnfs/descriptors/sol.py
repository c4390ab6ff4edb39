"""VNF packages as Tacker's SOL API takes them: a SOL001 v2.6.1 descriptor with all that it needs, for a SOL004 CSAR."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nfvbed.vnfs.descriptors import basehot, manifest, solvnfd
from nfvbed.vnfs.descriptors.model import DescriptorRequest, read_image
from nfvbed.vnfs.descriptors.solvnfd import FLAVOUR, LEVEL, Described
from nfvbed.vnfs.descriptors.typefiles import USER_DATA, etsi_types
from nfvbed.vnfs.descriptors.yamltext import dump

_SCRIPT = f"UserData/{USER_DATA.name}"
_SCRIPT_CLASS = "UserData"
_CHANGES = "ChangeLog.txt"


def files(request: DescriptorRequest) -> dict[str, bytes]:
    """Return the members of the package, by path; with the image where the request has its file.

    Raises:
        ConfigurationError: the image cannot be read, or its SHA-512 is not known.
        PrerequisiteError: ETSI's type files are missing.
    """
    own = {
        f"Definitions/{solvnfd.flavour_member(request, FLAVOUR)}": solvnfd.flavour(request),
        f"BaseHOT/{FLAVOUR}/{request.vnf.name}.yaml": basehot.group(request),
        f"BaseHOT/{FLAVOUR}/nested/{basehot.NESTED}": basehot.instance(request),
    }
    return package(request, own, [request.image_file] if request.image_file is not None else [])


def package(request: Described, own: Mapping[str, dict[str, Any]], images: Iterable[Path]) -> dict[str, bytes]:
    """Return the members of a package, by path.

    Args:
        request: what the descriptor is made from.
        own: definitions and base HOT of its flavours, by path.
        images: files that are packed.

    Raises:
        ConfigurationError: an image cannot be read.
        PrerequisiteError: ETSI's type files are missing.
    """
    stem = request.vnf.name
    members = {f"Definitions/{name}": content for name, content in etsi_types().items()}
    members |= {
        f"Definitions/{stem}.yaml": _text(solvnfd.entry(request)),
        f"Definitions/{stem}_types.yaml": _text(solvnfd.types(request)),
        **{path: _text(document) for path, document in own.items()},
        "UserData/__init__.py": b"",
        _SCRIPT: USER_DATA.read_bytes(),
        _CHANGES: f"{solvnfd.DESCRIPTOR_VERSION}: written by nfvbed\n".encode(),
    }
    members |= {f"Files/images/{file.name}": read_image(file) for file in images}
    return manifest.complete(members, stem, _CHANGES)


def instantiation(flavour_id: str = FLAVOUR) -> dict[str, Any]:
    """Return what a request to instantiate says of the package, beside networks and VIM."""
    said: dict[str, Any] = {"flavourId": flavour_id, "instantiationLevelId": LEVEL}
    # Without these two Tacker does not read the base HOT, and the VNF is not asked to forward.
    said["additionalParams"] = {
        "lcm-operation-user-data": f"./{_SCRIPT}",
        "lcm-operation-user-data-class": _SCRIPT_CLASS,
    }
    return said


def _text(document: dict[str, Any]) -> bytes:
    return dump(document).encode()
