"""What VSPERF is given: literals, one test, and what the run needs."""

import ast
from pathlib import Path
from typing import Any

import pytest

from nfvbed.dataplanes.ovs.binaries import OvsBinaries
from nfvbed.errors import PrerequisiteError, UnknownNameError
from nfvbed.vsperf.conf import VsperfSettings, read_settings, with_parameters
from nfvbed.vsperf.conf.released import releases
from nfvbed.vsperf.driver.configuration import Additions, find_case, write_configuration
from nfvbed.vsperf.driver.ports import SWITCH, UTILITIES, environment, generator_ports, virtual_ports
from nfvbed.vsperf.driver.request import OWN_GENERATOR, PLUGIN, generator_additions, joined
from tests.unit.vsperf.driver.vsperf_double import ARRANGEMENT, make_double
from tests.unit.vsperf.recorded import NAMES, NEWEST, recorded


def values_of(text: str) -> dict[str, Any]:
    """Read the file as what it has to be: assignments of literals."""
    found = {}
    for statement in ast.parse(text).body:
        assert isinstance(statement, ast.Assign)
        (target,) = statement.targets
        assert isinstance(target, ast.Name)
        found[target.id] = ast.literal_eval(statement.value)
    return found


def read(tmp_path: Path, own: str) -> tuple[VsperfSettings, VsperfSettings, Path]:
    stock = make_double(tmp_path / "double") / "conf"
    (tmp_path / "own.conf").write_text(own)
    return read_settings([stock, tmp_path / "own.conf"]), read_settings([stock]), stock


OWN = """\
_helper = 5
TRAFFICGEN_DURATION = _helper
TRAFFICGEN_PKT_SIZES = (64, 128)
GUEST_NICS = [[{'device': 'eth0', 'mac': '#MAC(00:00:00:00:00:01,2)'}]]
PERFORMANCE_TESTS = [{'Name': 'own', 'Deployment': 'p2p', 'Parameters': {'TRAFFIC': {'multistream': 5}}}]
"""


def test_only_what_the_user_gave_is_written_and_only_literals(tmp_path: Path):
    settings, stock, folder = read(tmp_path, OWN)
    settings = with_parameters(settings, "TRAFFICGEN_LOSSRATE=0.1")
    text = write_configuration(settings, folder, find_case(settings, stock, "own"), Additions())
    assert values_of(text) == {
        "TRAFFICGEN_DURATION": 5,
        "TRAFFICGEN_PKT_SIZES": (64, 128),
        "GUEST_NICS": [[{"device": "eth0", "mac": "#MAC(00:00:00:00:00:01,2)"}]],
        "PERFORMANCE_TESTS": [{"Name": "own", "Deployment": "p2p", "Parameters": {"TRAFFIC": {"multistream": 5}}}],
        "TEST_PARAMS": {"TRAFFICGEN_LOSSRATE": 0.1},
        "_PARAMS_LIST": {"TRAFFICGEN_LOSSRATE": 0.1},
    }


def test_a_test_of_vsperf_is_found_though_the_user_has_a_list_of_his_own(tmp_path: Path):
    settings, stock, folder = read(tmp_path, OWN)
    case = find_case(settings, stock, "phy2phy_cont")
    values = values_of(write_configuration(settings, folder, case, Additions()))
    assert [test["Name"] for test in values["PERFORMANCE_TESTS"]] == ["phy2phy_cont"]
    with pytest.raises(UnknownNameError, match="did you mean 'phy2phy_cont'"):
        find_case(settings, stock, "phy2phy_count")


def test_what_the_run_needs_is_put_in(tmp_path: Path):
    settings, stock, folder = read(tmp_path, "COLLECTOR = 'Collectd'\nVSWITCH = 'OvsVanilla'\n")
    case = find_case(settings, stock, "phy2phy_own")
    additions = Additions(
        forced={"VSWITCH": "OvsDpdkVhost", "TRAFFICGEN": "NfvGen"},
        defaults={"COLLECTOR": "NoCollector", "POD": "NoPod"},
        paths={"dpdk": {"type": "bin"}},
        parameters={"NICS": [{"pci": "net_vhost0"}]},
    )
    values = values_of(write_configuration(settings, folder, case, additions))
    assert (values["VSWITCH"], values["COLLECTOR"], values["POD"]) == ("OvsDpdkVhost", "Collectd", "NoPod")
    assert values["PATHS"]["dpdk"] == {"type": "bin"}
    assert values["PATHS"].keys() == releases()[NEWEST].defaults["PATHS"].keys(), "the others stay VSPERF's"
    (test,) = values["PERFORMANCE_TESTS"]
    assert test["Parameters"]["NICS"] == [{"pci": "net_vhost0"}]
    assert test["Parameters"]["TRAFFIC"] == {"traffic_type": "rfc2544_throughput"}
    assert "Trafficgen" not in test, "the test's own generator would weigh more"


@pytest.mark.parametrize("text", ["TRAFFIC['multistream'] = 7\n", "TRAFFIC.update({'multistream': 7})\n"])
def test_a_part_that_the_user_changes_is_written(tmp_path: Path, text: str):
    settings, stock, folder = read(tmp_path, text)
    values = values_of(write_configuration(settings, folder, find_case(settings, stock, "phy2phy_cont"), Additions()))
    assert values["TRAFFIC"] == {**releases()[NEWEST].defaults["TRAFFIC"], "multistream": 7}


def test_what_vsperf_is_given_has_vsperfs_names(tmp_path: Path):
    _, stock, _ = read(tmp_path, "")
    ovs = tmp_path / "ovs"
    (ovs / "usr" / "bin").mkdir(parents=True)
    for name in UTILITIES:
        (ovs / "usr" / "bin" / name).write_text("")
    case = find_case(stock, stock, "phy2phy_cont")
    virtual = virtual_ports(case, tmp_path, tmp_path / "huge", ARRANGEMENT, OvsBinaries(ovs))
    found = joined(generator_additions(OWN_GENERATOR), virtual)
    defaults: Any = releases()[NEWEST].defaults
    assert {*found.forced, *found.defaults} <= recorded(NEWEST).settings
    assert [sorted(nic) for nic in found.parameters["NICS"]] == [recorded(NEWEST)["nic"]] * 2
    paths = defaults["PATHS"]
    assert found.paths.keys() <= paths.keys()
    own = found.paths["vswitch"][SWITCH]
    assert own[own["type"]].keys() == paths["vswitch"][SWITCH]["bin"].keys()
    assert found.paths["vswitch"].keys() <= paths["vswitch"].keys()
    dpdk = found.paths["dpdk"]
    assert dpdk[dpdk["type"]].keys() == paths["dpdk"]["bin"].keys()
    assert found.paths["qemu"]["bin"].keys() == paths["qemu"]["bin"].keys()
    assert set(recorded(NEWEST)["classes"]["VSWITCH"]) >= {SWITCH}


PLUGINS = [
    ("trafficgen/nfvgen_trafficgen.py", "NfvGen", "tools.pkt_gen.trafficgen.ITrafficGenerator"),
    ("collector/no_collector.py", "NoCollector", "tools.collectors.collector.ICollector"),
    ("pod/no_pod.py", "NoPod", "pods.pod.pod.IPod"),
]


@pytest.mark.parametrize(("file", "name", "interface"), PLUGINS)
@pytest.mark.parametrize("release", [name for name in NAMES if name not in ("brahmaputra", "colorado")])
def test_plug_ins_have_the_methods_of_vsperfs_interfaces(file: str, name: str, interface: str, release: str):
    methods = recorded(release)["interfaces"].get(interface)
    if methods is None:
        assert interface == "pods.pod.pod.IPod", "there are no pods before jerma"
        return
    tree = ast.parse((PLUGIN / file).read_text())
    (plugin,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    module, _, parent = interface.rpartition(".")
    assert [ast.unparse(base) for base in plugin.bases] == [parent]
    assert f"from {module} import {parent}" in [ast.unparse(node) for node in tree.body]
    own = {node.name: [argument.arg for argument in node.args.args[1:]] for node in plugin.body[1:]}
    for method, arguments in own.items():
        if not method.startswith("_"):
            # `numpkts` has been a part of TRAFFIC since fraser.
            assert arguments == [argument for argument in methods[method] if argument != "numpkts"], method


def test_ports_of_a_switch_without_nics(tmp_path: Path):
    _, stock, _ = read(tmp_path, "")
    ovs = tmp_path / "ovs"
    (ovs / "usr" / "bin").mkdir(parents=True)
    case = find_case(stock, stock, "phy2phy_cont")
    with pytest.raises(PrerequisiteError, match="ovs-vsctl"):
        virtual_ports(case, tmp_path, tmp_path / "huge", ARRANGEMENT, OvsBinaries(ovs))
    for name in UTILITIES:
        (ovs / "usr" / "bin" / name).write_text("")
    found = virtual_ports(case, tmp_path, tmp_path / "huge", ARRANGEMENT, OvsBinaries(ovs))
    assert [nic["pci"].split(",")[0] for nic in found.parameters["NICS"]] == ["net_vhost0", "net_vhost1"]
    assert (found.forced["VSWITCH_PMD_CPU_MASK"], found.forced["WHITELIST_NICS"]) == ("1", [])
    assert found.paths["qemu"]["type"] == "bin", "VSPERF looks for QEMU also where no guest is started"
    sides = zip(generator_ports(tmp_path), found.parameters["NICS"], strict=True)
    for port, nic in sides:
        assert port.spec.split("path=")[1].split(",")[0] == nic["pci"].split("iface=")[1].split(",")[0]
    assert environment(tmp_path)["OVS_RUNDIR"] + "/" == found.paths["vswitch"]["ovs_var_tmp"]
