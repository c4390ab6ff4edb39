"""Maps VSWITCH and the VSWITCH settings to a variant and its options."""

import re
from collections.abc import Mapping
from typing import Any, Final

from nfvbed.spec.loader import Project
from nfvbed.vsperf.conf.draft import Draft, one_of, whole
from nfvbed.vsperf.conf.nics import map_nics
from nfvbed.vsperf.conf.settings import SettingValue, TestSettings
from nfvbed.vsperf.conf.testcase import TestCase
from nfvbed.vsperf.conf.testids import ON_NICS, VARIANT_OF
from nfvbed.vsperf.conf.tunnel import PLAIN, map_tunnel

NONE: Final = "none"
MAX_PMD_CORES: Final = 64
MAX_QUEUES: Final = 64
MIN_IDLE_MS: Final = 500
MAX_IDLE_MS: Final = 3_600_000
WITH_PMD: Final = "ovs-dpdk"
OVS: Final = (WITH_PMD, "ovs-kernel")
VPP: Final = "vpp"
_PLACED: Final = frozenset(
    (
        "dpdk-init",
        "dpdk-lcore-mask",
        "dpdk-socket-mem",
        "dpdk-socket-limit",
        "dpdk-alloc-mem",
        "dpdk-hugepage-dir",
        "pmd-cpu-mask",
    )
)
"""Keys of VSWITCHD_DPDK_CONFIG about cores and memory, which nfvbed decides; VSPERF sets some of them itself too."""
_VPP_OF_ITS_OWN: Final = frozenset(("unix", "socksvr", "api-trace", "api-segment", "logging", "statseg", "heapsize"))
"""Sections of VSWITCH_VPP_ARGS about logs, sockets and memory of VPP's main thread."""
_VPP_CPU: Final = re.compile(r"(main-core|skip-cores|workers|corelist-workers)\s+([0-9,\-]+)")
_VPP_DPDK: Final = ("socket-mem", "uio-driver", "no-pci", "no-multi-seg")
"""Parts of the section `dpdk` about memory, drivers and NICs; there are none of the latter."""
_OWN_BUILD: Final = "leave PATHS out; environment variables name a build of your own (docs/reference/environment.md)"
_RX_QUEUES: Final = {WITH_PMD: "n_rxq", VPP: "rx_queues"}
"""Switch: the option of its variant that says on how many queues the outer ports receive."""
_FORWARDING: Final = {"xconnect": "l2-cross-connect", "bridge": "bridge-domain"}


def map_switch(draft: Draft, settings: TestSettings, project: Project, case: TestCase) -> str | None:
    """Map the data plane; one without a variant is missing, and no other replaces it.

    Args:
        case: the test, whose deployment may be a tunnel within the switch.

    Returns:
        The name of the variant whose switch it is, on virtual ports; None where the test has no switch.
    """
    found = settings.require("VSWITCH")
    if str(found.value).lower() == NONE:
        draft.lacks("a path without a switch (SR-IOV, testpmd alone) is no variant", found)
        return None
    name = VARIANT_OF[one_of(draft, found, (*VARIANT_OF, NONE))]
    draft.nics = map_nics(draft, settings, name)
    tunnelled = map_tunnel(draft, settings, case)
    if tunnelled and name != WITH_PMD:
        draft.lacks("tunnels are between Open vSwitches with DPDK", found)
    variant = tunnelled or (ON_NICS[name] if draft.nics else name)
    if variant not in project.variant_names:
        draft.lacks(f"there is no variant {variant} (deploy/variants/{variant}.yml)", found)
    draft.put("variants", [variant], found)
    if name in _RX_QUEUES:
        _queues(draft, settings, _RX_QUEUES[name])
    if name == WITH_PMD:
        _threads(draft, settings)
        _dpdk_config(draft, settings)
    if name in OVS:
        _idle(draft, settings, tunnelled is not None)
    if name == VPP:
        _vpp(draft, settings)
    _build(draft, settings, found)
    return name


def _threads(draft: Draft, settings: TestSettings) -> None:
    mask = settings.get("VSWITCH_PMD_CPU_MASK")
    if mask is not None:
        draft.variant_options["pmd_cores"] = _cores(draft, mask)
        draft.differs(mask, "as many PMD threads as the mask has cores; nfvbed decides which cores they are")


def _queues(draft: Draft, settings: TestSettings, option: str) -> None:
    """Map the queues of the outer ports; VPP's have several on NICs alone.

    Args:
        option: of the variant.
    """
    for name in ("VSWITCH_DPDK_MULTI_QUEUES", "VSWITCH_MULTI_QUEUES"):
        queues = settings.get(name)
        count = 0 if queues is None else whole(draft, queues, 0, MAX_QUEUES)
        if queues is None or count <= 1:
            continue
        if draft.variant_options.keys() >= PLAIN.keys():
            draft.lacks("the overlay's ports have one queue", queues, f"give {name} = 0")
        elif draft.nics or option == _RX_QUEUES[WITH_PMD]:
            draft.variant_options[option] = count
        else:
            text = "VPP's vhost-user ports have one queue here"
            draft.lacks(text, queues, f"give {name} = 0, or NICs: WHITELIST_NICS")


def _cores(draft: Draft, found: SettingValue) -> int:
    try:
        count = int(str(found.value), 16).bit_count()
    except ValueError as error:
        raise draft.wrong(found, "give a mask in hexadecimal digits: '30' for cores 4 and 5") from error
    if not 1 <= count <= MAX_PMD_CORES:
        raise draft.wrong(found, f"give a mask of 1 to {MAX_PMD_CORES} cores")
    return count


def _dpdk_config(draft: Draft, settings: TestSettings) -> None:
    """Map Open vSwitch's `other_config`; VSPERF gives it all keys unchanged."""
    found = settings.get("VSWITCHD_DPDK_CONFIG")
    if found is None or settings.is_default(found):
        return
    if not isinstance(found.value, Mapping):
        raise draft.wrong(found, "give a dictionary: {'dpdk-init': 'true'}")
    for key in found.value:
        if key in _PLACED:
            draft.differs(found.at(key), "nfvbed decides itself which cores and memory are the switch's")
        else:
            draft.lacks("other_config of Open vSwitch has what the variant's options say", found.at(key))


def _idle(draft: Draft, settings: TestSettings, tunnelled: bool) -> None:
    found = settings.get("VSWITCH_FLOW_TIMEOUT")
    if found is not None and tunnelled:
        draft.differs(found, "the overlay's switches have Open vSwitch's own time")
    elif found is not None:
        draft.variant_options["max_idle_ms"] = whole(draft, found, MIN_IDLE_MS, MAX_IDLE_MS)


def _vpp(draft: Draft, settings: TestSettings) -> None:
    mode = settings.get("VSWITCH_VPP_L2_CONNECT_MODE")
    if mode is not None:
        if one_of(draft, mode, (*_FORWARDING, "l2patch")) not in _FORWARDING:
            draft.lacks("ports of VPP are joined by cross-connects or bridge domains", mode)
        else:
            draft.variant_options["forwarding"] = _FORWARDING[mode.value]
    found = settings.get("VSWITCH_VPP_ARGS")
    if found is None:
        return
    if not isinstance(found.value, Mapping) or not all(isinstance(part, list | tuple) for part in found.value.values()):
        raise draft.wrong(found, "give a dictionary of lists: {'cpu': ['workers 2']}")
    default: Any = settings.default("VSWITCH_VPP_ARGS")
    for section, parts in found.value.items():
        for part in parts:
            if section == "cpu":
                _vpp_cpu(draft, found.at(section), str(part))
            elif section == "dpdk" and str(part).split()[0] in _VPP_DPDK:
                draft.differs(found.at(section), "nfvbed decides itself which memory is the switch's")
            elif section not in _VPP_OF_ITS_OWN and part not in default.get(section, ()):
                draft.lacks("VPP's startup.conf has what the variant's options say", found.at(section))


def _vpp_cpu(draft: Draft, found: SettingValue, part: str) -> None:
    match = _VPP_CPU.fullmatch(part.strip())
    if match is None:
        draft.lacks("VPP's startup.conf has what the variant's options say", found)
    elif match[1] in ("workers", "corelist-workers"):
        count = int(match[2]) if match[1] == "workers" and match[2].isdecimal() else _count(draft, found, match[2])
        if not 1 <= count <= MAX_PMD_CORES:
            raise draft.wrong(found, f"give 1 to {MAX_PMD_CORES} workers")
        draft.variant_options["workers"] = count
        draft.differs(found, f"{count} workers; nfvbed decides which cores they are on")


def _count(draft: Draft, found: SettingValue, text: str) -> int:
    """Return the number of cores in a list: `4,5` or `4-7`."""
    count = 0
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()):
            raise draft.wrong(found, "give cores as 4,5 or 4-7")
        count += int(last or first) - int(first) + 1
    return count


def _build(draft: Draft, settings: TestSettings, switch: SettingValue) -> None:
    """Refuse a user's own build; VSPERF's default is a build too, of a release in its scripts."""
    found = settings.get("PATHS")
    if found is None:
        return
    section = found.at("vswitch", str(switch.value))
    default: Any = settings.default("PATHS")
    known = (default or {}).get("vswitch", {}).get(switch.value, {})
    kind = section.at("type").value or known.get("type")
    parts = section.at(str(kind))
    if section.value is None:
        return
    own = [
        parts.at(key)
        for key in parts.value or {}
        if not settings.is_like(parts.at(key), known.get(str(kind), {}).get(key))
    ]
    for part in own:
        draft.lacks("the switch that is measured is nfvbed's own build", part, _OWN_BUILD)
    if not own:
        draft.differs(section, "the switch that is measured is nfvbed's own build")
