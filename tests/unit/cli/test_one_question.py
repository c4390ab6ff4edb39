"""A check, a dry run, a plan and the command say the same of what a site cannot have; files are read first."""

import json
from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.cloud.devcloud.cloud import DevCloud
from nfvbed.sites.catalogue import open_site
from nfvbed.sites.lab.machine import LabMachine
from tests.unit.vnfs.descriptors.test_files_of_other_kinds import OTHERS, UPF

ROOT = Path(__file__).parents[3]
CLOUD = ("--site", "devcloud")


@pytest.fixture(autouse=True)
def _nothing_changes(monkeypatch):
    monkeypatch.setenv("NFVBED_ROOT", str(ROOT))
    for owner, name in ((DevCloud, "start"), (DevCloud, "stop"), (LabMachine, "begin")):
        monkeypatch.setattr(owner, name, lambda *_, **__: pytest.fail("something is changed"))


@pytest.mark.parametrize("words", [("--dry-run",), ("--check",), ()], ids=str)
@pytest.mark.parametrize("site", ["devcloud", "lab", "rack"])
def test_a_file_is_read_before_anything_else(words, site, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("nfvbed.cli.descriptor_files.open_site", lambda *_: pytest.fail("a site is opened"))
    path = tmp_path / "their.yaml"
    for text, line, said in OTHERS.values():
        path.write_text(text)
        assert main(["onboard", str(path), "--site", site, "--variant", "linux-bridge", *words]) == 10
        told = capsys.readouterr().err
        assert said in told and f"{path}:{line}" in told


def test_package_checks_every_form(tmp_path, capsys):
    path = tmp_path / "their.yaml"
    for text, line, _ in OTHERS.values():
        path.write_text(text)
        assert main(["package", str(path)]) == 10
        assert f"{path}:{line}" in capsys.readouterr().err
    path.write_text(UPF.replace(", default: m1.tiny", ""))
    assert main(["package", str(path)]) == 0
    assert "a template" in (said := capsys.readouterr().out) and "--param gives values of size" in said
    path.write_text("tosca_definitions_version: tosca_simple_yaml_1_2\nimports: [etsi_nfv_sol001_vnfd_types.yaml]\n")
    assert main(["package", str(path)]) == 10, "the file that it imports is not beside it"
    assert "nothing is fetched" in capsys.readouterr().err
    assert main(["package", str(ROOT / "vnfd/vepc/vnf.yml")]) == 0
    own = tmp_path / "vnf.yml"
    own.write_text((ROOT / "vnfd/vloop/vnf.yml").read_text().replace("kinds:", "kindss:"))
    assert main(["package", str(own)]) == 10


def test_a_vnf_yml_elsewhere_is_checked_and_not_onboarded(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("nfvbed.sites.lab.site.find_remembered", lambda: None)
    own = tmp_path / "vnf.yml"
    own.write_text((ROOT / "vnfd/vloop/vnf.yml").read_text().replace("name: vloop", "name: mine"))
    assert main(["onboard", str(own), "--check", "--variant", "ovs-dpdk"]) == 0
    assert "mine (process-io-mine" in capsys.readouterr().out
    assert main(["onboard", str(own), "--variant", "ovs-dpdk", "--dry-run"]) == 2
    assert "put the file into" in capsys.readouterr().err


REFUSED = [
    ("vloop", "ovs-kernel", "pvp", "is no data plane of a devcloud"),
    ("vloop", "vale", "pvp", "not attached to this data plane"),
    ("vloop", "emulated-nic", "pvp", "guest_nic"),
    ("vloop", "ovs-dpdk", "pvpv", "no path"),
    ("vloop", "ovs-dpdk", "pv3p", "hugepages"),
]


@pytest.mark.parametrize(("vnf", "variant", "topology", "said"), REFUSED)
def test_check_dry_run_and_command_refuse_the_same(vnf, variant, topology, said, capsys, monkeypatch):
    monkeypatch.setattr("nfvbed.cli.onboard.require_site", lambda *_: pytest.fail("the site is taken"))
    words = ["onboard", vnf, "--variant", variant, "--topology", topology, *CLOUD]
    assert main([*words, "--check"]) == 10
    assert said in capsys.readouterr().out
    codes, told = [], []
    for more in ((), ("--dry-run",)):
        codes.append(main([*words, *more]))
        told.append(capsys.readouterr().err)
    assert told[0] == told[1] and codes[0] == codes[1] != 0
    assert said in told[0]


def test_a_given_descriptor_is_refused_alike_and_with_every_line(tmp_path, capsys):
    path = tmp_path / "upf.yaml"
    path.write_text(UPF)
    words = ["onboard", str(path), "--variant", "ovs-dpdk", *CLOUD]
    assert main([*words, "--check", "--json"]) == 10
    found = json.loads(capsys.readouterr().out)["mismatches"]
    assert {one["subject"] for one in found} == {"key", "zone", "floating network", "address"}
    for more in ((), ("--dry-run",)):
        assert main([*words, *more]) == 10
        told = capsys.readouterr().err
        assert all(one["where"] in told for one in found)


def test_a_plan_on_a_cloud_says_what_that_cannot_have(capsys):
    words = ["openstack", "--variant", "ovs-kernel", "--variant", "ovs-dpdk", *CLOUD]
    assert main(["plan", *words, "--json"]) == 0
    cells = {cell["variant"]: cell["lacks"] for cell in json.loads(capsys.readouterr().out)["cells"]}
    assert "no data plane of a devcloud" in cells["ovs-kernel"]
    assert cells["ovs-dpdk"] == ""
    assert main(["run", *words, "--dry-run"]) == 0
    assert "not on site devcloud: ovs-kernel/" in capsys.readouterr().out


def test_a_core_of_another_network_is_refused_for_guests_with_its_line(tmp_path, capsys, monkeypatch):
    for name in ("deploy", "flavors", "vsperf-conf", "images", "native", "tosca"):
        (tmp_path / name).symlink_to(ROOT / name)
    file = tmp_path / "vnfd" / "vepc" / "vnf.yml"
    file.parent.mkdir(parents=True)
    text = (ROOT / "vnfd/vepc/vnf.yml").read_text()
    monkeypatch.setenv("NFVBED_ROOT", str(tmp_path))
    guests = ["onboard", "vepc", "--check", "--variant", "ovs-dpdk", *CLOUD, "--deployment-flavour", "two-guests"]
    processes = ["onboard", "vepc", "--check", "--variant", "linux-bridge"]
    other = [('plmn: "00101"', 'plmn: "310410"'), ('tac: "1"', 'tac: "7"'), ("apn: internet", "apn: ims")]
    for old, new in other:
        file.write_text(text.replace(old, new))
        line = next(number for number, one in enumerate(file.read_text().splitlines(), 1) if new in one)
        assert main(guests) == 10
        assert f"vnf.yml:{line} " in capsys.readouterr().out
        assert main(processes) == 0
        assert main(["package", "vepc", "--form", "legacy", "--output", "-"]) == 11
        capsys.readouterr()
    for wrong in ('plmn: "310"', 'tac: "70000"', 'tac: "x"', "apn: a_b", "apm: internet"):
        old = {"pl": 'plmn: "00101"', "ta": 'tac: "1"', "ap": "apn: internet"}[wrong[:2]]
        file.write_text(text.replace(old, wrong))
        assert main(processes) == 10, wrong
        assert "vnf.yml:" in capsys.readouterr().err


def test_the_devcloud_is_opened_without_being_asked():
    from nfvbed.dataplanes.catalogue import open_project

    project = open_project(ROOT)
    assert open_site(project.load_site("devcloud"), ROOT).fit(project.load_variant("ovs-dpdk"), "p2p", None) == ()
