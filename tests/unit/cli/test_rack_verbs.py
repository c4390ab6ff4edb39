"""The command line, driven through a rack: its machines, kolla-ansible and the cloud are doubles; the site is not.

What is recorded of it is what a deployment writes down: the journal, and the access to the cloud.
"""

import json
from pathlib import Path

import pytest
import yaml

from nfvbed.cli.main import main
from nfvbed.cloud.devcloud.places import write_private
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.sites.catalogue import find_site, machine_of
from nfvbed.sites.kolla import staged
from nfvbed.sites.kolla.executor import journal, succession
from nfvbed.sites.kolla.executor.deploying import require_free
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.preflight.gather import MachineAnswers
from tests.unit.sites.kolla.rack_facts import as_described, with_port

ROOT = Path(__file__).parents[3]
AT = ("--site", "rack")
STUDY = """
name: two
title: Two data planes
site: rack
purpose: survey
variants: [ovs-dpdk, ovs-kernel]
baseline: ovs-kernel
topologies: [pvp]
frame_sizes: [64]
ceilings: false
vnfs: [{kind: vm, forwarding: mac}]
trials: {mrr_trials: 1, mrr_duration_s: 0.5}
repetitions: {needed: 3, max_rounds: 4}
"""


@pytest.fixture(name="root")
def _root(tmp_path, monkeypatch):
    """The data of the project, with a rack whose generator can be started."""
    for name in ("flavors", "vnfd", "kolla", "tosca", "images", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "deploy" / "sites").mkdir(parents=True)
    for name in ("variants", "roles", "playbooks"):
        if (ROOT / "deploy" / name).exists():
            (tmp_path / "deploy" / name).symlink_to(ROOT / "deploy" / name)
    (tmp_path / "vsperf-conf" / "experiments").mkdir(parents=True)
    (tmp_path / "vsperf-conf" / "experiments" / "two.yml").write_text(STUDY)
    monkeypatch.setenv("NFVBED_ROOT", str(tmp_path))
    monkeypatch.setenv("NFVBED_STORE", str(tmp_path / "results.sqlite"))
    monkeypatch.setattr("nfvbed.cli.staged.end_like_interrupt", lambda: None)
    monkeypatch.setattr("nfvbed.cli.destroy.end_like_interrupt", lambda: None)
    monkeypatch.setattr("nfvbed.cli.run.end_like_interrupt", lambda: None)
    monkeypatch.setattr("nfvbed.cloud.tacker.others.require_none", lambda *_: None)
    write_rack(tmp_path)
    return tmp_path


def write_rack(root, **keys):
    data = yaml.safe_load((ROOT / "deploy" / "sites" / "rack.yml").read_text())
    data["generator"] |= {"nfvgen": "/opt/nfvgen", "core": 3}
    (root / "deploy" / "sites" / "rack.yml").write_text(yaml.safe_dump(data | keys))


@pytest.fixture(name="done")
def _done(root, monkeypatch):
    """kolla-ansible: a double, which writes down what a deployment leaves, and notes what it was told to do."""
    told = []

    def deploy(project, wish, observer, examine):
        places = RackPlaces.of(project.root, wish.site.name)
        found = journal.read(places)
        require_free(found, wish)
        told.append(f"deploy {wish.pinning.name}, {wish.release.name}")
        if found is None:
            write_cloud(root, wish.pinning.name, wish.release.name)
        observer.say("stage by stage")
        return found is not None

    def destroy(project, site, observer):
        told.append("destroy")
        journal.forget(RackPlaces.of(project.root, site.name))
        return ("it is taken down",)

    monkeypatch.setattr(staged, "prepare", lambda project, wish: None)
    monkeypatch.setattr(staged, "deploy", deploy)
    monkeypatch.setattr(staged.destroying, "destroy", destroy)
    return told


def write_cloud(root, variant="ovs-dpdk", release="2026.1"):
    places = RackPlaces.of(root, "rack")
    places.make()
    journal.write(places, Journal(variant=variant, release=release, digest="0123456789").noted("deploy", "done"))
    write_private(places.clouds, json.dumps({"clouds": {"rack": {"auth": {"auth_url": "http://10.10.0.250:5000"}}}}))
    return places


def reported(capsys, *arguments, code=0):
    assert main(arguments) == code
    return capsys.readouterr()


def test_deployed_stage_by_stage_and_taken_down_by_its_name(done, capsys):
    stages = reported(capsys, "deploy", "ovs-dpdk", *AT, "--dry-run").out.splitlines()
    assert [line.split()[0] for line in stages][:2] == ["prepare", "bootstrap-servers"]
    assert all("to do" in line for line in stages)
    deployed = reported(capsys, "deploy", "ovs-dpdk", *AT)
    assert "ovs-dpdk is deployed on site rack\n  access: OS_CLIENT_CONFIG_FILE=" in deployed.out
    assert "stage by stage" in deployed.err
    assert "was deployed already" in reported(capsys, "deploy", "ovs-dpdk", *AT).out
    assert json.loads(reported(capsys, "deploy", "ovs-dpdk", *AT, "--json").out)["variant"] == "ovs-dpdk"
    assert "site rack has another variant" in reported(capsys, "deploy", "ovs-kernel", *AT, code=13).err
    assert "that was not confirmed" in reported(capsys, "deploy", "ovs-kernel", *AT, "--redeploy", code=2).err
    assert done == ["deploy ovs-dpdk, 2026.1"] * 3
    assert "deployed" in reported(capsys, "deploy", "ovs-kernel", *AT, "--redeploy", "--yes", "rack").out
    assert done[3:] == ["destroy", "deploy ovs-kernel, 2026.1"]
    assert "would take down ovs-kernel on site rack" in reported(capsys, "destroy", *AT, "--dry-run").out
    assert "that was not confirmed" in reported(capsys, "destroy", *AT, code=2).err
    assert "that was not confirmed" in reported(capsys, "destroy", *AT, "--yes", "lab", code=2).err
    assert reported(capsys, "destroy", *AT, "--yes", "rack").out == "it is taken down\n"
    assert reported(capsys, "destroy", *AT).out == "nothing is deployed on site rack\n", "there is nothing to confirm"


def test_nothing_is_taken_down_for_a_variant_that_the_machines_cannot_have(done, root, capsys):
    reported(capsys, "deploy", "ovs-dpdk", *AT)
    places, site = RackPlaces.of(root, "rack"), open_project(root).load_site("rack")
    facts = as_described(site)
    succession.keep(places, site, MachineAnswers(facts | {"compute1": with_port(facts["compute1"], 1, mtu=1500)}, ()))
    taken = ("deploy", "ovs-kernel", *AT, "--redeploy", "--yes", "rack")
    said = reported(capsys, *taken, code=10).err
    assert "nothing is taken down, nor deployed: the preflight found 1 faults on site rack" in said
    assert "compute1" in said and "MTU 1500" in said
    assert "nothing is taken down" in reported(capsys, *taken, "--dry-run", code=10).err
    assert done == ["deploy ovs-dpdk, 2026.1"] and places.journal.exists()
    # Answers of machines that the file does not describe any more say nothing.
    other = {**site.hosts, "compute1": site.hosts["compute1"].model_copy(update={"address": "10.10.0.99"})}
    succession.keep(places, site.model_copy(update={"hosts": other}), MachineAnswers({}, ()))
    reported(capsys, *taken)
    assert done[1:] == ["destroy", "deploy ovs-kernel, 2026.1"]


@pytest.mark.usefixtures("done")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--topology", "pvp"), "a rack is deployed without a path"),
        (("--frame-size", "9000"), "a rack's networks have the MTU of the site's file"),
    ],
)
def test_what_a_deployment_in_stages_is_not_told(capsys, words, said):
    assert said in reported(capsys, "deploy", "ovs-dpdk", *AT, *words, code=2).err


@pytest.mark.usefixtures("root")
def test_without_a_cloud_whatever_needs_one_is_refused_with_the_way_to_one(capsys):
    there = "nfvbed deploy VARIANT --site rack (docs/howto/kolla.md)"
    for words in (
        ("onboard", "vloop", "--variant", "ovs-dpdk"),
        ("trace", "ovs-dpdk", "--topology", "pvp"),
        ("heal",),
        ("scale", "2"),
        ("offboard",),
        ("steer",),
        ("run", "two"),
        ("recommend", "--need", "throughput"),
        ("gate", "ovs-kernel", "--candidate", "own", "--topology", "pvp"),
        ("bisect", "ovs-dpdk", "--over", "pmd_cores=1,2", "--topology", "pvp"),
    ):
        refused = reported(capsys, *words, *AT, code=11).err
        assert "site rack has no cloud" in refused and there in refused, words
    planned = " ".join(reported(capsys, "plan", "two").out.split())
    assert "site rack is not asked: site rack has no cloud" in planned
    fitting = reported(capsys, "onboard", "vloop", *AT, "--variant", "ovs-dpdk", "--check", code=10).out
    assert "site rack has no cloud" in fitting


def test_a_cloud_is_looked_at_and_none_of_its_verbs_knows_the_rack(root, capsys):
    write_cloud(root)
    for words in (("heal",), ("scale", "2"), ("offboard",), ("steer",)):
        refused = reported(capsys, *words, *AT, code=2).err
        assert "site rack" in refused and "deployed" in refused, words
    planned = reported(capsys, "plan", "two").out
    assert "not on site rack: ovs-kernel/pvp+vm-mac/64: site rack does not have variant ovs-kernel" in planned, (
        "the other one is there"
    )
    fitting = reported(capsys, "onboard", "vloop", *AT, "--variant", "ovs-kernel", "--check", code=10).out
    assert "does not have variant ovs-kernel" in fitting
    assert "deployed" in reported(capsys, "verify", "vpp", *AT, code=2).err


def test_machines_that_are_given_are_not_started(capsys):
    for words in (("start",), ("stop",), ("status",), ("console",), ("logs", "compute1"), ("shell", "compute1")):
        refused = reported(capsys, "rack", *words, *AT, code=10).err
        assert "the machines of site rack are not a box" in refused, words


def test_the_doctor_asks_all_machines(root, capsys, monkeypatch):
    spec = open_project(root).load_site("rack")
    asked = []

    def gather(site, *, try_functions):
        asked.append(try_functions)
        return MachineAnswers(as_described(spec), ())

    monkeypatch.setattr("nfvbed.sites.kolla.preflight.report.gather", gather)
    names = ("--variant", "ovs-dpdk", "--variant", "linux-bridge")
    found = json.loads(reported(capsys, "doctor", *AT, *names, "--try", "--json").out)
    assert set(found["machines"]) == set(spec.hosts) and found["release"] == "2026.1" and asked == [True]
    assert {one["variant"]: one["readiness"] for one in found["variants"]} == {
        "ovs-dpdk": "ready",
        "linux-bridge": "unsupported",
    }
    old = json.loads(reported(capsys, "doctor", *AT, *names, "--release", "ocata", "--json").out)
    assert old["release"] == "ocata"


def test_a_run_that_deploys_the_rack_again_wants_its_name(root, capsys):
    computes = {"compute1": {"variant": "ovs-dpdk"}, "compute2": {"variant": "ovs-kernel"}}
    write_rack(root, computes=computes, swap="abba")
    planned = " ".join(reported(capsys, "plan", "two").out.split())
    assert "rounds 2, 3: ovs-kernel on compute1, ovs-dpdk on compute2 (swap: abba)" in planned
    assert "that was not confirmed" in reported(capsys, "run", "two", code=2).err
    assert "has no cloud" in reported(capsys, "run", "two", "--yes", "rack", code=11).err
    write_rack(root, computes=computes)
    assert "has no cloud" in reported(capsys, "run", "two", code=11).err, "nothing is deployed again: nothing is asked"


def test_files_are_rendered_for_machines_that_have_no_cloud(root, capsys):
    out = root / "out"
    said = reported(capsys, "kolla", "render", "ovs-dpdk", *AT, "--output", str(out)).out
    assert "files for ovs-dpdk on site rack" in said
    assert (out / "inventory" / "host_vars" / "compute1.yml").is_file()


def test_an_upgrade_is_previewed_of_a_rack_that_has_a_cloud_alone(root, capsys):
    refused = reported(capsys, "kolla", "upgrade-preview", *AT, "--to", "2026.1", code=2).err
    assert "nothing is deployed on site rack" in refused and "upgrade-preview VARIANT" in refused


def test_a_site_says_in_its_file_which_optional_parts_it_has():
    project = open_project(ROOT)
    for name in project.site_names:
        spec = project.load_site(name)
        site = find_site(spec, ROOT)
        assert (site.staged_cloud() is not None) == spec.in_stages, name
        assert (site.own_machine() is not None) == (not spec.keeps_deployments), name
        assert (machine_of(spec, ROOT) is not None) == (not spec.keeps_deployments), name


def test_a_machine_that_boots_for_a_command_keeps_nothing(capsys, monkeypatch):
    monkeypatch.setenv("NFVBED_ROOT", str(ROOT))
    for words in (("deploy", "linux-bridge"), ("destroy",), ("destroy", "--dry-run"), ("heal",), ("verify",)):
        refused = reported(capsys, *words, "--site", "guest-node", code=11).err
        assert "lives as long as one command" in refused and "nfvbed doctor --site guest-node" in refused, words
