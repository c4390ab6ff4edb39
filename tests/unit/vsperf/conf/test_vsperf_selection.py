"""Tests of VSPERF become experiments that pass the checks of our own, or are refused with what is missing."""

from pathlib import Path

import pytest

from nfvbed.errors import ConfigurationError, UnknownNameError, UnsupportedError
from nfvbed.records import Sessions, VnfKind
from nfvbed.spec.layout import layout
from nfvbed.vsperf.conf import TEST_IDS, Selection, TestKind, read_settings, require_native, select, study_of
from nfvbed.vsperf.conf import known_tests as names_of
from nfvbed.vsperf.conf.testids import topology_of
from tests.refusals import misconfigured
from tests.unit.vsperf.conf.conf_files import COMMON, PROJECT, ROOT, SWITCH, TESTS, reported, settings_of

NOTHING = read_settings([])


def chosen(folder: Path, test: str = "phy2phy_cont", **files: str) -> Selection:
    return select(settings_of(folder, **files), test, PROJECT)


def refused(folder: Path, text: str, *parts: str, test: str = "phy2phy_cont") -> None:
    misconfigured(lambda: chosen(folder, test, n09_bad=text), *parts)


def differing(selection: Selection) -> set[str]:
    return {note.name for note in selection.notes if note.kind == "differs"}


@pytest.mark.parametrize("test", TEST_IDS)
def test_every_id_is_mapped_or_says_what_is_missing(test: str):
    selection = select(NOTHING, test, PROJECT)
    native = TEST_IDS[test]
    assert (selection.kind, selection.topology) == (native.kind, native.topology)
    if selection.missing:
        with pytest.raises(UnsupportedError) as caught:
            study_of(selection, PROJECT)
        assert all(text in str(caught.value) for text in selection.missing)
        return
    study = study_of(selection, PROJECT)
    assert study.experiment.topologies == (native.topology,)
    assert study.experiment.traffic.flows == native.flows
    tunnelled = native.deployment == "ptunp"
    assert study.experiment.variants == ("ovs-overlay-vxlan" if tunnelled else native.variant or "ovs-dpdk",)
    assert study.experiment.traffic.bidirectional is native.bidirectional


def test_what_can_be_run_and_what_cannot():
    runs = {test for test in TEST_IDS if not select(NOTHING, test, PROJECT).missing}
    assert runs >= {
        "phy2phy_tput",
        "pvp_tput",
        "phy2phy_scalability",
        "phy2phy_cont",
        "phy2phy_scalability_cont",
        "pvp_cont",
        "pvvp_cont",
        "pvpv_cont",
        "phy2phy_burst",
        "phy2phy_forwarding",
    }
    assert TEST_IDS.keys() - runs == {
        "6pvp_udp_dest_flows",
        "overlay_p2p_tput",
        "overlay_p2p_cont",
        "overlay_p2p_decap_tput",
        "overlay_p2p_decap_cont",
    }


def test_a_burst_has_as_many_frames_as_the_test_says(tmp_path: Path):
    selection = select(NOTHING, "phy2phy_burst", PROJECT)
    assert selection.experiment["tests"] == [{"kind": "burst", "frames": 1000}]
    assert selection.experiment["repetitions"]["needed"] == 1
    assert "full speed" in next(note.text for note in selection.notes if "frame_rate" in note.name)
    own = TESTS.replace("rfc2544_continuous", "burst").replace("p2p", "pvp")
    selection = chosen(tmp_path, n01_tests=own, n03_t="TRAFFIC = {'burst_size': 7}\n")
    assert (selection.topology, selection.experiment["tests"]) == ("pvp", [{"kind": "burst", "frames": 7}])
    selection = chosen(tmp_path, n01_tests=own.replace(": 100", ": 50"))
    (text,) = selection.missing
    assert text.startswith("a burst is sent at the port's full speed (TRAFFIC['frame_rate'] = 50, ")
    assert text.endswith("01_tests.conf:9)")
    with pytest.raises(ConfigurationError, match="burst_size"):
        chosen(tmp_path, n01_tests=own, n03_t="TRAFFIC = {'burst_size': 0}\n")


def test_nothing_is_missing_where_there_is_a_native_test():
    assert select(NOTHING, "phy2phy_tput", PROJECT).missing == ()
    assert select(NOTHING, "pvp_back2back", PROJECT).missing == ()
    container = study_of(select(NOTHING, "pcp_tput", PROJECT), PROJECT).experiment
    assert (container.topologies, container.vnfs[0].label) == (("pcp",), "container-bridge")
    ported = select(NOTHING, "phy2phy_cont_vpp", PROJECT)
    assert (ported.missing, study_of(ported, PROJECT).experiment.variants) == ((), ("vpp",))


@pytest.mark.parametrize(
    ("deployment", "topology"),
    [("p2p", "p2p"), ("pvp", "pvp"), ("pvvp", "pvvp"), ("pvvp2", "pvvp"), ("pvvp4", "pv4p"), ("pvvp1", "pvp")]
    + [
        ("pvpv", "pvpv"),
        ("pvpv2", "pvpv"),
        ("pvpv1", "pvp"),
        ("pvpv4", "pvpv4"),
        ("pvpv6", None),
        ("pvvp10", "pv10p"),
        ("pvvp11", None),
        ("pvvp0", None),
    ]
    + [("op2p", None), ("ptunp", "p2p"), ("clean", None), ("nonsense", None)],
)
def test_deployments(deployment: str, topology: str | None):
    assert topology_of(deployment) == topology
    assert topology is None or layout(topology).name == topology


def test_an_unknown_test_is_reported_with_the_nearest():
    with pytest.raises(UnknownNameError) as caught:
        select(NOTHING, "phy2phy_count", PROJECT)
    assert "did you mean 'phy2phy_cont'" in str(caught.value)
    assert set(names_of(NOTHING)) == set(TEST_IDS)


def test_a_file_replaces_what_is_known_of_a_test(tmp_path: Path):
    text = TESTS.replace("rfc2544_continuous", "rfc2544_throughput").replace("p2p", "pvvp4")
    selection = chosen(tmp_path, n01_tests=text)
    assert (selection.kind, selection.topology, selection.title) == (TestKind.THROUGHPUT, "pv4p", "Own words")
    assert (selection.place.path.name, selection.place.line) == ("01_tests.conf", 3)


def test_throughput_brings_its_search(tmp_path: Path):
    text = "TRAFFICGEN_DURATION = 10\nTRAFFICGEN_LOSSRATE = {}\n"
    goal = chosen(tmp_path, "phy2phy_tput", n03_t=text.format("0.0")).search.resolved().goals[0]
    assert (goal.name, goal.loss_ratio, goal.final_trial_duration_s) == ("NDR", 0, 10)
    goal = chosen(tmp_path, "phy2phy_tput", n03_t=text.format("0.1")).search.resolved().goals[0]
    assert (goal.name, goal.loss_ratio, goal.duration_sum_s) == ("loss-0.1pct", 0.001, 10)
    assert chosen(tmp_path, "phy2phy_cont", n03_t=text.format("0.0")).search is None


def test_throughput_becomes_an_experiment_with_its_search_alone(tmp_path: Path):
    text = "TRAFFICGEN_DURATION = 10\nTRAFFICGEN_LOSSRATE = 0.1\nTRAFFICGEN_PKT_SIZES = (64, 128)\n"
    selection = chosen(tmp_path, "phy2phy_tput", n03_t=text)
    experiment = study_of(selection, PROJECT).experiment
    (test,) = experiment.tests
    assert experiment.search_of(test) == selection.search.resolved()
    assert experiment.search_of(test).label == "rfc2544 (changed: loss-0.1pct, no NDR, rest_s)"
    assert (experiment.repetitions.needed, experiment.repetitions.time_limit_s) == (1, 2 * 3600)
    assert study_of(chosen(tmp_path, "phy2phy_cont", n03_t=text), PROJECT).experiment.has_mrr


def test_traffic_becomes_the_experiments(tmp_path: Path):
    text = """\
TRAFFICGEN_PKT_SIZES = (128, 512, 1518)
TRAFFICGEN_DURATION = 5
TRAFFIC = {'bidir': 'false', 'multistream': 1000, 'vlan': {'enabled': True, 'id': 8}}
"""
    selection = chosen(tmp_path, n00_common=COMMON, n02_vswitch=SWITCH, n03_traffic=text)
    experiment = study_of(selection, PROJECT).experiment
    assert experiment.name == "vsperf-phy2phy-cont"
    assert experiment.frame_sizes == (128, 512, 1518)
    asked = {"flows": 1000, "bidirectional": False, "ip": 4, "vlan": 8, "sessions": Sessions.UNREPLIED}
    assert experiment.traffic.model_dump() == asked
    assert experiment.trials.mrr_duration_s == 5
    assert experiment.repetitions.time_limit_s >= 12 * 3 * 5
    assert differing(selection) == {"TRAFFIC['stream_type']", "PATHS['vswitch']['OvsDpdkVhost']"}


def test_options_of_the_switch_reach_the_variant(tmp_path: Path):
    text = "VSWITCH_PMD_CPU_MASK = 'f0'\nVSWITCH_DPDK_MULTI_QUEUES = '3'\nVSWITCH_FLOW_TIMEOUT = '30000'\n"
    selection = chosen(tmp_path, n02_vswitch=text)
    assert selection.variant_options == {"pmd_cores": 4, "n_rxq": 3, "max_idle_ms": 30000}
    options = study_of(selection, PROJECT).variants[0].options
    assert (options.pmd_cores, options.n_rxq, options.max_idle_ms) == (4, 3, 30000)
    assert PROJECT.load_variant("ovs-dpdk").options.pmd_cores == 1


def test_the_command_line_weighs_more(tmp_path: Path):
    selection = chosen(tmp_path, n02_vswitch="VSWITCH_PMD_CPU_MASK = '30'\n")
    study = study_of(selection, PROJECT, {"variants": ["linux-bridge", "ovs-dpdk"], "frame_sizes": [128]})
    assert [variant.name for variant in study.variants] == ["linux-bridge", "ovs-dpdk"]
    assert study.experiment.frame_sizes == (128,)
    with pytest.raises(ConfigurationError) as caught:
        study_of(selection, PROJECT, {"frame_sizes": [9]})
    reported(caught.value, "command line", "9")


@pytest.mark.parametrize(
    ("text", "use", "differs"),
    [
        ("", {"forwarding": "mac"}, {"GUEST_TESTPMD_FWD_MODE"}),
        ("GUEST_TESTPMD_FWD_MODE = ['io']", {"forwarding": "io"}, set()),
        ("GUEST_TESTPMD_FWD_MODE = ['mac retry']", {"forwarding": "mac"}, {"GUEST_TESTPMD_FWD_MODE"}),
        ("GUEST_LOOPBACK = ['linux_bridge']", {"forwarding": "bridge"}, set()),
        ("GUEST_LOOPBACK = ['l2fwd']", {"forwarding": "xdp"}, {"GUEST_LOOPBACK"}),
        (
            "GUEST_LOOPBACK = ['buildin']\nGUEST_IMAGE = ['/images/own.qcow2']",
            {"forwarding": "image", "image": {"file": "/images/own.qcow2", "agent": False}},
            set(),
        ),
        (
            "GUEST_IMAGE = ['/images/own.qcow2']\nGUEST_TESTPMD_FWD_MODE = ['io']",
            {"forwarding": "io"},
            {"GUEST_IMAGE"},
        ),
        ("GUEST_IMAGE = ['']\nGUEST_TESTPMD_FWD_MODE = ['io']", {"forwarding": "io"}, set()),
        (
            "GUEST_TESTPMD_FWD_MODE = ['io']\nGUEST_SMP = ['sockets=1,cores=2']\nGUEST_MEMORY = ['768']",
            {"forwarding": "io", "flavor": "hugepages"},
            set(),
        ),
        (
            "GUEST_TESTPMD_FWD_MODE = ['io']\nGUEST_MEMORY = ['2048']",
            {"forwarding": "io", "flavor": "hugepages"},
            {"GUEST_MEMORY"},
        ),
    ],
)
def test_guests_become_vnfs(tmp_path: Path, text: str, use: dict, differs: set):
    selection = chosen(tmp_path, "pvp_cont", n04_vnf=text)
    assert selection.experiment["vnfs"] == [{"kind": "vm", **use}]
    assert differing(selection) == differs
    assert study_of(selection, PROJECT).experiment.vnfs[0].kind is VnfKind.VM


def test_a_port_kind_is_named_where_the_variant_would_choose_another(tmp_path: Path):
    text = "VNF = 'QemuVirtioNet'\nGUEST_TESTPMD_FWD_MODE = ['io']\n"
    assert chosen(tmp_path, "pvp_cont", n04_vnf=text).experiment["vnfs"][0]["vnic"] == "tap"


def test_processes_in_the_place_of_virtual_machines_are_reported(tmp_path: Path):
    text = "GUEST_SMP = ['4']\nGUEST_CORE_BINDING = [('4', '5')]\nGUEST_TESTPMD_FWD_MODE = ['io']\n"
    settings = settings_of(tmp_path, n04_vnf=text)
    selection = select(settings, "pvp_cont", PROJECT, vnf_kind=VnfKind.PROCESS)
    assert selection.experiment["vnfs"] == [{"kind": "process", "forwarding": "io"}]
    assert differing(selection) == {"VNF"}
    assert [note.name for note in selection.notes if note.kind == "not used"] == ["GUEST_SMP", "GUEST_CORE_BINDING"]
    assert selection.missing == ()


def test_parallel_vnfs_get_a_stream_each(tmp_path: Path):
    selection = chosen(tmp_path, "pvpv_cont", n03_traffic="TRAFFIC = {'multistream': 0}\n")
    assert selection.experiment["traffic"]["flows"] == 2
    assert "TRAFFIC['multistream']" in differing(selection)


# what the file says, what is missing
MISSING = [
    ("TRAFFIC = {'frame_rate': 50}", "part of the line rate"),
    ("TRAFFIC = {'l3': {'proto': 'tcp'}}", "only UDP"),
    ("TRAFFIC = {'l4': {'enabled': False}}", "without IP and UDP"),
    ("TRAFFIC = {'multistream': 8, 'stream_type': 'L2'}", "destination MAC"),
    ("TRAFFIC = {'multistream': 8, 'pre_installed_flows': 'Yes'}", "rule for every flow"),
    ("TRAFFIC = {'flow_type': 'IP'}", "not IP addresses"),
    ("TRAFFIC = {'flow_control': True}", "no flow control"),
    ("TRAFFIC = {'learning_frames': False}", "learning frames"),
    ("VNF = 'QemuDpdkVhostCuse'", "vhost-user ports, taps"),
    ("TRAFFIC = {'capture': {'enabled': True}}", "capture"),
    ("TRAFFIC = {'scapy': {'enabled': True}}", "scapy"),
    ("TRAFFIC = {'vlan': {'enabled': True, 'id': 1, 'priority': 3}}", "priority"),
    ("TRAFFIC = {'imix': {'enabled': True, 'genome': 'aag'}}", "the only mix"),
    ("VSWITCH = 'none'", "without a switch"),
    ("GUEST_LOOPBACK = ['clean']", "nothing forwards"),
    ("GUEST_LOOPBACK = ['testpmd', 'l2fwd']", "differ from each other"),
    ("GUEST_TESTPMD_FWD_MODE = ['rxonly']", "rxonly"),
    ("GUEST_SMP = ['65']", "at most 64 vCPUs"),
    ("GUEST_NIC_QUEUES = [4]", "as many queues as its guest has vCPUs"),
    ("GUEST_CORE_BINDING = [('4', '5'), ('5', '6')]", "has its core alone"),
    ("GUEST_MEMORY = ['100']", "memory_mib from 128"),
]


def test_the_vanilla_switch_of_vsperf_is_ours_in_the_kernel(tmp_path: Path):
    selection = chosen(tmp_path, "phy2phy_cont", n09_own="VSWITCH = 'OvsVanilla'")
    assert study_of(selection, PROJECT).experiment.variants == ("ovs-kernel",)


@pytest.mark.parametrize(("text", "said"), MISSING, ids=[str(number) for number in range(len(MISSING))])
def test_what_nfvbed_lacks_is_never_something_else(tmp_path: Path, text: str, said: str):
    selection = chosen(tmp_path, "pvvp_cont", n09_own=text)
    assert any(said in text for text in selection.missing), selection.missing
    with pytest.raises(UnsupportedError, match="no native equivalent"):
        require_native(selection)


def test_the_mix_of_vsperf_is_not_quite_ours(tmp_path: Path):
    selection = chosen(tmp_path, n09_own="TRAFFIC = {'imix': {'enabled': True, 'genome': 'aaaaaaaddddg'}}")
    assert selection.experiment["frame_sizes"] == ["imix"]
    assert "TRAFFIC['imix']['genome']" in differing(selection)


# the file, what is reported
BAD = [
    ("TRAFFIC = {'traffic_type': 'rfc2544_continous'}", ":1", "rfc2544_continous", "'rfc2544_continuous'"),
    ("TRAFFIC = {\n 'bidir': True,\n}", ":2", "True", "the text 'True' or 'False'"),
    ("TRAFFIC = {\n\n 'multistream': -1}", ":3", "-1", "0 to 1000000"),
    ("TRAFFIC = {'frame_rate': 'fast'}", ":1", "'fast'", "0 to 100"),
    ("TRAFFIC = {'traffic_type': 'rfc2544_continuous', 'frame_rate': 0}", ":1", "above 0"),
    ("TRAFFIC = {'stream_type': 'L5'}", ":1", "'L5'", "'L4'"),
    ("TRAFFIC = {'vlan': {'enabled': True, 'id': 4095}}", ":1", "4095", "4094"),
    ("TRAFFIC = {'vlan': {'enabled': 'yes', 'id': 4}}", ":1", "'yes'", "True, False"),
    ("TRAFFIC = {'imix': {'enabled': True, 'genome': 'xyz'}}", ":1", "'xyz'", "a 64"),
    ("\nTRAFFICGEN_PKT_SIZES = 64", ":2", "64", "tuple"),
    ("TRAFFICGEN_PKT_SIZES = (60,)", ":1", "60", "64 to"),
    ("TRAFFICGEN_DURATION = 'long'", ":1", "'long'", "number"),
    ("VSWITCH = 'OvsDpdk'", ":1", "'OvsDpdk'", "'OvsDpdkVhost'"),
    ("VSWITCH_PMD_CPU_MASK = 'xx'", ":1", "'xx'", "hexadecimal"),
    ("VSWITCH_PMD_CPU_MASK = '0'", ":1", "'0'", "1 to 64"),
    ("VSWITCH_DPDK_MULTI_QUEUES = 1000", ":1", "1000", "0 to 64"),
    ("VSWITCH_FLOW_TIMEOUT = 'long'", ":1", "'long'", "500 to"),
    ("VSWITCH_JUMBO_FRAMES_ENABLED = 'False'", ":1", "'False'", "True, False"),
    ("TRAFFICGEN_PKT_SIZES = (64, 2000)", ":1", "2000", "VSWITCH_JUMBO_FRAMES_ENABLED = True"),
    (
        "VSWITCH_JUMBO_FRAMES_ENABLED=True;VSWITCH_JUMBO_FRAMES_SIZE=3000;TRAFFICGEN_PKT_SIZES=(9000,)",
        ":1",
        "up to 3018",
    ),
    ("TRAFFICGEN_RFC2544_TESTS = 0", ":1", "0", "1 to 1000"),
    ("VSWITCHD_DPDK_CONFIG = []", ":1", "[]", "dictionary"),
    ("GUEST_TESTPMD_PARAMS = [5]", ":1", "5", "one text"),
    ("GUEST_NIC_QUEUES = ['many']", ":1", "'many'", "0 to 64"),
    ("VNF = 'Docker'", ":1", "'Docker'", "QemuVirtioNet"),
    ("GUEST_LOOPBACK = ['testpdm']", ":1", "'testpdm'", "testpmd"),
    ("GUEST_TESTPMD_FWD_MODE = [['io']]", ":1", "['io']", "testpmd mode"),
    ("GUEST_LOOPBACK = []", ":1", "[]", "first VM"),
    ("GUEST_LOOPBACK = ['buildin']", ":1", "GUEST_IMAGE"),
    ("GUEST_SMP = ['two']", ":1", "'two'", "vCPUs"),
    ("GUEST_MEMORY = ['2G']", ":1", "'2G'", "whole number"),
    ("GUEST_CORE_BINDING = [('4',)]", ":1", "('4',)", "each of the 2 vCPUs"),
    ("GUEST_THREAD_BINDING = [('4', 'x')]", ":1", "'x'", "whole number"),
]


@pytest.mark.parametrize("case", BAD, ids=[str(number) for number in range(len(BAD))])
def test_bad_values_are_reported(tmp_path: Path, case: tuple[str, ...]):
    text, line, *parts = case
    test = (
        TESTS.replace("phy2phy_cont", "own").replace("p2p", "pvp").replace('"traffic_type" : "rfc2544_continuous",', "")
    )
    test = test.replace('"frame_rate" : 100,', "")
    with pytest.raises(ConfigurationError) as caught:
        chosen(tmp_path, "own", n01_tests=test, n09_bad=text)
    place = "VSPERF's default" if "buildin" in text else f"09_bad.conf{line}"
    reported(caught.value, "" if "buildin" in text else place, *parts)


def test_the_checks_of_experiments_name_vsperfs_lines(tmp_path: Path):
    text = "\nTRAFFICGEN_PKT_SIZES = (64, 64)\n"
    selection = chosen(tmp_path, n03_traffic=text)
    with pytest.raises(ConfigurationError, match="names something twice"):
        study_of(selection, PROJECT)
    text = "TRAFFIC = {\n  'vlan': {'enabled': True,\n 'id': 5}}\nTRAFFICGEN_PKT_SIZES = (64,)\n"
    selection = chosen(tmp_path, n03_traffic=text)
    with pytest.raises(ConfigurationError) as caught:
        study_of(selection, PROJECT, {"traffic.ip": 6})
    reported(caught.value, "03_traffic.conf:4", "TRAFFICGEN_PKT_SIZES", "too small for its headers")


def test_defaults_are_named_as_such():
    with pytest.raises(ConfigurationError) as caught:
        study_of(select(NOTHING, "phy2phy_cont", PROJECT), PROJECT, {"traffic.ip": 6, "traffic.vlan": 5})
    reported(caught.value, "TRAFFICGEN_PKT_SIZES (VSPERF's default)")


def test_the_projects_own_files():
    settings = read_settings([ROOT / "vsperf-conf"])
    assert [file.name for file in settings.files][:1] == ["01_testcases.conf"]
    for case in settings.tests:
        selection = select(settings, case.name, PROJECT)
        assert [note for note in selection.notes if note.kind == "not used" and not note.is_default] == []
        assert not any(note.kind == "differs" for note in selection.notes if "stream" not in note.name), selection.notes
        if not selection.missing:
            study_of(selection, PROJECT)
    for test in TEST_IDS:
        select(settings, test, PROJECT)
