"""The driver of each kind of VNF.

Drivers are imported when they are asked for: one whose library is missing takes no other down.
"""

from importlib import import_module

from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.records import VnfKind
from nfvbed.spec.gateway import GATEWAYS
from nfvbed.vnfs.vnf import VnfDriver

_TESTPMD = "nfvbed.vnfs.process.testpmd:TestpmdVnf"
_KERNEL = "nfvbed.vnfs.process.kernel:KernelVnf"
_PROCESS = {
    "io": _TESTPMD,
    "mac": _TESTPMD,
    "macswap": _TESTPMD,
    "5tswap": _TESTPMD,
    "source": _TESTPMD,
    "sink": _TESTPMD,
    "bridge": _KERNEL,
    "router": _KERNEL,
    "xdp": "nfvbed.vnfs.process.xdp:XdpVnf",
    "raw": "nfvbed.vnfs.process.raw:RawVnf",
    "nextepc": "nfvbed.vnfs.epc.driver:EpcVnf",
    "xdp-gateway": "nfvbed.vnfs.epc.owngateway:XdpGatewayVnf",
    "dpdk-gateway": "nfvbed.vnfs.epc.owngateway:DpdkGatewayVnf",
}
_VM = "nfvbed.vnfs.vm.driver:VmVnf"


def driver(kind: VnfKind, does: str) -> VnfDriver:
    """Return the driver for a kind of VNF and what it is to do with frames.

    Raises:
        UnsupportedError: there is none.
        PrerequisiteError: a library that it needs is missing.
    """
    # A container is a namespace of its own with veth ports; every process VNF has one.
    place = _PROCESS.get(does) if kind in (VnfKind.PROCESS, VnfKind.CONTAINER) else None
    if kind is VnfKind.VM and does not in GATEWAYS:
        place = _VM
    if place is None:
        raise UnsupportedError(
            f"no VNF of kind {kind} can do {does!r} in the lab",
            observed=f"process and container: {', '.join(_PROCESS)}; vm: what its image can, but for a mobile core",
            fix="choose one of these; a mobile core of virtual machines: a site that is an OpenStack",
        )
    module_name, _, class_name = place.partition(":")
    try:
        module = import_module(module_name)
    except ImportError as failure:
        raise PrerequisiteError(
            f"VNFs of kind {kind} need a Python library", where=module_name, observed=str(failure), fix="make setup"
        ) from failure
    found: VnfDriver = getattr(module, class_name)()
    return found
