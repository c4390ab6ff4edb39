"""Type files that descriptors import: the project's own in `tosca/`, and ETSI's, which come with heat-translator."""

import hashlib
from importlib.util import find_spec
from pathlib import Path

from nfvbed.errors import InternalError, PrerequisiteError
from nfvbed.spec.root import own_folder

TOSCA = own_folder("tosca")
"""The project's folder of types."""
LEGACY_TYPES = TOSCA / "tacker_types.yaml"
USER_DATA = TOSCA / "UserData" / "lcm_user_data.py"
ETSI_RELEASE = "SOL001 v2.6.1"
ETSI_TYPES = {
    "etsi_nfv_sol001_common_types.yaml": "18a277cc398e1ee6785766014a7a668e3b11d2b78b580b4ca3417ba6a63633d8",
    "etsi_nfv_sol001_vnfd_types.yaml": "20cbf39a33351fbc11b9be4c70b70a7b45ee149be80c90acf4f20f5d04c3c6b1",
}
"""ETSI GS NFV-SOL 001 v2.6.1, by name with its SHA-256: each package contains them (`tosca/README.md`)."""
VNFD_TYPES = "etsi_nfv_sol001_vnfd_types.yaml"
_POINT = (
    b"      - virtual_link:\n"
    b"          capability: tosca.capabilities.nfv.VirtualLinkable\n"
    b"          relationship: tosca.relationships.nfv.VirtualLinksTo\n"
)
_BINDING = b"      - virtual_binding:\n"
_OPTIONAL = b"          occurrences: [ 0, 1 ] # added by nfvbed: a point on a network outside of the VNF has no link\n"
_IN_TRANSLATOR = Path("tests", "data", "etsi_nfv")


def etsi_types() -> dict[str, bytes]:
    """Return ETSI's type files by name.

    Raises:
        PrerequisiteError: heat-translator is not installed, or has others than those that were tried.
    """
    package = find_spec("translator")
    if package is None or package.origin is None:
        raise PrerequisiteError("heat-translator is not installed", where="translator", fix="make setup")
    folder = Path(package.origin).parent / _IN_TRANSLATOR
    return {name: _checked(folder / name, digest) for name, digest in ETSI_TYPES.items()}


def packaged_types() -> dict[str, bytes]:
    """Return ETSI's type files as packages contain them, by name: a connection point's `virtual_link` is optional.

    ETSI's file leaves out how often it occurs, which is once at least in TOSCA. tosca-parser 2.14, which
    Tacker has from 15.0.0 on, checks that and refuses every connection point that is on an outer network. Tacker's own
    copy of v2.6.1 has the same line since (its tests' data of 15.0.0).

    Raises:
        PrerequisiteError: as `etsi_types`.
        InternalError: the place is not where it was.
    """
    found = etsi_types()
    text = found[VNFD_TYPES]
    if text.count(_POINT + _BINDING) != 1:
        raise InternalError("ETSI's type of a connection point is not as it was", where=VNFD_TYPES)
    return {**found, VNFD_TYPES: text.replace(_POINT + _BINDING, _POINT + _OPTIONAL + _BINDING)}


def _checked(path: Path, digest: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as failure:
        raise PrerequisiteError(
            "a type file of ETSI's is missing", where=str(path), observed=failure.strerror or "", fix="make setup"
        ) from failure
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        raise PrerequisiteError(
            "a type file of ETSI's is not the one that was tried",
            where=str(path),
            observed=f"SHA-256 {found}",
            fix=f"install the heat-translator of requirements.txt; its file has {digest}",
        )
    return content
