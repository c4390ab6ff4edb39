"""VPP as VSPERF has it: `VSWITCH_VPP_ARGS` are the sections of its startup.conf."""

import re
from collections.abc import Mapping
from typing import Any, Final

from nfvbed.dataplanes.vsperfswitch import MAX_CORES, FixedSetting, SwitchSettings, SwitchTest, VsperfSwitch

_ARGS: Final = "VSWITCH_VPP_ARGS"
_MODE: Final = "VSWITCH_VPP_L2_CONNECT_MODE"
_FORWARDING: Final = {"xconnect": "l2-cross-connect", "bridge": "bridge-domain"}
_OF_ITS_OWN: Final = frozenset(("unix", "socksvr", "api-trace", "api-segment", "logging", "statseg", "heapsize"))
"""Sections about logs, sockets and memory of VPP's main thread."""
_CPU: Final = re.compile(r"(main-core|skip-cores|workers|corelist-workers)\s+([0-9,\-]+)")
_DPDK: Final = ("socket-mem", "uio-driver", "no-pci", "no-multi-seg")
"""Parts of the section `dpdk` about memory, drivers and NICs; there are none of the latter."""
_OTHER: Final = "VPP's startup.conf has what the variant's options say"


def _map_options(settings: SwitchSettings) -> None:
    if settings.value(_MODE) is not None:
        mode = settings.one_of(_MODE, (*_FORWARDING, "l2patch"))
        if mode in _FORWARDING:
            settings.set_option("forwarding", _FORWARDING[mode])
        else:
            settings.lacks("ports of VPP are joined by cross-connects or bridge domains", _MODE)
    sections = settings.value(_ARGS)
    if sections is None:
        return
    if not isinstance(sections, Mapping) or not all(isinstance(parts, list | tuple) for parts in sections.values()):
        raise settings.wrong("give a dictionary of lists: {'cpu': ['workers 2']}", _ARGS)
    default: Any = settings.default(_ARGS)
    for section, parts in sections.items():
        for part in parts:
            if section == "cpu":
                _cpu(settings, str(part))
            elif section == "dpdk" and str(part).split()[0] in _DPDK:
                settings.differs("nfvbed decides itself which memory is the switch's", _ARGS, section)
            elif section not in _OF_ITS_OWN and part not in default.get(section, ()):
                settings.lacks(_OTHER, _ARGS, section)


def _cpu(settings: SwitchSettings, part: str) -> None:
    match = _CPU.fullmatch(part.strip())
    if match is None:
        settings.lacks(_OTHER, _ARGS, "cpu")
    elif match[1] in ("workers", "corelist-workers"):
        count = int(match[2]) if match[1] == "workers" and match[2].isdecimal() else _count(settings, match[2])
        if not 1 <= count <= MAX_CORES:
            raise settings.wrong(f"give 1 to {MAX_CORES} workers", _ARGS, "cpu")
        settings.set_option("workers", count)
        settings.differs(f"{count} workers; nfvbed decides which cores they are on", _ARGS, "cpu")


def _count(settings: SwitchSettings, text: str) -> int:
    """Return the number of cores in a list: `4,5` or `4-7`."""
    count = 0
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()):
            raise settings.wrong("give cores as 4,5 or 4-7", _ARGS, "cpu")
        count += int(last or first) - int(first) + 1
    return count


_TPUT: Final = "rfc2544_throughput"
_CONT: Final = "rfc2544_continuous"
_BACK: Final = "rfc2544_back2back"

VSPERF = VsperfSwitch(
    vswitch="VppDpdkVhost",
    variant="vpp",
    on_nics="vpp-pci",
    vnic="vhost-user",
    rx_queues="rx_queues",
    single_queue="VPP's vhost-user ports have one queue here",
    map_options=_map_options,
    used=(_ARGS, _MODE),
    fixed=(FixedSetting("VSWITCH_VPP_VHOSTUSER_ARGS", "vhost-user ports have the features that VPP gives them"),),
    tests=(
        SwitchTest("phy2phy_tput_vpp", "p2p", _TPUT, "VPP: throughput, port to port"),
        SwitchTest("phy2phy_cont_vpp", "p2p", _CONT, "VPP: continuous stream, port to port"),
        SwitchTest("phy2phy_back2back_vpp", "p2p", _BACK, "VPP: longest burst, port to port"),
        SwitchTest("pvp_tput_vpp", "pvp", _TPUT, "VPP: throughput through one VNF"),
        SwitchTest("pvp_cont_vpp", "pvp", _CONT, "VPP: continuous stream through one VNF"),
        SwitchTest("pvp_back2back_vpp", "pvp", _BACK, "VPP: longest burst through one VNF"),
        SwitchTest("pvvp_tput_vpp", "pvvp", _TPUT, "VPP: throughput through two VNFs"),
        SwitchTest("pvvp_cont_vpp", "pvvp", _CONT, "VPP: continuous stream through two VNFs"),
        SwitchTest("pvvp_back2back_vpp", "pvvp", _BACK, "VPP: longest burst through two VNFs"),
    ),
)
