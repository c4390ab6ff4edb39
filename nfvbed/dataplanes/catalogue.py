"""Which adapter sets up which variant, and which ceiling belongs to which kind of port.

A data plane's adapter is in the module that has its name; there is no list of them to keep. Adapters are imported when
they are asked for: one whose library is missing takes nobody else down.
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from nfvbed.dataplanes.dataplane import DataPlane
from nfvbed.dataplanes.wiring import vnf_port_kind
from nfvbed.errors import InternalError, PrerequisiteError, UnsupportedError
from nfvbed.records import CellRole, PortKind
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice

_CEILINGS = {
    (CellRole.LOOPBACK, PortKind.MEMIF): "nfvbed.dataplanes.ports.memif_ceilings:LoopbackMemif",
    (CellRole.LOOPBACK, PortKind.VETH): "nfvbed.dataplanes.ports.loopback_veth:LoopbackVeth",
    (CellRole.LOOPBACK, PortKind.VHOST_USER): "nfvbed.dataplanes.ports.loopback_vhost:LoopbackVhost",
    (CellRole.VNF, PortKind.MEMIF): "nfvbed.dataplanes.ports.memif_ceilings:BareMemif",
    (CellRole.VNF, PortKind.VETH): "nfvbed.dataplanes.ports.bare_veth:BareVeth",
    (CellRole.VNF, PortKind.VHOST_USER): "nfvbed.dataplanes.ports.bare_vhost:BareVhost",
    (CellRole.REFERENCE, PortKind.MEMIF): "nfvbed.dataplanes.ports.memif_ceilings:TestpmdMemif",
    (CellRole.REFERENCE, PortKind.VETH): "nfvbed.dataplanes.ports.testpmd_veth:TestpmdVeth",
    (CellRole.REFERENCE, PortKind.VHOST_USER): "nfvbed.dataplanes.ports.testpmd_io:TestpmdIo",
}


def data_plane(variant: Variant, role: CellRole = CellRole.SUBJECT, vnf: VnfChoice | None = None) -> DataPlane:
    """Give the adapter of a variant, or of the ceiling that belongs to its ports; a VNF's own, to those of the VNF.

    Raises:
        UnsupportedError: there is none.
        PrerequisiteError: a library that it needs is missing.
    """
    if role is CellRole.SUBJECT:
        return _subject(variant)
    kind = vnf_port_kind(variant, vnf) if role is CellRole.VNF and vnf is not None else variant.port_kind
    place = _CEILINGS.get((role, kind))
    if place is None:
        known = ", ".join(sorted(kind for r, kind in _CEILINGS if r is role)) or "none"
        what = f"the lab has no {role} for ports of kind {kind}"
        raise UnsupportedError(what, where=f"variant {variant.name}", observed=f"it has {known}")
    module_name, _, class_name = place.partition(":")
    adapter: DataPlane = getattr(_imported(module_name, variant), class_name)()
    return adapter


def _subject(variant: Variant) -> DataPlane:
    """Find it in the module that has its name, among the classes that have it as their `kind`."""
    name = variant.options.dataplane
    module_name = f"{__package__}.{name.replace('-', '_')}"
    if find_spec(module_name) is None:
        what = f"the lab has no data plane {name!r}"
        raise UnsupportedError(what, where=f"variant {variant.name}", observed=f"there is no module {module_name}")
    module = _imported(module_name, variant)
    for thing in vars(module).values():
        if isinstance(thing, type) and issubclass(thing, DataPlane) and getattr(thing, "kind", "") == name:
            return thing()
    raise InternalError(f"an adapter has no class whose kind is {name!r}", where=module_name)


def _imported(module_name: str, variant: Variant) -> ModuleType:
    try:
        return import_module(module_name)
    except ImportError as failure:
        raise PrerequisiteError(
            f"variant {variant.name} needs a Python library", where=module_name, observed=str(failure), fix="make setup"
        ) from failure


def has_ceiling(role: CellRole, kind: PortKind) -> bool:
    """Whether there is such a ceiling for a kind of port."""
    return (role, kind) in _CEILINGS
