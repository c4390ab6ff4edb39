"""VNF packages for Tacker's SOL API: a SOL001 v2.6.1 descriptor with all that it needs, for a SOL004 CSAR."""

from collections.abc import Iterator
from typing import Any

from nfvbed.vnfs.descriptors import hot, manifest, solvnfd
from nfvbed.vnfs.descriptors.cloudimage import read_image
from nfvbed.vnfs.descriptors.model import VnfDescriptor
from nfvbed.vnfs.descriptors.typefiles import USER_DATA, packaged_types
from nfvbed.vnfs.descriptors.yamltext import dump

_SCRIPT = f"UserData/{USER_DATA.name}"
SCRIPT = {"lcm-operation-user-data": f"./{_SCRIPT}", "lcm-operation-user-data-class": "UserData"}
"""What a request to instantiate says of a package of nfvbed's (additionalParams): without these two Tacker does not
read the base HOT, and the VNF is not asked to forward."""
_CHANGES = "ChangeLog.txt"


def files(descriptor: VnfDescriptor) -> dict[str, bytes]:
    """Return the members of a package by path, with the images whose files are given.

    Raises:
        ConfigurationError: an image cannot be read, or its SHA-512 is not known.
        PrerequisiteError: ETSI's type files are missing.
    """
    stem = descriptor.vnf.name
    members = {f"Definitions/{name}": content for name, content in packaged_types().items()}
    members |= {
        f"Definitions/{stem}.yaml": _text(solvnfd.entry(descriptor)),
        f"Definitions/{stem}_types.yaml": _text(solvnfd.types(descriptor)),
        **{path: _text(document) for path, document in _of_flavours(descriptor)},
        "UserData/__init__.py": b"",
        _SCRIPT: USER_DATA.read_bytes(),
        _CHANGES: f"{solvnfd.DESCRIPTOR_VERSION}: written by nfvbed\n".encode(),
    }
    packed = dict.fromkeys(one.image.file for flavour in descriptor.flavours for one in flavour.machines)
    members |= {f"Files/images/{file.name}": read_image(file) for file in packed if file is not None}
    return manifest.complete(members, stem, _CHANGES)


def _of_flavours(descriptor: VnfDescriptor) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the definitions and base HOT of each deployment flavour, with their paths."""
    for flavour in descriptor.flavours:
        member = solvnfd.flavour_member(descriptor, flavour)
        yield f"Definitions/{member}", solvnfd.flavour_definitions(descriptor, flavour)
        stack = hot.base(descriptor, flavour)
        yield f"{manifest.BASE_HOT}{flavour.name}/{descriptor.vnf.name}.yaml", stack.template
        for name, nested in stack.nested.items():
            yield f"{manifest.BASE_HOT}{flavour.name}/nested/{name}", nested


def _text(document: dict[str, Any]) -> bytes:
    return dump(document).encode()
