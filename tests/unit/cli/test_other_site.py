"""Every verb goes through the site that was named: a site that is no lab, and no host, is driven by all of them."""

import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

from nfvbed.cli.main import main
from nfvbed.sites import catalogue
from nfvbed.spec import loader
from nfvbed.spec.site import GuestSiteSpec, LabSiteSpec
from tests.unit.cli.memory_site import MemorySite, MemorySiteSpec

ROOT = Path(__file__).parents[3]
STUDY = """
name: memory
title: Two data planes in memory
site: memory
purpose: survey
variants: [linux-bridge, ovs-kernel, vpp]
baseline: linux-bridge
topologies: [p2p]
frame_sizes: [64]
ceilings: false
trials: {mrr_trials: 1, mrr_duration_s: 0.5}
repetitions: {needed: 3, max_rounds: 4}
"""
AT = ("--site", "memory")


@pytest.fixture(autouse=True)
def _site(tmp_path, monkeypatch):
    """The data of the project, with a site's file of a kind of its own."""
    for folder in ("deploy/variants", "vnfd", "flavors", "images", "kolla"):
        (tmp_path / folder).parent.mkdir(exist_ok=True)
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "deploy" / "sites").mkdir()
    (tmp_path / "deploy" / "sites" / "memory.yml").write_text("{name: memory, kind: memory, rack: r1}")
    (tmp_path / "vsperf-conf" / "experiments").mkdir(parents=True)
    (tmp_path / "vsperf-conf" / "experiments" / "memory.yml").write_text(STUDY)
    monkeypatch.setenv("NFVBED_ROOT", str(tmp_path))
    monkeypatch.setenv("NFVBED_STORE", str(tmp_path / "results.sqlite"))
    kinds = Annotated[LabSiteSpec | GuestSiteSpec | MemorySiteSpec, Field(discriminator="kind")]
    monkeypatch.setattr(loader, "AnySite", kinds)
    monkeypatch.setitem(catalogue.SITES, "memory", "tests.unit.cli.memory_site:open_memory")
    monkeypatch.setattr(MemorySite, "deployed", {})
    monkeypatch.setattr(MemorySite, "log", [])
    monkeypatch.setattr("nfvbed.cli.run.end_like_interrupt", lambda: None)


def reported(capsys, *arguments, code=0):
    assert main(arguments) == code
    return capsys.readouterr()


def test_deployed_found_traced_and_taken_down(capsys):
    assert "would be deployed; this host is ready" in reported(capsys, "deploy", "linux-bridge", *AT, "--dry-run").out
    assert "linux-bridge (p2p) deployed\n" in reported(capsys, "deploy", "linux-bridge", *AT).out
    assert "was deployed already" in reported(capsys, "deploy", "linux-bridge", *AT).out
    assert "where: rack r1" in reported(capsys, "deploy", "ovs-kernel", *AT, code=13).err
    assert json.loads(reported(capsys, "trace", "linux-bridge", *AT, "--json").out)["complete"]
    assert "would forget linux-bridge" in reported(capsys, "destroy", *AT, "--dry-run").out
    assert "linux-bridge is out of memory" in reported(capsys, "destroy", *AT).out
    assert reported(capsys, "destroy", *AT).out == "nothing is deployed on this host\n"
    assert MemorySite.log[-1] == "close"


def test_a_vnf_is_onboarded_on_what_is_deployed_there(capsys):
    assert "no data plane is deployed" in reported(capsys, "onboard", "vloop", *AT, code=2).err
    reported(capsys, "deploy", "ovs-kernel", *AT)
    found = reported(capsys, "onboard", "vloop", *AT, "--json")
    assert "it makes room" in found.err
    document = json.loads(found.out)
    assert (document["topology"], [vnf["name"] for vnf in document["vnfs"]]) == ("pvp", ["vnf1"])
    assert document["checksum_offload"] is None, "the ports are of a kernel, and of no host"
    assert json.loads(reported(capsys, "trace", "ovs-kernel", *AT, "--json").out)["topology"] == "pvp"


def test_vnfs_are_healed_scaled_and_offboarded_there(capsys, monkeypatch):
    refused = reported(capsys, "heal", *AT, code=2).err
    assert "no VNF is onboarded on site memory" in refused
    assert "nothing is deployed" in refused
    reported(capsys, "onboard", "vloop", *AT, "--variant", "ovs-kernel")
    assert reported(capsys, "heal", *AT).out.splitlines()[0] == "ovs-kernel (pvp): no VNF had died"
    monkeypatch.setattr(MemorySite, "dead", ["vnf1"])
    assert reported(capsys, "heal", *AT, "--dry-run").out == "ovs-kernel (pvp): vnf1 would be started again\n"
    assert "ovs-kernel (pvp): vnf1 started again\n  vnf1: process, io" in reported(capsys, "heal", *AT).out
    assert MemorySite.log[-2:] == ["heal vnf1", "close"]
    assert reported(capsys, "scale", "3", *AT, "--dry-run").out == "would have 3 VNFs\n"
    scaled = json.loads(reported(capsys, "scale", "3", *AT, "--json").out)
    assert [vnf["name"] for vnf in scaled["vnfs"]] == ["vnf1", "vnf2", "vnf3"]
    assert "would be offboarded" in reported(capsys, "offboard", *AT, "--dry-run").out
    assert json.loads(reported(capsys, "offboard", *AT, "--json").out)["vnfs"] == []
    assert "ovs-kernel is deployed, without VNFs" in reported(capsys, "offboard", *AT, code=2).err
    assert "was deployed already" in reported(capsys, "deploy", "ovs-kernel", *AT, "--topology", "pvp").out, (
        "it was left"
    )


def test_what_it_cannot_do_is_unsupported_with_the_reason(capsys):
    assert "not in memory" in reported(capsys, "deploy", "vpp", *AT, code=11).err
    price = ("onboard", "vloop", *AT, "--variant", "linux-bridge", "--forwarding", "bridge", "--offload-price")
    refused = reported(capsys, *price, code=11).err
    assert "the cost of offloads cannot be measured on site memory" in refused
    assert "the site is no host" in refused
    assert MemorySite.log[-2:] == ["destroy linux-bridge", "close"]


def test_a_descriptor_in_a_file_is_for_sites_that_take_one(capsys, tmp_path):
    path = tmp_path / "Their VNF.yaml"
    path.write_text(
        "tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0\n"
        "topology_template: {node_templates: {VDU1: {type: tosca.nodes.nfv.VDU.Tacker}}}\n"
    )
    there = ("onboard", str(path), *AT, "--variant", "linux-bridge")
    refused = reported(capsys, *there, code=11).err
    assert "site memory cannot onboard descriptors" in refused
    for words in (("--dry-run",), ()):
        assert reported(capsys, *there, *words, code=11).err == refused, "the same, whether anything is done or not"
    assert "cannot onboard descriptors" in reported(capsys, *there, "--check", code=10).out
    assert "--kind: not of a descriptor" in reported(capsys, *there, "--kind", "vm", "--check", code=2).err
    assert "--param NAME=VALUE" in reported(capsys, *there, "--param", "image", code=2).err
    named = reported(capsys, "onboard", "vloop", *AT, "--variant", "linux-bridge", "--name", "a=b", code=2).err
    assert "names are of a descriptor in a file" in named
    assert "site memory cannot offboard descriptors" in reported(capsys, "offboard", "their", *AT, code=11).err


def test_optional_parts_that_it_has_not_are_refused_by_what_it_says_and_not_by_its_kind(capsys, tmp_path):
    refused = reported(capsys, "verify", *AT, code=11).err
    assert "site memory has no cloud that could be verified" in refused
    assert "nfvbed trace VARIANT --site memory" in refused
    out = ("--output", str(tmp_path / "o"))
    for words in (("render", "ovs-dpdk", *out), ("upgrade-preview", "--to", "2026.1")):
        refused = reported(capsys, "kolla", *words, *AT, code=2).err
        assert "site memory is not deployed by kolla-ansible" in refused, words
    for words in (("--release", "ocata"), ("--try",)):
        assert "--release and --try are of a rack" in reported(capsys, "doctor", *AT, *words, code=2).err
    for words in (("--redeploy",), ("--yes", "memory"), ("--release", "ocata")):
        assert "of sites of kind kolla alone" in reported(capsys, "deploy", "linux-bridge", *AT, *words, code=2).err
    assert "of sites of kind kolla alone" in reported(capsys, "destroy", *AT, "--yes", "memory", code=2).err
    assert "sites that are a whole cloud" in reported(capsys, "destroy", *AT, "--evict", code=2).err
    for words in (("start",), ("stop",), ("status",), ("console",), ("logs", "compute1"), ("shell", "compute1")):
        assert "the machines of site memory are not a box" in reported(capsys, "rack", *words, *AT, code=10).err
    reported(capsys, "onboard", "vloop", *AT, "--variant", "ovs-kernel")
    assert json.loads(reported(capsys, "steer", *AT, "--json").out)["vnfs"]
    assert "joins VNFs once" in reported(capsys, "steer", *AT, "--order", "vnf1", code=11).err
    planned = reported(capsys, "plan", "memory").out
    assert "exchanged" not in planned and "swap" not in planned


def test_what_is_recommended_there_is_of_what_the_site_says_it_is(capsys):
    reported(capsys, "run", "memory", "--no-doctor")
    found = json.loads(reported(capsys, "recommend", *AT, "--need", "throughput", "--json").out)
    assert found


def test_a_change_is_judged_there(capsys, monkeypatch):
    monkeypatch.setattr("nfvbed.cli.gate.end_like_interrupt", lambda: None)
    change = ("linux-bridge", *AT, "--topology", "p2p", "--frame-size", "64")
    gated = ("gate", *change, "--candidate", "own", "--look", "8")
    planned = json.loads(reported(capsys, *gated, "--dry-run", "--json").out)
    assert planned["experiment"]["site"] == "memory"
    assert "not in memory" in reported(capsys, *gated, code=11).err
    bisected = ("bisect", *change, "--over", "offloads=true,false", "--dry-run", "--json")
    assert json.loads(reported(capsys, *bisected).out)["experiment"]["site"] == "memory"


@pytest.mark.parametrize("module", ["test_other_site.py", "test_rack_verbs.py"])
def test_every_verb_that_takes_a_site_is_driven_through_it(module):
    verbs = json.loads((ROOT / "nfvbed" / "cli" / "verbs.json").read_text())
    of_groups = {name: verb for group in verbs.values() for name, verb in group.get("verbs", {}).items()}
    named = [
        name
        for name, verb in (verbs | of_groups).items()
        if any("--site" in parameter.get("opts", ()) for parameter in verb.get("parameters", ()))
    ]
    assert {"deploy", "render", "verify"} <= set(named)
    text = Path(__file__).with_name(module).read_text()
    assert [name for name in named if f'"{name}"' not in text] == []


def test_an_experiment_is_run_compared_and_reported(capsys, tmp_path):
    found = json.loads(reported(capsys, "run", "memory", "--no-doctor", "--json").out)
    status = {cell["id"]: (cell["status"], cell["reason"]) for cell in found["cells"]}
    assert status["linux-bridge/p2p/64"] == status["ovs-kernel/p2p/64"] == ("ok", "")
    assert status["vpp/p2p/64"] == ("unsupported", "not in memory (none)")
    assert found["run"]["site"] == "memory"
    assert not any(cell["simulated"] for cell in found["cells"])
    rows = {row["cell"]: row for row in json.loads(reported(capsys, "compare", "--json").out)["rows"]}
    assert rows["ovs-kernel/p2p/64"]["mrr"]["median_pps"] > 1.5 * rows["linux-bridge/p2p/64"]["mrr"]["median_pps"]
    reported(capsys, "report", "--quiet")
    assert list(tmp_path.rglob("index.html"))


def test_the_doctor_shows_the_sites_own_report_and_its_answers(capsys):
    names = ("--variant", "linux-bridge", "--variant", "vpp")
    report = json.loads(reported(capsys, "doctor", "--read-only", *AT, *names, "--json").out)
    assert [(s["variant"], s["readiness"]) for s in report["variants"]] == [
        ("linux-bridge", "ready"),
        ("vpp", "unsupported"),
    ]
    assert report["site"] == "memory"
    found = {topic["topic"]: (topic["state"], topic["summary"]) for topic in report["topics"]}
    assert found["host"][0] == "absent"
    assert found["rack"] == ("present", "r1")
    shown = reported(capsys, "doctor", *AT, *names).out
    assert "site memory is no host" in shown
    assert platform.release() not in shown, "nothing of this machine"
    assert "no real variant can be measured on site memory" in reported(capsys, "doctor", *AT, *names[2:], code=11).err


def test_a_run_stores_what_the_site_says_of_itself(capsys):
    document = json.loads(reported(capsys, "run", "memory", "--json").out)
    assert document["run"]["doctor_hash"]
    assert "site memory is no host" in reported(capsys, "export").out


def test_the_interface_needs_nothing_of_a_host():
    code = (
        "import sys, nfvbed.sites.site, nfvbed.sites.catalogue\n"
        "print(*[name for name in sys.modules if name.startswith(('nfvbed.host', 'pyroute2', 'ovs', 'vpp_papi'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
