"""Which adapter sets up which variant, and which ceiling belongs to which kind of port.

Adapters are imported when they are asked for: one whose library is missing takes nobody else down.
"""

from importlib import import_module

from nfvbed.deploy.dataplane import DataPlane
from nfvbed.deploy.wiring import vnf_port_kind
from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.records import CellRole, PortKind
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice

_SUBJECTS = {
    "linux-bridge": "nfvbed.deploy.dataplanes.linux_bridge:LinuxBridge",
    "macvtap": "nfvbed.deploy.dataplanes.macvtap:Macvtap",
    "ovs-overlay": "nfvbed.deploy.dataplanes.ovs_overlay:OvsOverlay",
    "ovs-afxdp": "nfvbed.deploy.dataplanes.ovs_afxdp:OvsAfxdp",
    "ovs-dpdk": "nfvbed.deploy.dataplanes.ovs_dpdk:OvsDpdk",
    "ovs-kernel": "nfvbed.deploy.dataplanes.ovs_kernel:OvsKernel",
    "lagopus": "nfvbed.deploy.dataplanes.lagopus:LagopusDpdk",
    "lagopus-raw": "nfvbed.deploy.dataplanes.lagopus_raw:LagopusRaw",
    "vale": "nfvbed.deploy.dataplanes.vale:Vale",
    "xdp": "nfvbed.deploy.dataplanes.xdp:Xdp",
    "sriov": "nfvbed.deploy.dataplanes.sriov:Sriov",
    "vpp": "nfvbed.deploy.dataplanes.vpp:Vpp",
}
_CEILINGS = {
    (CellRole.LOOPBACK, PortKind.MEMIF): "nfvbed.deploy.dataplanes.memif_ceilings:LoopbackMemif",
    (CellRole.LOOPBACK, PortKind.VETH): "nfvbed.deploy.dataplanes.loopback_veth:LoopbackVeth",
    (CellRole.LOOPBACK, PortKind.VHOST_USER): "nfvbed.deploy.dataplanes.loopback_vhost:LoopbackVhost",
    (CellRole.VNF, PortKind.MEMIF): "nfvbed.deploy.dataplanes.memif_ceilings:BareMemif",
    (CellRole.VNF, PortKind.VETH): "nfvbed.deploy.dataplanes.bare_veth:BareVeth",
    (CellRole.VNF, PortKind.VHOST_USER): "nfvbed.deploy.dataplanes.bare_vhost:BareVhost",
    (CellRole.REFERENCE, PortKind.MEMIF): "nfvbed.deploy.dataplanes.memif_ceilings:TestpmdMemif",
    (CellRole.REFERENCE, PortKind.VETH): "nfvbed.deploy.dataplanes.testpmd_veth:TestpmdVeth",
    (CellRole.REFERENCE, PortKind.VHOST_USER): "nfvbed.deploy.dataplanes.testpmd_io:TestpmdIo",
}


def data_plane(variant: Variant, role: CellRole = CellRole.SUBJECT, vnf: VnfChoice | None = None) -> DataPlane:
    """Give the adapter of a variant, or of the ceiling that belongs to its ports; a VNF's own, to those of the VNF.

    Raises:
        UnsupportedError: there is none.
        PrerequisiteError: a library that it needs is missing.
    """
    if role is CellRole.SUBJECT:
        place = _SUBJECTS.get(variant.options.dataplane)
        what = f"the lab has no data plane {variant.options.dataplane!r}"
        known = sorted(_SUBJECTS)
    else:
        kind = vnf_port_kind(variant, vnf) if role is CellRole.VNF and vnf is not None else variant.port_kind
        place = _CEILINGS.get((role, kind))
        what = f"the lab has no {role} for ports of kind {kind}"
        known = sorted(kind for r, kind in _CEILINGS if r is role)
    if place is None:
        raise UnsupportedError(what, where=f"variant {variant.name}", observed=f"it has {', '.join(known) or 'none'}")
    module_name, _, class_name = place.partition(":")
    try:
        module = import_module(module_name)
    except ImportError as failure:
        raise PrerequisiteError(
            f"variant {variant.name} needs a Python library", where=module_name, observed=str(failure), fix="make setup"
        ) from failure
    adapter: DataPlane = getattr(module, class_name)()
    return adapter


def has_ceiling(role: CellRole, kind: PortKind) -> bool:
    """Whether there is such a ceiling for a kind of port."""
    return (role, kind) in _CEILINGS
