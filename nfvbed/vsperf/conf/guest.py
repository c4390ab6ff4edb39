"""From VNF and the GUEST settings to the VNFs of an experiment."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from nfvbed.records import VnfKind
from nfvbed.spec.choices import Catalogue
from nfvbed.spec.flavor import Flavor
from nfvbed.vsperf.conf.draft import Draft, one_of, whole
from nfvbed.vsperf.conf.settings import Found, TestSettings

_VNIC_OF: Final[Mapping[str, str]] = MappingProxyType(
    {"QemuDpdkVhostUser": "vhost-user", "QemuVirtioNet": "tap", "QemuPciPassthrough": "vf"}
)
_NATURAL: Final[Mapping[str, str]] = MappingProxyType({"vhost-user": "ovs-dpdk vpp", "tap": "ovs-kernel linux-bridge"})
"""The variants that give a virtual machine such ports anyway."""
_SAME: Final = frozenset(("io", "mac", "macswap", "5tswap"))
_NEAR: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "csum": ("mac", "testpmd runs in mode mac: the same change of addresses, checksums are not computed again"),
        "mac_retry": ("mac", "whether refused frames are tried again is `retry` in the VNF's file"),
        "mac retry": ("mac", "whether refused frames are tried again is `retry` in the VNF's file"),
    }
)
_LOOPBACKS: Final = ("testpmd", "l2fwd", "linux_bridge", "buildin", "clean")
_CORES: Final = re.compile(r"(?:(?:cpus|cores|sockets|threads)=)?([0-9]+)")


def map_guests(draft: Draft, settings: TestSettings, kind: VnfKind, catalogue: Catalogue) -> None:
    """Map what the VNFs are: the same for all of them, as in nfvbed's experiments.

    Args:
        draft: takes the result.
        settings: those of the test.
        kind: VSPERF's VNFs are virtual machines; a process or container instead is noted as a difference.
        catalogue: the flavors that there are.
    """
    found = settings.require("VNF")
    vnic = _VNIC_OF[one_of(draft, found, tuple(_VNIC_OF))]
    if kind is VnfKind.CONTAINER:
        draft.differs(found, "the container is a network namespace that forwards with a kernel bridge")
        draft.put("vnfs", [{"kind": kind.value, "forwarding": "bridge"}], found)
        return
    use: dict[str, Any] = {"kind": kind.value, "forwarding": _forwarding(draft, settings)}
    if kind is VnfKind.VM:
        natural = _NATURAL.get(vnic, "").split()
        # Left open where it makes no difference, so that another variant can be measured beside.
        if not set(draft.experiment.get("variants", ())) <= set(natural):
            use["vnic"] = vnic
        _image(draft, settings, use)
        _flavor(draft, settings, use, catalogue)
    else:
        draft.differs(found, f"the VNF is a {kind.value}, not a virtual machine")
        for name in ("GUEST_IMAGE", "GUEST_SMP", "GUEST_MEMORY"):
            setting = settings.get(name)
            if setting is not None:
                draft.unused(setting, f"a {kind.value} has none")
        if use["forwarding"] == "image":
            draft.lacks(f"a {kind.value} has no image that forwards by itself", settings.require("GUEST_LOOPBACK"))
    draft.put("vnfs", [use], found)


def _same_for_all(draft: Draft, found: Found) -> Found:
    """Return the value that all guests share."""
    if isinstance(found.value, str):
        return found
    if not isinstance(found.value, list | tuple) or not found.value:
        raise draft.wrong(found, "give a list with a value for the first VM at least")
    if any(value != found.value[0] for value in found.value):
        draft.lacks("VNFs of one test that differ from each other", found)
    return Found(found.name, found.value[0], found.place)


def _forwarding(draft: Draft, settings: TestSettings) -> str:
    loopback = _same_for_all(draft, settings.require("GUEST_LOOPBACK"))
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
    mode = _same_for_all(draft, settings.require("GUEST_TESTPMD_FWD_MODE"))
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
    image = _same_for_all(draft, found) if found is not None else None
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


def _flavor(draft: Draft, settings: TestSettings, use: dict[str, Any], catalogue: Catalogue) -> None:
    cores, memory = settings.get("GUEST_SMP"), settings.get("GUEST_MEMORY")
    if cores is None and memory is None:
        return
    plain = [flavor for flavor in map(catalogue.load_flavor, catalogue.flavor_names) if _is_plain(flavor)]
    if cores is not None:
        at = _same_for_all(draft, cores)
        wanted = _vcpus(draft, at)
        plain = [flavor for flavor in plain if flavor.vcpus == wanted]
        if not plain:
            draft.lacks(f"no flavor (flavors/*.yml) has {wanted} shared vCPUs", at)
            return
    if memory is not None:
        at = _same_for_all(draft, memory)
        mib = whole(draft, at, 1, 1 << 24)
        nearest = min(abs(flavor.memory_mib - mib) for flavor in plain)
        plain = [flavor for flavor in plain if abs(flavor.memory_mib - mib) == nearest]
        if nearest:
            draft.differs(at, f"the guest has {plain[0].memory_mib} MiB, as the nearest flavor; add one to flavors/")
    # VSPERF backs its guests' memory with hugepages.
    use["flavor"] = sorted(plain, key=lambda flavor: (not flavor.hugepages, flavor.name))[0].name


def _is_plain(flavor: Flavor) -> bool:
    return flavor.cpu_policy == "shared" and not flavor.realtime and not flavor.numa and flavor.queues == 1


def _vcpus(draft: Draft, found: Found) -> int:
    """Take QEMU's `-smp`: a number, or `sockets=1,cores=2`, whose product it is."""
    count = 1
    for part in str(found.value).split(","):
        match = _CORES.fullmatch(part.strip())
        if match is None or not int(match[1]):
            raise draft.wrong(found, "give a number of vCPUs, or 'sockets=1,cores=2'")
        count *= int(match[1])
    return count
