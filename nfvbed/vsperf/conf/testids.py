"""VSPERF's test IDs and their native equivalents."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.dataplanes.vsperfswitch import VsperfSwitch
from nfvbed.spec.layout import MAX_CHAIN, SIDE_BY_SIDE, layout
from nfvbed.vsperf.conf.testcase import TestCase
from nfvbed.vsperf.conf.tunnel import IN_SWITCH


class TestKind(StrEnum):
    """The subject of a native test."""

    __test__ = False

    MAXIMUM_LOAD = "maximum-load"
    """Trials at maximum load, and at a fraction of what arrived: an experiment's `trials`."""
    GIVEN_LOAD = "given-load"
    """A continuous stream at a part of the line rate."""
    THROUGHPUT = "throughput"
    """The highest load without (or with a given) loss: a search, RFC 2544 section 26.1."""
    BACK_TO_BACK = "back-to-back"
    """The longest burst without loss, RFC 2544 section 26.4 and RFC 9004."""
    BURST = "burst"
    """One burst of a given number of frames."""
    FORWARDING_RATE = "forwarding-rate"
    """RFC 2889 section 5.6: the highest forwarding rate, among loads up to the highest."""
    ADDRESS_CACHING = "address-caching"
    """RFC 2889 section 5.7."""
    ADDRESS_LEARNING = "address-learning"
    """RFC 2889 section 5.8."""


KIND_OF: Final[Mapping[str, TestKind]] = MappingProxyType(
    {
        "rfc2544_throughput": TestKind.THROUGHPUT,
        "rfc2544_continuous": TestKind.MAXIMUM_LOAD,
        "rfc2544_back2back": TestKind.BACK_TO_BACK,
        "burst": TestKind.BURST,
        "rfc2889_forwarding": TestKind.FORWARDING_RATE,
        "rfc2889_caching": TestKind.ADDRESS_CACHING,
        "rfc2889_learning": TestKind.ADDRESS_LEARNING,
    }
)
"""By TRAFFIC['traffic_type']; a continuous stream below 100 % is `GIVEN_LOAD`."""
SWITCH_OF: Final[Mapping[str, VsperfSwitch]] = MappingProxyType({one.vswitch: one for one in CATALOGUE.vsperf})
"""By VSWITCH: what the data plane's room says."""
_SERIAL: Final = re.compile(r"pvvp([0-9]*)")
_PARALLEL: Final = re.compile(r"pvpv([0-9]*)")


def topology_of(deployment: str, kubernetes: bool = False) -> str | None:
    """Return the topology with the same path as a deployment of VSPERF; None where nfvbed has none."""
    if kubernetes:
        return "pcp" if deployment == "p2p" else None
    if deployment in ("p2p", "pvp"):
        return deployment
    if deployment == IN_SWITCH:
        return "p2p"
    serial, parallel = _SERIAL.fullmatch(deployment), _PARALLEL.fullmatch(deployment)
    if serial:
        count = int(serial[1] or 2)
        return {1: "pvp", 2: "pvvp"}.get(count, f"pv{count}p") if 1 <= count <= MAX_CHAIN else None
    if parallel:
        return SIDE_BY_SIDE.get(int(parallel[1] or 2))
    return None


@dataclass(frozen=True)
class TestId:
    """A test of VSPERF, as VSPERF defines it."""

    __test__ = False

    deployment: str
    traffic_type: str
    title: str
    multistream: int = 0
    bidirectional: bool = True
    keywords: tuple[tuple[str, Any], ...] = ()
    kubernetes: bool = False

    @property
    def topology(self) -> str | None:
        """The native topology; None where nfvbed has none."""
        return topology_of(self.deployment, self.kubernetes)

    @property
    def kind(self) -> TestKind:
        """The native test."""
        return KIND_OF[self.traffic_type]

    @property
    def variant(self) -> str | None:
        """The variant that the ID names itself; None: VSWITCH decides."""
        switch = dict(self.keywords).get("vSwitch")
        return SWITCH_OF[switch].variant if switch else None

    @property
    def flows(self) -> int:
        """Flows per direction: at least one for each of the VNFs side by side."""
        return max(self.multistream, layout(self.topology).ways if self.topology else 1)

    def case(self, name: str) -> TestCase:
        """Return the test case that VSPERF's own files define under this ID."""
        traffic: dict[str, Any] = {"traffic_type": self.traffic_type}
        traffic |= {"multistream": self.multistream} if self.multistream else {}
        traffic |= {} if self.bidirectional else {"bidir": "False"}
        traffic |= {"burst_size": 1000} if self.traffic_type == "burst" else {}
        keywords = dict(self.keywords)
        generator = {"LOADGEN": "StressNg"} if "Load" in keywords else {}
        keywords["Parameters"] = {**generator, "TRAFFIC": traffic}
        return TestCase(name, self.deployment, self.title, keywords, None, self.kubernetes)


_VLAN: Final = (("Frame Modification", "vlan"),)
_TPUT: Final = "rfc2544_throughput"
_CONT: Final = "rfc2544_continuous"
_BACK: Final = "rfc2544_back2back"
_SCALE: Final = 8000


def _load(**load: Any) -> tuple[tuple[str, Any], ...]:
    return (("Load", load),)


def _overlay(operation: str) -> tuple[tuple[str, Any], ...]:
    return (("Tunnel Operation", operation),)


def _of_switches() -> dict[str, TestId]:
    """Return the tests whose IDs name a switch."""
    return {
        test.id: TestId(test.deployment, test.traffic_type, test.title, keywords=(("vSwitch", switch.vswitch),))
        for switch in SWITCH_OF.values()
        for test in switch.tests
    }


TEST_IDS: Final[Mapping[str, TestId]] = MappingProxyType(
    {
        "phy2phy_tput": TestId("p2p", _TPUT, "Throughput, port to port"),
        "phy2phy_forwarding": TestId("p2p", "rfc2889_forwarding", "Highest forwarding rate"),
        "phy2phy_learning": TestId("p2p", "rfc2889_learning", "Rate of address learning"),
        "phy2phy_caching": TestId("p2p", "rfc2889_caching", "Addresses that are kept"),
        "back2back": TestId("p2p", _BACK, "Longest burst without loss, port to port"),
        "phy2phy_tput_mod_vlan": TestId("p2p", _TPUT, "Throughput with VLAN tagging", keywords=_VLAN),
        "phy2phy_tput_mod_vlan_cont": TestId("p2p", _CONT, "Continuous stream with VLAN tagging", keywords=_VLAN),
        "phy2phy_cont": TestId("p2p", _CONT, "Continuous stream, port to port"),
        "phy2phy_burst": TestId("p2p", "burst", "One burst of 1,000 frames"),
        "pvp_cont": TestId("pvp", _CONT, "Continuous stream through one VNF"),
        "pvvp_cont": TestId("pvvp", _CONT, "Continuous stream through two VNFs"),
        "pvpv_cont": TestId("pvpv", _CONT, "Continuous stream through two VNFs side by side"),
        "phy2phy_scalability": TestId("p2p", _TPUT, "Throughput of 8,000 flows", multistream=_SCALE),
        "phy2phy_scalability_cont": TestId("p2p", _CONT, "Continuous stream of 8,000 flows", multistream=_SCALE),
        "pvp_tput": TestId("pvp", _TPUT, "Throughput through one VNF"),
        "pvp_back2back": TestId("pvp", _BACK, "Longest burst without loss through one VNF"),
        "pvvp_tput": TestId("pvvp", _TPUT, "Throughput through two VNFs"),
        "pvvp_back2back": TestId("pvvp", _BACK, "Longest burst without loss through two VNFs"),
        "phy2phy_cpu_load": TestId(
            "p2p", _TPUT, "Throughput beside CPU load", keywords=_load(load=100, reserved=4, pattern="c")
        ),
        "phy2phy_mem_load": TestId(
            "p2p", _TPUT, "Throughput beside memory load", keywords=_load(load=50, pattern="m", load_memory=80)
        ),
        **_of_switches(),
        "vswitch_p4vp_tput": TestId("pvvp4", _TPUT, "Throughput through four VNFs"),
        "vswitch_p4vp_back2back": TestId("pvvp4", _BACK, "Longest burst without loss through four VNFs"),
        "vswitch_p4vp_cont": TestId("pvvp4", _CONT, "Continuous stream through four VNFs"),
        "2pvp_udp_dest_flows": TestId("pvpv2", _CONT, "Continuous stream through two VNFs side by side"),
        "4pvp_udp_dest_flows": TestId("pvpv4", _CONT, "Continuous stream through four VNFs side by side"),
        "6pvp_udp_dest_flows": TestId("pvpv6", _CONT, "Continuous stream through six VNFs side by side"),
        "overlay_p2p_mod_tput": TestId(
            IN_SWITCH, _TPUT, "Overlay, both ways in the switch", 0, False, (("Tunnel Type", "vxlan"),)
        ),
        "overlay_p2p_tput": TestId("op2p", _TPUT, "Overlay", 0, False, _overlay("encapsulation")),
        "overlay_p2p_cont": TestId("op2p", _CONT, "Overlay", 0, False, _overlay("encapsulation")),
        "overlay_p2p_decap_tput": TestId("op2p", _TPUT, "Overlay", 0, False, _overlay("decapsulation")),
        "overlay_p2p_decap_cont": TestId("op2p", _CONT, "Overlay", 0, False, _overlay("decapsulation")),
        "pcp_tput": TestId("p2p", _TPUT, "Throughput through one container", kubernetes=True),
    }
)
"""Every test of VSPERF's stock files that is not driven step by step, but for those with settings beside its traffic
(`ovsdpdk_nic_p2p_...`); known also without those files."""
