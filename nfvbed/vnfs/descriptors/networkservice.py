"""Descriptors of network services and forwarding graphs: read far enough to say that nfvbed does not make these."""

from collections.abc import Iterable
from typing import Any

from nfvbed.errors import UnsupportedError
from nfvbed.spec.document import Document, KeyPath
from nfvbed.vnfs.descriptors import legacy

_VERSION = "tosca_definitions_version"
_SERVICE = "tosca.nodes.nfv.NS"
"""Node type of a network service in SOL001; a service's own type is derived from it."""
_PATH = ("tosca.nodes.nfv.FP", "tosca.nodes.nfv.FP.Tacker", "tosca.nodes.nfv.FP.TackerV2")
"""Node types of a path through VNFs, in Tacker's legacy form."""
_GRAPH = "tosca.groups.nfv.VNFFG"
_MACHINE = "VDU"
_NODES = ("topology_template", "node_templates")
_GROUPS = ("topology_template", "groups")
_INSTEAD = "give the descriptors of its VNFs, and a topology: nfvbed steers by itself (docs/howto/steering.md)"


def require_none(document: Document) -> None:
    """Refuse a document of a network service, or of a forwarding graph.

    Raises:
        UnsupportedError: it is one; with its line, and what Tacker lacks or needs for it.
    """
    nodes, groups = _types(document, _NODES), _types(document, _GROUPS)
    derived = {name: _keys(kind).get("derived_from") for name, kind in _keys(document.data.get("node_types")).items()}
    for name, kind in nodes.items():
        if _SERVICE in (kind, derived.get(kind)):
            raise UnsupportedError(
                "a network service descriptor (NSD) of SOL001 cannot be onboarded",
                where=document.where((*_NODES, name)),
                observed=f"{name} is of type {kind}; Tacker has no interface for NSDs (SOL005)",
                fix=_INSTEAD,
            )
    found: list[KeyPath] = [(*_GROUPS, name) for name, kind in groups.items() if kind == _GRAPH]
    found += [(*_NODES, name) for name, kind in nodes.items() if kind in _PATH]
    is_service = _names_vnfds(document.data, nodes.values())
    if found or is_service:
        what = "network service (NSD)" if is_service else "forwarding graph (VNFFGD)"
        means = "networking-sfc and Mistral" if is_service else "networking-sfc"
        parts = ", ".join(str(key[-1]) for key in found) or "it imports VNFDs by their names"
        raise UnsupportedError(
            f"nfvbed makes no {what} of Tacker's legacy form",
            where=document.where(found[0] if found else ("imports",)),
            observed=f"{parts}; Tacker 8 makes it by {means} (docs/evidence/vnffg.md)",
            fix=_INSTEAD,
        )


def _names_vnfds(data: dict[str, Any], kinds: Iterable[str]) -> bool:
    """Whether a template of the legacy form is of VNFs that are onboarded already: it imports names, not files."""
    named = data.get("imports")
    if data.get(_VERSION) != legacy.VERSION or not isinstance(named, list) or not named:
        return False
    return all(isinstance(one, str) and "." not in one for one in named) and not any(_MACHINE in one for one in kinds)


def _types(document: Document, place: tuple[str, str]) -> dict[str, str]:
    outer, inner = place
    parts = _keys(_keys(document.data.get(outer)).get(inner))
    return {name: str(_keys(part).get("type")) for name, part in parts.items()}


def _keys(part: object) -> dict[str, Any]:
    return part if isinstance(part, dict) else {}
