"""The site devcloud: data planes of an OpenStack measured through VNFs that Tacker has onboarded, and their life."""

import json
from pathlib import Path

import pytest

from nfvbed.records.quality import QualityWarning
from nfvbed.sites.openstack import storeddeployment
from tests.openstack.cloud_driver import ROOT, nfvbed, verb

pytestmark = pytest.mark.timeout(1500)
VNF = ("--flavor", "hugepages")


def ok(*words: str) -> str:
    """Run a verb that must succeed; return what it printed."""
    done = verb(*words)
    assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
    return done.stdout


def require_paced_load(variant: str, store: Path) -> None:
    """Run the cloud's experiment with one variant; check that frames came, and that none was changed or came twice."""
    words = ("--set", f"variants=[{variant}]", "--set", f"baseline={variant}", "--store", str(store), "--no-doctor")
    ok("run", "openstack", *words)
    run = json.loads(ok("export", "latest", "--store", str(store), "--format", "json"))
    assert [(cell["variant"], cell["status"]) for cell in run["cells"]] == [(variant, "ok")]
    for trial in run["trials"]:
        assert all(0 < one["received"] <= one["sent"] for one in trial["directions"])
        assert all(one["corrupted"] == one["duplicated"] == 0 for one in trial["directions"])
        print(trial["directions"])


def require_frames(run, *variants: str) -> None:
    """Check that every trial of a run with a generator had frames, that none was changed, and that it was emulated."""
    assert {cell["variant"]: cell["status"] for cell in run["cells"]} == dict.fromkeys(variants, "ok")
    for cell in run["cells"]:
        of_cell = [one for one in run["trials"] if one["cell"] == cell["id"] and one["status"] == "ok"]
        trials = [one for one in of_cell if one["intended_load_pps"]]
        assert trials
        for trial in trials:
            assert all(0 < one["received"] <= one["sent"] for one in trial["directions"])
            assert all(one["corrupted"] == one["duplicated"] == 0 for one in trial["directions"])
            assert QualityWarning.EMULATED_ACCELERATOR in trial["warnings"]
            # Nothing measured the VNF alone here, so no trial says that it set the rate.
            assert QualityWarning.VNF_LIMITED not in trial["warnings"]
            print(cell["id"], trial["directions"])


@pytest.mark.path
@pytest.mark.drives("vloop", ["linux-bridge", "ovs-dpdk"], ["legacy"])
@pytest.mark.usefixtures("nothing_onboarded")
def test_both_data_planes_are_measured_through_tackers_instances(tmp_path):
    store = tmp_path / "results.sqlite"
    ok("run", "openstack", "--store", str(store), "--no-doctor")
    require_frames(
        json.loads(ok("export", "latest", "--store", str(store), "--format", "json")), "linux-bridge", "ovs-dpdk"
    )


@pytest.mark.drives("vloop", ["ovs-dpdk"], ["legacy"], remark="sockets between two instances")
@pytest.mark.usefixtures("nothing_onboarded")
def test_two_instances_of_a_chain_are_hosts_of_sockets_and_forward_again(tmp_path):
    store = tmp_path / "results.sqlite"
    ok("run", "openstack-sockets", "--quick", "--store", str(store), "--no-doctor")
    run = json.loads(ok("export", "latest", "--store", str(store), "--format", "json"))
    require_frames(run, "ovs-dpdk")
    require_sockets(run, "network link1 (local) joins them, both on compute controller")


def require_sockets(run, network: str) -> None:
    """Check what came of sockets between two instances: every kind of test, with bytes that both kernels counted."""
    tables = {one["test"]: one for one in run["results"] if one["test"] != "paced"}
    assert {one["status"] for one in tables.values()} == {"ok"}, tables
    for table in tables.values():
        assert any(network in note for note in table["payload"]["notes"]), table["payload"]["notes"]
        for row in table["payload"]["rows"]:
            print(row["label"], row["status"], row.get("reason"), [(q["name"], q["value"]) for q in row["quantities"]])
            assert row["parameters"]["ends"] == "guests"
    carried = [trial for trial in run["trials"] if not trial["intended_load_pps"]]
    assert carried and all(trial["forwarded_rate_pps"] > 0 for trial in carried)


@pytest.mark.on_demand  # as the test before it, on two computes
@pytest.mark.usefixtures("nothing_onboarded")
@pytest.mark.parametrize(("vnf", "network"), [("vpair", "vlan1"), ("vpair-tenant", "vpair-tenant-across")])
def test_instances_on_two_computes_are_hosts_of_sockets(tmp_path, vnf, network):
    store = tmp_path / "results.sqlite"
    words = ("--set", f"vnfs=[{{vnf: {vnf}, kind: vm, forwarding: io}}]", "--quick", "--no-doctor")
    ok("run", "openstack-sockets-apart", *words, "--store", str(store))
    run = json.loads(ok("export", "latest", "--store", str(store), "--format", "json"))
    require_frames(run, "ovs-dpdk")
    joined = f"network {network} (vlan of physical network tenant) joins them"
    require_sockets(run, f"{joined}, on computes controller and ovs-dpdk-2")


@pytest.mark.on_demand  # test_onboarding.py heals by both APIs
@pytest.mark.usefixtures("nothing_onboarded")
def test_a_vnf_that_died_is_healed_and_frames_come_through_again(onboarding_cloud):
    ok("onboard", "vloop", "--variant", "ovs-dpdk", "--site", "devcloud", *VNF)
    again = ok("onboard", "vloop", "--variant", "ovs-dpdk", "--site", "devcloud", *VNF)
    assert "was deployed already" in again
    (vnf,) = storeddeployment.find(onboarding_cloud.places.run).deployment.vnfs
    assert "vloop: ready" in nfvbed("console", vnf.control["instance"]).stdout
    onboarding_cloud.delete_server(vnf.control["instance"])
    ok("heal", "--site", "devcloud")
    report = json.loads(ok("trace", "ovs-dpdk", "--site", "devcloud", "--json"))
    assert all(0 < one["received"] <= one["sent"] for one in report["directions"])
    refused = verb("deploy", "linux-bridge", "--site", "devcloud")
    assert refused.returncode == 13, refused.stderr
    refused = verb("scale", "2", "--site", "devcloud")
    assert refused.returncode == 11, refused.stderr
    assert "data0 and data1, are a loop" in refused.stderr and "--topology pvvp" in refused.stderr
    ok("offboard", "--site", "devcloud")


def test_what_a_cloud_cannot_have_is_refused_by_name():
    for words, said in (
        (("onboard", "vloop", "--variant", "vale", "--site", "devcloud"), "not attached to this data plane"),
        (("onboard", "vloop", "--variant", "emulated-nic", "--site", "devcloud"), "guest_nic"),
        (("onboard", "vloop", "--variant", "ovs-dpdk", "--site", "devcloud", "--kind", "process"), "kind: vm"),
        (("onboard", "vloop", "--variant", "ovs-dpdk", "--site", "devcloud", "--topology", "pvpv"), "no path"),
    ):
        refused = verb(*words)
        assert refused.returncode == 11, refused.stderr
        assert said in refused.stderr


def test_the_doctor_reports_the_cloud(onboarding_cloud):
    assert onboarding_cloud
    report = json.loads(ok("doctor", "--site", "devcloud", "--json"))
    states = {one["topic"]: one["state"] for one in report["topics"]}
    assert states["cloud"] == "present"
    ready = {one["variant"]: one["readiness"] for one in report["variants"]}
    assert (ready["ovs-dpdk"], ready["linux-bridge"], ready["vale"]) == ("ready", "ready", "unsupported")
    assert (ROOT / "deploy/sites/devcloud.yml").is_file()
