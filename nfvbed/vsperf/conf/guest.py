"""Maps VNF and the GUEST settings to the VNFs of an experiment."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from nfvbed.records import VnfKind
from nfvbed.spec.choices import Catalogue
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.vnf import VnfSpec
from nfvbed.vsperf.conf.draft import Draft, one_of
from nfvbed.vsperf.conf.guestflavor import map_flavor, queues_of, same_for_all
from nfvbed.vsperf.conf.settings import TestSettings
from nfvbed.vsperf.conf.testids import SWITCH_OF
from nfvbed.vsperf.conf.testpmd import PARAMS, GuestTestpmd, map_testpmd
from nfvbed.vsperf.conf.treatment import Relevance

_VNIC_OF: Final[Mapping[str, str]] = MappingProxyType(
    {"QemuDpdkVhostUser": "vhost-user", "QemuVirtioNet": "tap", "QemuPciPassthrough": "vf"}
)
_TAPS: Final = "QemuVirtioNet"
_WITHOUT_VNIC: Final = ("QemuDpdkVhostCuse",)
"""VSPERF had vhost-cuse up to colorado."""
VNF: Final = "vloop"
PORTS: Final = 2
"""Number of a VNF's ports."""
_SAME: Final = frozenset(("io", "mac", "macswap", "5tswap"))
_NEAR: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "csum": ("mac", "testpmd runs in mode mac: the same change of addresses, checksums are not computed again"),
        "mac_retry": ("mac", "whether refused frames are tried again is `retry` in the VNF's file"),
        "mac retry": ("mac", "whether refused frames are tried again is `retry` in the VNF's file"),
    }
)
_LOOPBACKS: Final = ("testpmd", "l2fwd", "linux_bridge", "buildin", "clean")


def map_guests(draft: Draft, settings: TestSettings, kind: VnfKind, catalogue: Catalogue) -> frozenset[Relevance]:
    """Map the VNFs, which are all the same, as in nfvbed's experiments.

    Args:
        draft: gets the result.
        kind: VSPERF's VNFs are virtual machines; a process or container is noted as a difference.
        catalogue: with the flavors.

    Returns:
        The VNFs' features, among those that settings can be about.
    """
    found = settings.require("VNF")
    if kind is VnfKind.CONTAINER:
        draft.differs(found, "the container is a network namespace that forwards with a kernel bridge")
        draft.put("vnfs", [{"kind": kind.value, "forwarding": "bridge"}], found)
        return frozenset((Relevance.CONTAINERS,))
    if one_of(draft, found, (*_VNIC_OF, *_WITHOUT_VNIC)) in _WITHOUT_VNIC:
        draft.lacks("VNFs have vhost-user ports, taps or virtual functions", found)
    vnic = _VNIC_OF.get(found.value, "any")
    use: dict[str, Any] = {"kind": kind.value, "forwarding": forwarding_of(draft, settings)}
    # What VSPERF's testpmd is started with holds for it alone.
    forwards = same_for_all(draft, settings.require("GUEST_LOOPBACK")).value == "testpmd"
    queues = queues_of(draft, settings)
    vnf, flavor = catalogue.load_vnf(VNF), None
    if kind is VnfKind.VM:
        # Left open where it makes no difference, so that another variant can be measured beside.
        if not set(draft.experiment.get("variants", ())) <= _with_vnic(vnic):
            use["vnic"] = vnic
        _image(draft, settings, use)
        flavor = map_flavor(draft, settings, vnf, catalogue)
        use |= {} if flavor.name == vnf.flavor else {"flavor": flavor.name}
    else:
        if queues is not None and queues.value != 1:
            draft.lacks(f"a {kind.value} has one queue a port", queues)
        draft.differs(found, f"the VNF is a {kind.value}, not a virtual machine")
        if use["forwarding"] == "image":
            draft.lacks(f"a {kind.value} has no image that forwards by itself", settings.require("GUEST_LOOPBACK"))
    if forwards:
        params = settings.get(PARAMS)
        guest = _testpmd(vnf, flavor, 1 if queues is None else queues.value)
        map_testpmd(draft, settings, None if params is None else same_for_all(draft, params), guest)
    draft.put("vnfs", [use], found)
    matters = {Relevance.VNFS, *((Relevance.GUESTS,) if kind is VnfKind.VM else ())}
    matters |= {Relevance.TESTPMD} if forwards else set()
    return frozenset(matters | ({Relevance.TAPS} if found.value == _TAPS and kind is VnfKind.VM else set()))


def _with_vnic(vnic: str) -> set[str]:
    """Return the variants that give a virtual machine ports of this kind unasked."""
    alike = [switch for switch in SWITCH_OF.values() if switch.vnic == vnic]
    return {variant for switch in alike for variant in (switch.variant, switch.on_nics)}


def _testpmd(vnf: VnfSpec, flavor: Flavor | None, queues: int) -> GuestTestpmd:
    """Return how testpmd will run in a guest of a flavor: nfvbed's agent keeps vCPU 0 for all else."""
    cores = 1 if flavor is None else min(max(flavor.vcpus - 1, 1), PORTS * queues)
    return GuestTestpmd(vnf.burst, vnf.descriptors, queues, cores)


def forwarding_of(draft: Draft, settings: TestSettings) -> str:
    """Return what the VNFs do with frames: a word of VNFs' `forwarding`."""
    loopback = same_for_all(draft, settings.require("GUEST_LOOPBACK"))
    name = one_of(draft, loopback, _LOOPBACKS)
    if name == "linux_bridge":
        return "bridge"
    if name == "buildin":
        return "image"
    if name == "l2fwd":
        draft.differs(loopback, "XDP redirect forwards in the guest's kernel, not VSPERF's own kernel module")
        return "xdp"
    if name == "clean":
        draft.lacks("nothing forwards in the VNF; such tests are driven step by step", loopback)
        return "io"
    mode = same_for_all(draft, settings.require("GUEST_TESTPMD_FWD_MODE"))
    if not isinstance(mode.value, str):
        raise draft.wrong(mode, "give the name of a testpmd mode")
    if mode.value in _SAME:
        return str(mode.value)
    if mode.value in _NEAR:
        forwarding, text = _NEAR[mode.value]
        draft.differs(mode, text)
        return forwarding
    draft.lacks(f"testpmd's mode is none of {', '.join(sorted(_SAME))}", mode)
    return "io"


def _image(draft: Draft, settings: TestSettings, use: dict[str, Any]) -> None:
    found = settings.get("GUEST_IMAGE")
    image = same_for_all(draft, found) if found is not None else None
    by_itself = use["forwarding"] == "image"
    if image is None or not image.value:
        if by_itself:
            at = image or settings.require("GUEST_LOOPBACK")
            raise draft.wrong(at, "GUEST_LOOPBACK 'buildin' needs a GUEST_IMAGE that forwards by itself")
        return
    if not isinstance(image.value, str):
        raise draft.wrong(image, "give the path of a disk image")
    if by_itself:
        use["image"] = {"file": image.value, "agent": False}
    else:
        draft.differs(image, "the VNF runs in nfvbed's own image; VSPERF logs in to this one and builds the forwarder")
