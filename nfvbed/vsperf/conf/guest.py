"""Maps VNF and the GUEST settings to the VNFs of an experiment."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from nfvbed.records import VnfKind
from nfvbed.spec.choices import Catalogue
from nfvbed.spec.flavor import Flavor
from nfvbed.vsperf.conf.draft import Draft, one_of, whole
from nfvbed.vsperf.conf.settings import SettingValue, TestSettings
from nfvbed.vsperf.conf.testpmd import PARAMS, GuestTestpmd, map_testpmd
from nfvbed.vsperf.conf.treatment import Relevance

_VNIC_OF: Final[Mapping[str, str]] = MappingProxyType(
    {"QemuDpdkVhostUser": "vhost-user", "QemuVirtioNet": "tap", "QemuPciPassthrough": "vf"}
)
_TAPS: Final = "QemuVirtioNet"
_WITHOUT_VNIC: Final = ("QemuDpdkVhostCuse",)
"""VSPERF had vhost-cuse up to colorado."""
_TO_COPY: Final = "flavors/hugepages.yml"
VNF: Final = "vloop"
PORTS: Final = 2
"""Of a VNF."""
MAX_QUEUES: Final = 64
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
    use: dict[str, Any] = {"kind": kind.value, "forwarding": _forwarding(draft, settings)}
    # What VSPERF's testpmd is started with holds for it alone.
    forwards = _same_for_all(draft, settings.require("GUEST_LOOPBACK")).value == "testpmd"
    queues = _queues(draft, settings)
    if kind is VnfKind.VM:
        natural = _NATURAL.get(vnic, "").split()
        # Left open where it makes no difference, so that another variant can be measured beside.
        if not set(draft.experiment.get("variants", ())) <= set(natural):
            use["vnic"] = vnic
        _image(draft, settings, use)
        _flavor(draft, settings, use, catalogue)
    else:
        if queues is not None and queues.value != 1:
            draft.lacks(f"a {kind.value} has one queue a port", queues)
        draft.differs(found, f"the VNF is a {kind.value}, not a virtual machine")
        if use["forwarding"] == "image":
            draft.lacks(f"a {kind.value} has no image that forwards by itself", settings.require("GUEST_LOOPBACK"))
    if forwards:
        params = settings.get(PARAMS)
        guest = _testpmd(draft, settings, use, 1 if queues is None else queues.value, catalogue)
        map_testpmd(draft, settings, None if params is None else _same_for_all(draft, params), guest)
    draft.put("vnfs", [use], found)
    matters = {Relevance.VNFS, *((Relevance.GUESTS,) if kind is VnfKind.VM else ())}
    matters |= {Relevance.TESTPMD} if forwards else set()
    return frozenset(matters | ({Relevance.TAPS} if found.value == _TAPS and kind is VnfKind.VM else set()))


def _queues(draft: Draft, settings: TestSettings) -> SettingValue | None:
    """Return the number of queues of a port; 0 is one queue. None where no setting gives it."""
    found = settings.get("GUEST_NIC_QUEUES")
    if found is None:
        return None
    queues = _same_for_all(draft, found)
    return SettingValue(queues.name, max(whole(draft, queues, 0, MAX_QUEUES), 1), queues.place)


def _testpmd(
    draft: Draft, settings: TestSettings, use: Mapping[str, Any], queues: int, catalogue: Catalogue
) -> GuestTestpmd:
    """Return how testpmd will run in the guest: nfvbed's agent keeps vCPU 0 for all else."""
    vnf = catalogue.load_vnf(VNF)
    cores = 1
    if use["kind"] == VnfKind.VM.value:
        asked = settings.get("GUEST_SMP")
        flavor = catalogue.load_flavor(use.get("flavor", vnf.flavor))
        # No flavor with so many is missing already, and what testpmd would do with them is not.
        vcpus = flavor.vcpus if asked is None else _vcpus(draft, _same_for_all(draft, asked))
        cores = min(max(vcpus - 1, 1), PORTS * queues)
    return GuestTestpmd(vnf.burst, vnf.descriptors, queues, cores)


def _same_for_all(draft: Draft, found: SettingValue) -> SettingValue:
    """Return the value that all guests share."""
    # Colorado has one value for all guests in some settings.
    if isinstance(found.value, str | int):
        return found
    if not isinstance(found.value, list | tuple) or not found.value:
        raise draft.wrong(found, "give a list with a value for the first VM at least")
    if any(value != found.value[0] for value in found.value):
        draft.lacks("VNFs of one test that differ from each other", found)
    return SettingValue(found.name, found.value[0], found.place)


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
    cores, memory, queues = settings.get("GUEST_SMP"), settings.get("GUEST_MEMORY"), _queues(draft, settings)
    if cores is None and memory is None and (queues is None or queues.value == 1):
        return
    plain = [flavor for flavor in map(catalogue.load_flavor, catalogue.flavor_names) if _is_plain(flavor)]
    wanted: dict[str, int] = {}
    if cores is not None:
        cores = _same_for_all(draft, cores)
        wanted["vcpus"] = _vcpus(draft, cores)
        plain = [flavor for flavor in plain if flavor.vcpus == wanted["vcpus"]]
        if not plain:
            _no_flavor(draft, wanted, f"{wanted['vcpus']} shared vCPUs", cores)
            return
    wanted["queues"] = 1 if queues is None else queues.value
    plain = [flavor for flavor in plain if flavor.queues == wanted["queues"]]
    if not plain and queues is not None:
        named = f" with {wanted['vcpus']} shared vCPUs" if "vcpus" in wanted else ""
        _no_flavor(draft, wanted, f"{wanted['queues']} queues a port{named}", queues)
        return
    if memory is not None:
        at = _same_for_all(draft, memory)
        plain = _with_memory(draft, at, plain, wanted, asked=not settings.is_default(memory))
    if plain:
        # VSPERF backs its guests' memory with hugepages.
        use["flavor"] = sorted(plain, key=lambda flavor: (not flavor.hugepages, flavor.name))[0].name


def _with_memory(
    draft: Draft, found: SettingValue, flavors: list[Flavor], wanted: Mapping[str, int], *, asked: bool
) -> list[Flavor]:
    """Return the flavors nearest to an amount of memory.

    Args:
        draft: gets what is missing or differs.
        found: the amount, in MiB.
        flavors: to choose from; at least one.
        wanted: the other demands.
        asked: whether it differs from VSPERF's default: another amount is missing then.
    """
    mib = whole(draft, found, 1, 1 << 24)
    nearest = min(abs(flavor.memory_mib - mib) for flavor in flavors)
    near = [flavor for flavor in flavors if abs(flavor.memory_mib - mib) == nearest]
    if nearest and asked:
        named = "".join(f", {key} {count}" for key, count in wanted.items())
        _no_flavor(draft, {**wanted, "memory_mib": mib}, f"memory_mib {mib}{named}", found)
    elif nearest:
        draft.differs(found, f"the guest has {near[0].memory_mib} MiB, as the nearest flavor; add one to flavors/")
    return near


def _no_flavor(draft: Draft, wanted: Mapping[str, int], named: str, found: SettingValue) -> None:
    keys = ", ".join(f"{key}: {count}" for key, count in wanted.items())
    draft.lacks(
        f"no flavor (flavors/*.yml) has {named}", found, f"add a flavor with {keys}, as a copy of {_TO_COPY} with these"
    )


def _is_plain(flavor: Flavor) -> bool:
    return flavor.cpu_policy == "shared" and not flavor.realtime and not flavor.numa


def _vcpus(draft: Draft, found: SettingValue) -> int:
    """Return the number of vCPUs in QEMU's `-smp`: a number, or `sockets=1,cores=2`, whose product it is."""
    count = 1
    for part in str(found.value).split(","):
        match = _CORES.fullmatch(part.strip())
        if match is None or not int(match[1]):
            raise draft.wrong(found, "give a number of vCPUs, or 'sockets=1,cores=2'")
        count *= int(match[1])
    return count
