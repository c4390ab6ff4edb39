"""Files of VSPERF's form are read as VSPERF reads them, never executed; every bad line is reported with its place."""

import copy
from pathlib import Path

import pytest

from nfvbed.errors import ConfigurationError
from nfvbed.vsperf.conf import read_settings
from nfvbed.vsperf.conf.treatment import SETTINGS
from nfvbed.vsperf.conf.unknown import close_name
from tests.refusals import misconfigured
from tests.unit.vsperf.conf.conf_files import COMMON, SWITCH, TESTS, reported, settings_of, write


def refused(folder: Path, text: str, *parts: str) -> None:
    misconfigured(lambda: settings_of(folder, n05_bad=text), "05_bad.conf", *parts)


def test_forms_of_stock_files(tmp_path: Path):
    read = settings_of(tmp_path, n00_common=COMMON, n02_vswitch=SWITCH)
    switches = read.values["PATHS"]["vswitch"]
    assert read.values["ROOT_DIR"] == str(tmp_path)
    assert switches["OvsVanilla"]["src"]["path"] == f"{tmp_path}/src_vanilla/ovs/ovs/"
    # deepcopy: the other one keeps its own.
    assert switches["OvsDpdkVhost"]["src"]["path"] == f"{tmp_path}/src/ovs/ovs/"
    assert switches["OvsVanilla"]["bin"] == {"ctl": "ovs-ctl"}


def test_expressions_of_integration_files(tmp_path: Path):
    text = """\
from conf import settings
_1st = 4
_MASK = str(hex((1<<_1st) + (1<<5))[2:])
LOG_FILE_VSWITCHD = 'vswitchd.log'
name, ext = os.path.splitext('vswitchd.log')
_LOG = os.path.join(settings.getValue('RESULTS_PATH'), "{name}_{uid}{ex}".format(name=name, uid='1', ex=ext))
_CHECK = 'len(#STEP[-1])=={}'.format(int('2')*2)
_LOSS = round(100 - 1 / 65536 * 100, 3)
STEP_INIT = [['vswitch', 'add_switch', 'int_br0']]
INTEGRATION_TESTS = [{"Name": "a", "Deployment": "clean", "TestSteps": STEP_INIT + [['x', -1]]}]
INTEGRATION_TESTS += [{"Name": "b", "Deployment": "clean", "TestSteps": []}]
VSWITCH_PMD_CPU_MASK = _MASK
TEST_STEP_DELAY = _LOSS
VSWITCH_BRIDGE_NAME = _CHECK + _LOG
"""
    read = settings_of(tmp_path, n01_tests=text)
    assert [case.name for case in read.tests] == ["a", "b"]
    assert read.values["VSWITCH_PMD_CPU_MASK"] == "30"
    assert read.values["TEST_STEP_DELAY"] == 99.998
    assert read.values["VSWITCH_BRIDGE_NAME"] == "len(#STEP[-1])==4$RESULTS_PATH/vswitchd_1.log"
    assert read.tests[0].keywords["TestSteps"] == [["vswitch", "add_switch", "int_br0"], ["x", -1]]


def test_files_are_merged_in_vsperfs_order(tmp_path: Path):
    folder = write(
        tmp_path,
        n10_custom="TRAFFICGEN_DURATION = 3\nVSWITCH = None\n",
        n2_early="TRAFFICGEN_DURATION = 1\nVSWITCH = 'OvsVanilla'\n",
        n02a_later="TRAFFICGEN_DURATION = 2\nTRAFFICGEN = 'Dummy'\n",
    )
    (folder / "notes.conf").write_text("no Python at all")
    (folder / "03_left.txt").write_text("neither")
    read = read_settings([folder])
    assert [file.name for file in read.files] == ["2_early.conf", "02a_later.conf", "10_custom.conf"]
    assert read.values["TRAFFICGEN_DURATION"] == 3
    # As in VSPERF, None leaves a setting as it was.
    assert read.values["VSWITCH"] == "OvsVanilla"
    assert (read.places["VSWITCH"].path.name, read.places["VSWITCH"].line) == ("2_early.conf", 2)
    assert read.places["TRAFFICGEN_DURATION"].path.name == "10_custom.conf"


def test_a_users_own_file_needs_no_vsperf(tmp_path: Path):
    file = tmp_path / "my.conf"
    file.write_text("PATHS['vswitch']['OvsDpdkVhost']['type'] = 'bin'\nLOG_DIR = os.path.join(ROOT_DIR, 'log')\n")
    read = read_settings([file])
    assert read.values["LOG_DIR"] == "VSPERF/log"
    assert {name: place.line for name, place in read.places.items()} == {"LOG_DIR": 2, "PATHS": 1}


@pytest.mark.parametrize("text", ["TEST_PARAMS['VSWITCH'] = 'a'", "TEST_PARAMS.update({'VSWITCH': 'a'})"])
def test_parts_of_a_setting_are_kept_though_no_file_sets_the_whole(tmp_path: Path, text: str):
    read = settings_of(tmp_path, n05_own=f"\n{text}\n")
    assert (read.values["TEST_PARAMS"], read.places["TEST_PARAMS"].line) == ({"VSWITCH": "a"}, 2)
    refused(tmp_path, text.replace("VSWITCH", "VSWICH"), "'VSWICH'", "VSWITCH")


MANY = """\
VSWITHC = 'OvsDpdkVhost'
TRAFFICGEN_TREX_USERS = 'a'
TRAFFICGEN_IXIA_NIC = '1'
TRAFFIC = {'bidirr': 'True', 'l3': {'portocol': 'udp'}}
TEST_PARAMS = {'VSWICH': 1, 'TRAFFIC': {'frame_rat': 1}}
PERFORMANCE_TESTS = [{'Name': 'a', 'Deployment': 'p2p', 'Deploymnt': 'p2p', 'Parameters': {'TRAFIC': {}}}]
"""


def test_all_unknown_names_are_told_at_once(tmp_path: Path):
    with pytest.raises(ConfigurationError) as caught:
        settings_of(tmp_path, n05_bad=MANY, n06_more="OTHER = 5\n")
    error = caught.value
    assert error.what == "10 unknown names"
    told = [(line.split(":")[1], line.split("'")[1], "did you mean" in line) for line in error.observed.splitlines()]
    assert sorted(told) == [
        ("1", "OTHER", False),
        ("1", "VSWITHC", True),
        ("2", "TRAFFICGEN_TREX_USERS", True),
        ("3", "TRAFFICGEN_IXIA_NIC", False),
        ("4", "bidirr", True),
        ("4", "portocol", False),
        ("5", "VSWICH", True),
        ("5", "frame_rat", True),
        ("6", "Deploymnt", True),
        ("6", "TRAFIC", True),
    ]


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("VSWITHC", "VSWITCH"),
        ("TRAFFICGEN_PKT_SIZE", "TRAFFICGEN_PKT_SIZES"),
        ("TRAFFICGEN_TREX_PORT3", "TRAFFICGEN_TREX_PORT2"),
        ("GUEST_NIC_QUEUE", "GUEST_NIC_QUEUES"),
        ("TRAFFICGEN_TREX_LINE_SPEED", "TRAFFICGEN_TREX_LINE_SPEED_GBPS"),
        ("TRAFFICGEN_IXIA_NIC", None),
        ("TRAFFICGEN_ZENA_MOON", None),
        ("MY_OWN", None),
    ],
)
def test_a_name_is_proposed_where_it_is_a_typing_mistake_away(name: str, close: str | None):
    assert close_name(name, SETTINGS) == close


def test_the_settings_of_an_installed_vsperf_are_its_own(tmp_path: Path):
    stock, own = write(tmp_path, n03_newer="TRAFFICGEN_OF_TOMORROW = ''\n"), tmp_path / "own.conf"
    own.write_text("TRAFFICGEN_OF_TOMORROW = 'x'\n")
    read = read_settings([stock, own], installed=stock)
    assert read.values["TRAFFICGEN_OF_TOMORROW"] == "x"
    own.write_text("TRAFFICGEN_OF_YESTERDAY = 'x'\n")
    with pytest.raises(ConfigurationError, match="TRAFFICGEN_OF_YESTERDAY"):
        read_settings([stock, own], installed=stock)
    with pytest.raises(ConfigurationError, match="TRAFFICGEN_OF_TOMORROW"):
        read_settings([stock])


def test_nothing_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    victim = tmp_path / "victim"
    # Texts for the reader, which must refuse each: that none of them runs is what is tested.
    for text in (
        f"open({str(victim)!r}, 'w')",
        f"__import__('pathlib').Path({str(victim)!r}).touch()",
        f"import pathlib\npathlib.Path({str(victim)!r}).touch()",
        f"import os\nos.system('touch {victim}')",
        f"from os import system\nsystem('touch {victim}')",
        f"LOG_DIR = [open({str(victim)!r}, 'w') for _ in '1']",
        f"LOG_DIR = (lambda: open({str(victim)!r}, 'w'))()",
        f"LOG_DIR = eval('open({str(victim)!r}, \"w\")')",
        f"LOG_DIR = f\"{{open('{victim}', 'w')}}\"",
        "LOG_DIR = ''.__class__.__mro__",
        "LOG_DIR = '{0.__class__}'.format('')",
        "LOG_DIR = copy.deepcopy.__globals__",
        "LOG_DIR = os.path.join.__globals__['os']",
        f"while True:\n    open({str(victim)!r}, 'w')",
        f"class A:\n    x = open({str(victim)!r}, 'w')",
        f"def f():\n    open({str(victim)!r}, 'w')\nf()",
        "str = 5",
        "os = {}",
        "os.path = 'x'",
    ):
        refused(tmp_path, text)
    assert not victim.exists()


def test_small_files_unfold_into_nothing_large(tmp_path: Path):
    doubled = "_A0 = ['x', 'y']\n" + "\n".join(f"_A{n} = [_A{n - 1}, _A{n - 1}]" for n in range(1, 40))
    refused(tmp_path, doubled, "holds too much")
    grown = "_A = 'x'\n" + "_A = _A + _A\n" * 40
    refused(tmp_path, grown, "too long")
    refused(tmp_path, "_A = 1 << 1000000000", "shift")
    refused(tmp_path, "_A = 'x' * 1000000000")
    refused(tmp_path, "_A = 9 * 9\n" + "_A = _A * _A\n" * 40, "digits")
    refused(tmp_path, "_A = '{:>1000000000}'.format(1)", "{}")
    refused(tmp_path, "WHITELIST_NICS = []\nWHITELIST_NICS.append(WHITELIST_NICS)\n", "levels")
    refused(tmp_path, "_A = " + "[" * 5000, "05_bad.conf:1")
    refused(tmp_path, "_A = " + "-" * 3000 + "1", "05_bad.conf")
    refused(tmp_path, "_A = 10 ** 1000000", "05_bad.conf:1")


# the file, line, what was seen, what would be right
BAD = [
    ("VSWITHC = 'OvsDpdkVhost'", ":1", "'VSWITHC'", "did you mean 'VSWITCH'?"),
    ("_OWN = 1\nMY_OWN = 1", ":2", "'MY_OWN'", "begin the name of a helper of your own with _"),
    ("VSWITCH = NOWHERE", ":1", "'NOWHERE'", "above this line"),
    ("VSWITCH = 'a\n", ":1", "unterminated", "fix that line"),
    ("\n\nif True:\n    VSWITCH = 'a'", ":3", "if True", "no control flow"),
    ("TRAFFIC = {'traffic_typ': 'x'}", ":1", "'traffic_typ'", "did you mean 'traffic_type'?"),
    ("TRAFFIC = {\n  'l3': {\n    'portocol': 'udp',\n  },\n}", ":3", "'portocol'", "proto,"),
    ("TRAFFIC = {'vlan': True}", ":1", "True", "TRAFFIC['vlan']"),
    ("TRAFFIC = 5", ":1", "5", "dictionary"),
    ("PATHS['a'] = PATHS['b']", ":1", "KeyError", "fix"),
    ("LOG_DIR = 'a' + 1", ":1", "str + int", "fix"),
    ("LOG_DIR = 'a' % 1", ":1", "number", "fix"),
    ("LOG_DIR = 1 / 0", ":1", "ZeroDivisionError", "fix"),
    ("LOG_DIR = settings.getValue('NOPE')", ":1", "NOPE", "fix"),
    ("LOG_DIR = sorted([1])", ":1", "sorted", "os.path.join"),
    ("LOG_DIR = {1: 2 for _ in []}", ":1", "for _ in", "write literals"),
    ("LOG_DIR = b'x'", ":1", "bytes", "fix"),
    ("a, b = 1, 2, 3", ":1", "3 values for 2 names", "fix"),
    ("LOG_DIR = {[]: 1}", ":1", "unhashable", "fix"),
    ("TEST_PARAMS = {'VSWICH': 1}", ":1", "'VSWICH'", "VSWITCH"),
    ("TEST_PARAMS = {'TRAFFIC': {'bidirr': 'True'}}", ":1", "'bidirr'", "bidir"),
    ("TEST_PARAMS = []", ":1", "[]", "dictionary"),
    ("PERFORMANCE_TESTS = {}", ":1", "{}", "PERFORMANCE_TESTS = [{...}]"),
    ("PERFORMANCE_TESTS = ['x']", ":1", "'x'", "'Deployment'"),
    (TESTS.replace('"Deployment"', '"Deploy"'), ":4", "'Deploy'", "Deployment"),
    (TESTS.replace('"Name": "phy2phy_cont",', ""), ":4", "missing", "'Name'"),
    (TESTS.replace('"p2p"', "5"), ":4", "5", "'Deployment'"),
    (TESTS.replace('"TRAFFIC"', '"TRAFIC"'), ":7", "'TRAFIC'", "TRAFFIC"),
    (TESTS.replace("frame_rate", "frame_rat"), ":9", "'frame_rat'", "frame_rate"),
    (TESTS + "PERFORMANCE_TESTS += PERFORMANCE_TESTS[:1]\n", ":3", "first at", "another name"),
    ("x = 1\0", ":1", "null", "fix"),
]


@pytest.mark.parametrize(("text", "line", "seen", "fix"), BAD, ids=[str(number) for number in range(len(BAD))])
def test_bad_lines_are_reported(tmp_path: Path, text: str, line: str, seen: str, fix: str):
    refused(tmp_path, text, f"05_bad.conf{line}", seen, fix)


def test_what_cannot_be_read_is_reported(tmp_path: Path):
    with pytest.raises(ConfigurationError) as caught:
        read_settings([tmp_path / "nowhere.conf"])
    reported(caught.value, "nowhere.conf", "No such file")
    (tmp_path / "latin.conf").write_bytes(b"LOG_DIR = '\xff'")
    with pytest.raises(ConfigurationError) as caught:
        read_settings([tmp_path / "latin.conf"])
    reported(caught.value, "UTF-8")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError) as caught:
        read_settings([tmp_path / "empty"])
    reported(caught.value, "NN_topic.conf")


def test_lines_hold_through_copies(tmp_path: Path):
    text = """\
_BASE = {
    'bidir': 'False',
}
TRAFFIC = copy.deepcopy(_BASE)
TRAFFIC['multistream'] = 5
TRAFFIC.update({
    'stream_type': 'L3',
})
"""
    traffic = settings_of(tmp_path, n03_traffic=text).values["TRAFFIC"]
    assert {key: place.line for key, place in traffic.places.items()} == {
        "bidir": 2,
        "multistream": 5,
        "stream_type": 7,
    }
    assert copy.deepcopy(traffic).places == traffic.places
