"""What VSPERF has beside the plain path: a VLAN tag, a tunnel within the switch, a load."""

from pathlib import Path
from typing import Any

import pytest

from nfvbed.errors import ConfigurationError
from nfvbed.vsperf.conf import Selection, read_settings, select, study_of
from tests.unit.vsperf.conf.conf_files import PROJECT, settings_of

NOTHING = read_settings([])


def own(folder: Path, case: dict[str, Any], more: str = "") -> Selection:
    case = {"Name": "own", "Parameters": {"TRAFFIC": {"traffic_type": "rfc2544_continuous"}}, **case}
    return select(settings_of(folder, n01_tests=f"PERFORMANCE_TESTS = {[case]!r}\n{more}"), "own", PROJECT)


def test_a_vlan_tag_is_pushed_by_the_switchs_rules():
    selection = select(NOTHING, "phy2phy_tput_mod_vlan", PROJECT)
    (variant,) = study_of(selection, PROJECT).variants
    assert (variant.name, variant.options.flows) == ("ovs-dpdk", "push-vlan")


@pytest.mark.parametrize(
    ("case", "more", "lacks"),
    [
        ({"Deployment": "p2p", "Frame Modification": "mpls"}, "", "by a VLAN tag alone"),
        ({"Deployment": "pvp", "Frame Modification": "vlan"}, "", "between two ports outside alone"),
        ({"Deployment": "ptunp", "Frame Modification": "vlan"}, "", "between two ports outside alone"),
        ({"Deployment": "p2p", "Frame Modification": "vlan"}, "VSWITCH = 'VppDpdkVhost'", "by Open vSwitch alone"),
        ({"Deployment": "ptunp"}, "VSWITCH = 'OvsVanilla'", "between Open vSwitches with DPDK"),
        ({"Deployment": "ptunp", "Tunnel Type": "gre"}, "", "are vxlan or geneve"),
        ({"Deployment": "ptunp"}, "VSWITCH_MULTI_QUEUES = 2", "have one queue"),
        ({"Deployment": "op2p", "Tunnel Operation": "encapsulation"}, "", "there is no such path"),
        ({"Deployment": "p2p", "Load": {"load": 9, "pattern": "c"}}, "LOADGEN = 'StressorVM'", "no virtual machines"),
        (
            {"Deployment": "p2p", "Load": {"load": 9, "pattern": "c", "options": "--vm-keep"}},
            "LOADGEN = 'StressNg'",
            "stress-ng is started with",
        ),
    ],
)
def test_what_nfvbed_has_no_equivalent_of_is_missing(tmp_path: Path, case: dict[str, Any], more: str, lacks: str):
    assert lacks in own(tmp_path, case, more).missing[0]


@pytest.mark.parametrize(("tunnel", "variant"), [("vxlan", "ovs-overlay-vxlan"), ("geneve", "ovs-overlay-geneve")])
def test_a_tunnel_within_the_switch_is_the_overlay_without_its_rules(tmp_path: Path, tunnel: str, variant: str):
    selection = own(tmp_path, {"Deployment": "ptunp"}, f"TUNNEL_TYPE = '{tunnel}'\nVSWITCH_FLOW_TIMEOUT = '30000'\n")
    assert selection.missing == ()
    assert {note.name for note in selection.notes if note.kind == "differs"} >= {"Deployment", "VSWITCH_FLOW_TIMEOUT"}
    (made,) = study_of(selection, PROJECT).variants
    assert (made.name, made.options.conntrack, made.options.rules) == (variant, False, 0)


def test_the_loads_of_vsperfs_own_tests_become_a_neighbour():
    cpu = study_of(select(NOTHING, "phy2phy_cpu_load", PROJECT), PROJECT).experiment.neighbour
    memory = study_of(select(NOTHING, "phy2phy_mem_load", PROJECT), PROJECT).experiment.neighbour
    assert (cpu.workers, cpu.load_percent, cpu.reserved_cores, cpu.memory_percent) == ({"cpu": 1}, 100, 4, None)
    assert (memory.workers, memory.load_percent, memory.memory_percent) == ({"memory": 1}, 50, 80)


def test_kinds_of_workers_are_weighed_as_the_pattern_has_them(tmp_path: Path):
    load = {"tool": "stress-ng", "load": 50, "pattern": "ccmi"}
    selection = own(tmp_path, {"Deployment": "p2p", "Load": load})
    assert selection.experiment["neighbour"]["workers"] == {"cpu": 2, "memory": 1, "io": 1}
    assert selection.missing == ()


def test_without_a_load_generator_a_load_is_none_as_in_vsperf(tmp_path: Path):
    load = {"Deployment": "p2p", "Load": {"load": 50, "pattern": "c"}}
    quiet = own(tmp_path, load)
    assert "neighbour" not in quiet.experiment
    assert [note.text for note in quiet.notes if note.name == "Load"] == [
        "as in VSPERF, LOADGEN = 'DummyLoadGen' makes no load"
    ]
    without = own(tmp_path, {"Deployment": "p2p"}, "LOADGEN = 'StressNg'")
    assert ("neighbour" in without.experiment, without.missing) == (False, ())


def test_a_pattern_without_a_kind_is_no_valid_test(tmp_path: Path):
    with pytest.raises(ConfigurationError, match="c \\(CPU\\)"):
        own(tmp_path, {"Deployment": "p2p", "Load": {"load": 5, "pattern": "x"}}, "LOADGEN = 'Stress'")
