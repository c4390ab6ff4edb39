"""VSPERF's macros, as VSPERF expands them."""

from pathlib import Path

import pytest

from nfvbed.errors import ConfigurationError
from nfvbed.vsperf.conf.macros import MacroError, expand_guest, expand_references
from nfvbed.vsperf.conf.testcase import TestCase
from tests.unit.vsperf.conf.conf_files import reported, settings_of

CASE = TestCase("t", "pvvp")


@pytest.mark.parametrize(
    ("value", "index", "expected"),
    [
        ("#VMINDEX", 3, "3"),
        ("#MAC(00:00:00:00:00:01,2)", 0, "00:00:00:00:00:01"),
        ("#MAC(00:00:00:00:00:01,2)", 2, "00:00:00:00:00:05"),
        ("#MAC(AA:BB:CC:DD:EE:FF)", 1, "aa:bb:cc:dd:ef:00"),
        ("#IP(192.168.1.2,4)/24", 1, "192.168.1.6/24"),
        ("#IP(1.1.1.5)/16", 1, "1.1.1.6/16"),
        ("#IP(2001:db8::1)", 1, "2001:db8::2"),
        ("#EVAL(6+2*#VMINDEX)", 1, "8"),
        ("root.*#", 1, "root.*#"),
        ([{"mac": "#MAC(00:00:00:00:00:01)"}], 1, [{"mac": "00:00:00:00:00:02"}]),
        (("#EVAL(6)", None, 5), 0, ("6", None, 5)),
    ],
)
def test_macros_of_guests(value, index, expected):
    assert expand_guest(value, index) == expected


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("#FOO(1)", "unknown macro #FOO"),
        ("#MAC(zz)", "no MAC"),
        ("#IP(1.2.3)", "1.2.3"),
        ("#EVAL(__import__)", "only numbers"),
        ("#EVAL(1/0)", "zero"),
        ("#EVAL(1<<9999999999)", "shift"),
        ("#EVAL('a'*9)", "only numbers"),
        ("#EVAL(1 1)", "no sum"),
        ("#EVAL", "no sum"),
    ],
)
def test_bad_macros_of_guests(value, said):
    with pytest.raises(MacroError, match=said):
        expand_guest(value, 0)


def test_guests_get_a_value_each(tmp_path: Path):
    text = "GUEST_SMP = ['2']\nGUEST_CORE_BINDING = [('#EVAL(6+2*#VMINDEX)', '7')]\nGUEST_LOOPBACK = ['a', 'b', 'c']\n"
    own = settings_of(tmp_path, n04_vnf=text).for_test(CASE, 2)
    assert own.get("GUEST_SMP").value == ["2", "2"]
    assert own.get("GUEST_CORE_BINDING").value == [("6", "7"), ("8", "7")]
    assert own.get("GUEST_LOOPBACK").value == ["a", "b"], "those of this test's guests"
    assert own.get("GUEST_IMAGE") is None


def test_references(tmp_path: Path):
    text = """\
TRAFFICGEN_PORT1_MAC = '00:11'
LOG_DIR = 'x-#PARAM(TRAFFICGEN_PORT1_MAC)-#PARAM(TRAFFIC['l2']['srcmac'])-#PARAM(WHITELIST_NICS[1])'
TRAFFIC = {'l2': {'srcmac': '#PARAM(TRAFFICGEN_PORT1_MAC)'}}
WHITELIST_NICS = ['a', 5]
SHELL_CMD = '#PARAM(NOWHERE) #PARAM(WHITELIST_NICS[7])'
"""
    text = text.replace("'x-#PARAM", '"x-#PARAM').replace("[1])'", '[1])"')
    own = settings_of(tmp_path, n03_traffic=text).for_test(CASE, 1)
    assert own.get("LOG_DIR").value == "x-00:11-00:11-5"
    # As in VSPERF, what is known only later stays as it is.
    assert own.get("SHELL_CMD").value == "#PARAM(NOWHERE) #PARAM(WHITELIST_NICS[7])"


def test_references_in_a_circle(tmp_path: Path):
    own = settings_of(tmp_path, n01_a="LOG_DIR = '#PARAM(VNF_DIR)'\nVNF_DIR = '#PARAM(LOG_DIR)'\n").for_test(CASE, 1)
    with pytest.raises(ConfigurationError) as caught:
        own.get("VNF_DIR")
    reported(caught.value, "01_a.conf:2", "circle")


def test_a_bad_macro_is_reported_with_its_line(tmp_path: Path):
    own = settings_of(tmp_path, n04_vnf="\nGUEST_BRIDGE_IP = ['#IP(1.1.1)/16']\n").for_test(CASE, 1)
    with pytest.raises(ConfigurationError) as caught:
        own.get("GUEST_BRIDGE_IP")
    reported(caught.value, "04_vnf.conf:2", "#IP(1.1.1)")


def test_what_weighs_more(tmp_path: Path):
    text = """\
VSWITCH = 'OvsVanilla'
TRAFFICGEN_DURATION = 1
TRAFFIC = {'multistream': 1, 'l3': {'proto': 'tcp'}}
TEST_PARAMS = {'TRAFFICGEN_DURATION': 2, 'VSWITCH': 'x', 'TRAFFIC': {'multistream': 2, 'frame_rate': 2}}
"""
    case = TestCase(
        "t", "p2p", keywords={"vSwitch": "VppDpdkVhost", "Parameters": {"TRAFFIC": {"multistream": 3}, "VNF": "y"}}
    )
    own = settings_of(tmp_path, n01_a=text).for_test(case, 0)
    traffic = own.get("TRAFFIC")
    assert own.get("VSWITCH").value == "VppDpdkVhost"
    assert own.get("VNF").value == "y"
    assert (own.get("TRAFFICGEN_DURATION").value, own.get("TRAFFICGEN_DURATION").place.line) == (2, 4)
    assert traffic.at("multistream").value == 3
    assert (traffic.at("frame_rate").value, traffic.at("frame_rate").place.line) == (2, 4)
    assert (traffic.at("l3", "proto").value, traffic.at("l3", "proto").place.line) == ("tcp", 3)
    assert traffic.at("bidir").value == "True"


def test_expand_references_keeps_other_values():
    assert expand_references({"a": [1, None, "b"]}, {}.__getitem__) == {"a": [1, None, "b"]}
