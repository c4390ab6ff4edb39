"""No setting is dropped without a word: it changes the experiment, or is missing, or has a note."""

from pathlib import Path
from typing import Any

import pytest

from nfvbed.errors import UnsupportedError
from nfvbed.vsperf.conf import Selection, read_settings, require_native, select, with_parameters
from nfvbed.vsperf.conf.placed import Note, NoteKind, Place, lines_of_notes
from nfvbed.vsperf.conf.released import NEWEST, default_of, releases, same
from nfvbed.vsperf.conf.testids import SWITCH_OF
from nfvbed.vsperf.conf.treatment import SETTINGS, Relevance, Treatment
from tests.unit.vsperf.conf.conf_files import PROJECT, settings_of

NOTHING = read_settings([])
TEST_OF = {
    Relevance.ALWAYS: ("phy2phy_cont", {}),
    Relevance.VNFS: ("pvp_cont", {}),
    Relevance.GUESTS: ("pvp_cont", {}),
    Relevance.TESTPMD: ("pvp_cont", {}),
    Relevance.TAPS: ("pvp_cont", {"VSWITCH": "OvsVanilla", "VNF": "QemuVirtioNet"}),
    Relevance.CONTAINERS: ("pcp_tput", {}),
}
"""A test in which such settings matter, and what it takes for it; where a switch's do, the VSWITCH of it is added."""
OTHERS = {
    Relevance.VNFS: "phy2phy_cont",
    Relevance.GUESTS: "phy2phy_cont",
    Relevance.TESTPMD: "phy2phy_cont",
    Relevance.TAPS: "pvp_cont",
    Relevance.CONTAINERS: "pvp_cont",
}
"""A test in which they do not."""


def a_test_of(name: str) -> tuple[str, dict[str, Any]]:
    """Return a test in which a setting matters, with what it takes for it."""
    setting = SETTINGS[name]
    if setting.matters is Relevance.SWITCHES:
        return "phy2phy_cont", {"VSWITCH": min(setting.switches)}
    return TEST_OF[setting.matters]


def another_test(name: str) -> tuple[str, dict[str, Any]] | None:
    """Return a test in which a setting does not matter; None where it always does."""
    setting = SETTINGS[name]
    if setting.matters is Relevance.SWITCHES:
        return "phy2phy_cont", {"VSWITCH": min(SWITCH_OF.keys() - setting.switches)}
    return (OTHERS[setting.matters], {}) if setting.matters in OTHERS else None


def of(treatment: Treatment) -> list[str]:
    return [name for name, setting in SETTINGS.items() if setting.treatment is treatment]


def chosen(folder: Path, test: str, **values: Any) -> Selection:
    return select(settings_of(folder, n09_own="\n".join(f"{k} = {v!r}" for k, v in values.items())), test, PROJECT)


def other(name: str) -> Any:
    """Return a value of a setting that is not VSPERF's default."""
    try:
        default = default_of(name, releases()[NEWEST])
    except LookupError:
        return "other"
    if isinstance(default, bool):
        return not default
    if isinstance(default, list):
        return [not default[0]] if default and isinstance(default[0], bool) else ["other"]
    return {"other": "1"} if isinstance(default, dict) else "other"


@pytest.mark.parametrize("name", of(Treatment.MISSING))
def test_another_value_of_what_changes_a_measurement_is_missing(tmp_path: Path, name: str):
    test, needed = a_test_of(name)
    selection = chosen(tmp_path, test, **needed, **{name: other(name)})
    if any(same(accepted, other(name)) or same([accepted], other(name)) for accepted in SETTINGS[name].accepts):
        assert selection.missing == chosen(tmp_path, test, **needed).missing
        return
    (text,) = [text for text in selection.missing if f"({name} = " in text]
    assert SETTINGS[name].reason in text
    assert "09_own.conf:" in text
    with pytest.raises(UnsupportedError) as caught:
        require_native(selection)
    assert text in caught.value.observed
    assert name in caught.value.fix


@pytest.mark.parametrize("name", [name for name in of(Treatment.MISSING) if another_test(name)])
def test_where_it_changes_nothing_in_vsperf_either_it_is_not_missing(tmp_path: Path, name: str):
    assert (found := another_test(name))
    test, needed = found
    with_it, without = (chosen(tmp_path, test, **needed, **more) for more in ({name: other(name)}, {}))
    assert with_it.missing == without.missing


@pytest.mark.parametrize("name", of(Treatment.MISSING))
def test_a_default_is_a_note(tmp_path: Path, name: str):
    test, needed = a_test_of(name)
    if all(name not in release.defaults for release in releases().values()):
        assert SETTINGS[name].accepts, "without a default nfvbed's own is known"
        return
    default = default_of(name, releases()[NEWEST])
    selection = chosen(tmp_path, test, **needed, **{name: default})
    assert [text for text in selection.missing if name in text] == []
    notes = [note for note in selection.notes if note.name == name]
    if not notes:
        accepted = SETTINGS[name].accepts
        assert any(same(one, default) for one in accepted), "what nfvbed does anyway needs no note"


@pytest.mark.parametrize("name", of(Treatment.NOTED))
def test_what_changes_nothing_is_noted_with_its_reason(tmp_path: Path, name: str):
    selection = chosen(tmp_path, "phy2phy_cont", **{name: ["other"]})
    assert selection.missing == ()
    (note,) = [note for note in selection.notes if note.name == name]
    assert (note.kind, note.text, note.is_default) == (NoteKind.UNUSED, SETTINGS[name].reason, False)
    assert note.place is not None


# Setting: the test, other settings, and a value that is not VSPERF's default.
USED = {
    "PERFORMANCE_TESTS": ("phy2phy_cont", {}, [{"Name": "phy2phy_cont", "Deployment": "pvp"}]),
    "INTEGRATION_TESTS": ("phy2phy_cont", {}, [{"Name": "phy2phy_cont", "Deployment": "pvp"}]),
    "K8SPERFORMANCE_TESTS": ("phy2phy_cont", {}, [{"Name": "phy2phy_cont", "Deployment": "p2p"}]),
    "TEST_PARAMS": ("phy2phy_cont", {}, {"TRAFFICGEN_DURATION": 3}),
    "TRAFFIC": ("phy2phy_cont", {}, {"bidir": "False"}),
    "TRAFFICGEN_PKT_SIZES": ("phy2phy_cont", {}, (128,)),
    "TRAFFICGEN_DURATION": ("phy2phy_cont", {}, 3),
    "TRAFFICGEN_LOSSRATE": ("phy2phy_tput", {}, 0.5),
    "TRAFFICGEN_RFC2544_TESTS": ("phy2phy_tput", {}, 20),
    "TRAFFICGEN_RFC2889_TRIALS": ("phy2phy_caching", {}, 2),
    "TRAFFICGEN_TREX_FORCE_PORT_SPEED": ("phy2phy_cont", {"TRAFFICGEN_TREX_PORT_SPEED": 1000}, True),
    "TRAFFICGEN_TREX_PORT_SPEED": ("phy2phy_cont", {"TRAFFICGEN_TREX_FORCE_PORT_SPEED": True}, 1000),
    "VSWITCH": ("phy2phy_cont", {}, "OvsVanilla"),
    "VSWITCH_JUMBO_FRAMES_ENABLED": ("phy2phy_cont", {}, True),
    "VSWITCH_JUMBO_FRAMES_SIZE": (
        "phy2phy_cont",
        {"VSWITCH_JUMBO_FRAMES_ENABLED": True, "TRAFFICGEN_PKT_SIZES": (2000,)},
        3000,
    ),
    "VSWITCH_PMD_CPU_MASK": ("phy2phy_cont", {}, "f0"),
    "WHITELIST_NICS": ("phy2phy_cont", {}, ["05:00.0", "05:00.1"]),
    "VSWITCH_DPDK_MULTI_QUEUES": ("phy2phy_cont", {}, 2),
    "VSWITCH_MULTI_QUEUES": ("phy2phy_cont", {}, 2),
    "VSWITCHD_DPDK_CONFIG": ("phy2phy_cont", {}, {"dpdk-init": "true", "emc-insert-inv-prob": "0"}),
    "VSWITCH_FLOW_TIMEOUT": ("phy2phy_cont", {}, "10000"),
    "VSWITCH_VPP_ARGS": ("phy2phy_cont_vpp", {}, {"cpu": ["main-core 2", "corelist-workers 4-7"]}),
    "VSWITCH_VPP_L2_CONNECT_MODE": ("phy2phy_cont_vpp", {}, "bridge"),
    "PATHS": ("phy2phy_cont", {}, {"vswitch": {"OvsDpdkVhost": {"type": "bin", "bin": {"ovs-vswitchd": "/own"}}}}),
    "TUNNEL_TYPE": ("own", {"PERFORMANCE_TESTS": [{"Name": "own", "Deployment": "ptunp"}]}, "geneve"),
    "LOADGEN": (
        "own",
        {"PERFORMANCE_TESTS": [{"Name": "own", "Deployment": "p2p", "Load": {"load": 100, "pattern": "c"}}]},
        "StressNg",
    ),
    "VNF": ("pvp_cont", {}, "QemuVirtioNet"),
    "GUEST_IMAGE": ("pvp_cont", {}, ["/own.qcow2"]),
    "GUEST_LOOPBACK": ("pvp_cont", {}, ["linux_bridge"]),
    "GUEST_MEMORY": ("pvp_cont", {}, ["4096"]),
    "GUEST_SMP": ("pvp_cont", {}, ["3"]),
    "GUEST_NIC_QUEUES": ("pvp_cont", {}, [2]),
    "GUEST_CORE_BINDING": ("pvp_cont", {}, [("4", "5")]),
    "GUEST_THREAD_BINDING": ("pvp_cont", {}, [("4", "5")]),
    "GUEST_TESTPMD_FWD_MODE": ("pvp_cont", {}, ["io"]),
    "GUEST_TESTPMD_PARAMS": ("pvp_cont", {}, ["-l 0,1 -- -i --burst=8"]),
    "GUEST_TESTPMD_NB_CORES": ("pvp_cont", {}, 3),
    "GUEST_TESTPMD_RXQ": ("pvp_cont", {}, 3),
    "GUEST_TESTPMD_TXQ": ("pvp_cont", {}, 3),
}


def test_every_setting_that_is_used_is_tried():
    assert USED.keys() == set(of(Treatment.USED))


@pytest.mark.parametrize("name", USED)
def test_what_is_used_changes_the_experiment_or_is_missing(tmp_path: Path, name: str):
    test, others, value = USED[name]
    half = {"TRAFFIC": {"frame_rate": 50}, "TRAFFICGEN_PKT_SIZES": (64,)} if "TREX" in name else {}
    own = [{"Name": "own", "Deployment": "p2p", "Parameters": {"TRAFFIC": {"traffic_type": "rfc2544_continuous"}}}]
    base = {**others, **half, **({"PERFORMANCE_TESTS": own} if half else {})}
    test = "own" if half else test
    without, with_it = (chosen(tmp_path, test, **base, **more) for more in ({}, {name: value}))
    said = [note for note in with_it.notes if note.name.startswith(name) and note.kind is NoteKind.DIFFERS]
    changed = (with_it.experiment, with_it.variant_options, with_it.missing, said)
    assert changed != (without.experiment, without.variant_options, without.missing, [])


def test_parameters_are_accounted_for_as_files_are():
    selection = select(with_parameters(NOTHING, "COLLECTOR=Collectd; LLC_ALLOCATION=True"), "phy2phy_cont", PROJECT)
    assert [note.name for note in selection.notes] == ["COLLECTOR"]
    (text,) = selection.missing
    assert "LLC_ALLOCATION = True, --test-params:1" in text
    assert selection.advice == ('take VSPERF\'s defaults: --test-params "LLC_ALLOCATION=False"',)


def test_a_file_is_overruled_by_what_the_advice_says(tmp_path: Path):
    settings = settings_of(tmp_path, n09_own="LLC_ALLOCATION = True\n")
    assert select(settings, "phy2phy_cont", PROJECT).missing
    assert select(with_parameters(settings, "LLC_ALLOCATION=False"), "phy2phy_cont", PROJECT).missing == ()


def test_a_parameter_that_no_release_reads_is_noted():
    settings = with_parameters(NOTHING, "packet_sizes=64")
    assert [(note.name, note.text) for note in select(settings, "phy2phy_cont", PROJECT).notes] == [
        ("packet_sizes", "no release of VSPERF reads it")
    ]


def test_an_old_line_rate_points_to_the_settings_that_declare_one(tmp_path: Path):
    (note,) = chosen(tmp_path, "phy2phy_cont", TRAFFICGEN_TREX_LINE_SPEED_GBPS="10").notes
    assert "TRAFFICGEN_TREX_FORCE_PORT_SPEED" in note.text
    assert "TRAFFICGEN_TREX_PORT_SPEED" in note.text


# What a user's file says, whether an MTU of 1500 is enough, and what is missing or wrong.
JUMBO = [
    ({"VSWITCH_JUMBO_FRAMES_ENABLED": True}, "it is 1500, not 9000"),
    ({"VSWITCH_JUMBO_FRAMES_ENABLED": "True", "TRAFFICGEN_PKT_SIZES": (1518,)}, "it is 1500, not 9000"),
]


@pytest.mark.parametrize(("values", "said"), JUMBO)
def test_a_larger_mtu_than_the_frames_need_is_missing(tmp_path: Path, values: dict[str, Any], said: str):
    (text,) = chosen(tmp_path, "phy2phy_cont", **values).missing
    assert said in text


def test_jumbo_frames_are_planned_where_vsperf_would_let_them_pass(tmp_path: Path):
    sizes = {"VSWITCH_JUMBO_FRAMES_ENABLED": True, "TRAFFICGEN_PKT_SIZES": (2000, 9000)}
    selection = chosen(tmp_path, "phy2phy_cont", **sizes)
    assert (selection.missing, selection.experiment["frame_sizes"]) == ((), [2000, 9000])
    assert any("8982" in note.text for note in selection.notes)
    usual = chosen(tmp_path, "phy2phy_cont", VSWITCH_JUMBO_FRAMES_ENABLED=False, VSWITCH_JUMBO_FRAMES_SIZE=4000)
    assert usual.missing == ()


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("-c 0x3 -n 4 --socket-mem 512 -- --burst=64 -i ", []),
        ("-c 0x3 -n 4 --socket-mem 512 -- --burst=64 -i --txqflags=0xf00 --disable-hw-vlan", []),
        ("-l 0,1 -n 4 -- -i --burst 32 --rxd=512 --txd=512 --nb-cores=1, --rxq=1 --txq=1", []),
        ("-l 0,1 -- -i --burst=8", ["--burst=8"]),
        ("-l 0,1 -- -i --rxq=2 --rxd=2048", ["--rxq=2", "--rxd=2048"]),
        ("-l 0,1 --vdev=net_tap0 -- -i --forward-mode=io", ["--vdev", "--forward-mode=io"]),
    ],
)
def test_testpmd_in_the_guest_has_what_is_asked_of_it(tmp_path: Path, text: str, missing: list[str]):
    selection = chosen(tmp_path, "pvp_cont", GUEST_TESTPMD_PARAMS=[text])
    assert [part in text for part, text in zip(missing, selection.missing, strict=True)] == [True] * len(missing)


def test_workers_and_connections_of_vpp_are_the_variants(tmp_path: Path):
    args = {"cpu": ["main-core 2", "workers 3"], "unix": ["interactive"], "dpdk": ["socket-mem 1024"]}
    selection = chosen(tmp_path, "phy2phy_cont_vpp", VSWITCH_VPP_ARGS=args, VSWITCH_VPP_L2_CONNECT_MODE="bridge")
    assert selection.missing == ()
    assert selection.variant_options == {"workers": 3, "forwarding": "bridge-domain"}
    args = {"cpu": ["isolated 3"], "dpdk": ["dev 0000:05:00.0"], "plugins": ["plugin acl_plugin.so { disable }"]}
    selection = chosen(tmp_path, "phy2phy_cont_vpp", VSWITCH_VPP_ARGS=args, VSWITCH_VPP_L2_CONNECT_MODE="l2patch")
    assert len(selection.missing) == 4


def test_a_build_of_the_users_own_is_missing_and_vsperfs_is_not(tmp_path: Path):
    text = "PATHS['vswitch']['OvsDpdkVhost']['src']['path'] = {!r}\n"
    own = select(settings_of(tmp_path, n09_own=text.format("/opt/ovs")), "phy2phy_cont", PROJECT)
    assert "['path'] = '/opt/ovs'" in own.missing[0]
    stock = text.replace("{!r}", "os.path.join(ROOT_DIR, 'src/ovs/ovs/')")
    assert select(settings_of(tmp_path, n09_own=stock), "phy2phy_cont", PROJECT).missing == ()


OLD = """\
TEST_PARAMS = {'pkt_sizes': '128,256', 'duration': '5', 'rfc2544_tests': 2}
PERFORMANCE_TESTS = [
    {'Name': 'old', 'Traffic Type': 'rfc2544', 'Deployment': 'p2p', 'biDirectional': 'False', 'MultiStream': '100'},
    {'Name': 'half', 'Traffic Type': 'continuous', 'Deployment': 'p2p', 'iLoad': '90'},
]
"""


def test_tests_of_the_old_form_are_what_they_were(tmp_path: Path):
    settings = settings_of(tmp_path, n01_old=OLD)
    selection = select(settings, "old", PROJECT)
    assert selection.missing == ()
    assert selection.experiment["frame_sizes"] == [128, 256]
    assert selection.experiment["traffic"] == {"bidirectional": False, "flows": 100}
    assert selection.search.resolved().goals[0].final_trial_duration_s == 5
    assert selection.experiment["repetitions"]["needed"] == 2
    (text,) = [text for text in select(settings, "half", PROJECT).missing if "line rate" in text]
    assert "TRAFFIC['frame_rate'] = 90" in text
    assert "01_old.conf:4" in text
    # The same names on the command line weigh more.
    assert select(with_parameters(settings, "pkt_sizes=64"), "old", PROJECT).experiment["frame_sizes"] == [64]


def test_notes_take_a_line_for_each_reason_and_one_for_defaults():
    place = Place(Path("a.conf"), 3)
    notes = [
        Note(NoteKind.UNUSED, "A", "of a generator", place),
        Note(NoteKind.DIFFERS, "B", "otherwise", place),
        Note(NoteKind.UNUSED, "C", "of a generator", None),
        Note(NoteKind.UNUSED, "D", "of a generator", place, is_default=True),
        Note(NoteKind.UNUSED, "E", "paths", place, is_default=True),
    ]
    assert list(lines_of_notes(notes)) == [
        "differs: B: otherwise (a.conf:3)",
        "not used: A (a.conf:3), C: of a generator",
        "not used: 2 settings with VSPERF's defaults",
    ]
