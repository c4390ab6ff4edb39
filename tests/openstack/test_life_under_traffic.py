"""A VNF is scaled out and in by Tacker, or respawned by its ping monitor, while frames flow.

Scaled ones are side by side, each with a share of the frames.
"""

import json

import pytest

from tests.openstack.test_site import ok

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(2400), pytest.mark.usefixtures("nothing_onboarded")]
EXPERIMENT = """
name: side-by-side
title: A VNF is scaled out and in under traffic
purpose: survey
variants: [{variant}]
topologies: [pvp]
vnfs: [{{kind: vm, forwarding: mac, flavor: hugepages}}]
frame_sizes: [64]
trials: {{warmup_s: 0.1, mrr_trials: 1, mrr_duration_s: 0.5, paced_duration_s: 1}}
tests:
  - {{kind: mrr}}
  - {{kind: life-cycle, name: out, operations: [scale-out], repetitions: 1, duration_s: 300, resolution_s: 0.01}}
  - {{kind: life-cycle, name: in, operations: [scale-in], repetitions: 1, duration_s: 90, resolution_s: 0.01}}
repetitions: {{needed: 1, max_rounds: 1}}
ceilings: false
"""


@pytest.mark.parametrize(
    ("variant", "site"), [("linux-bridge", "devcloud-sol"), ("ovs-dpdk", "devcloud-sol"), ("linux-bridge", "devcloud")]
)
def test_flows_go_to_both_instances_and_back_to_one(tmp_path, variant, site):
    experiment, store = tmp_path / "side-by-side.yml", tmp_path / "x.sqlite"
    experiment.write_text(EXPERIMENT.format(variant=variant))
    ok("run", str(experiment), "--site", site, "--store", str(store), "--no-doctor")
    run = json.loads(ok("export", "latest", "--store", str(store), "--format", "json"))
    results = [one for one in run["results"] if one["kind"] == "life-cycle"]
    assert [one["status"] for one in results] == ["ok", "ok"], results
    rows = {row["label"]: row for one in results for row in one["payload"]["rows"]}
    print(json.dumps(rows, indent=1))
    out, back = rows["scale-out"], rows["scale-in"]
    assert (out["parameters"]["instances"], back["parameters"]["instances"]) == ("1 to 2", "2 to 1")
    for row, marks in ((out, ("acted", "booted", "dealt")), (back, ("acted", "dealt"))):
        found = {one["name"]: one["value"] for one in row["quantities"]}
        assert all(found[mark] > 0 for mark in marks), found
        assert found["offered load"] > 0
        assert found["lost frames"] is not None
        assert found["longest gap"] is not None, "frames came to the end"


RESPAWN = """
name: respawn
title: Tacker's monitor has a VNF respawned under traffic
purpose: survey
variants: [linux-bridge]
topologies: [pvp]
vnfs: [{vnf: vloop-monitored, kind: vm, forwarding: macswap}]
frame_sizes: [64]
trials: {warmup_s: 0.1, mrr_trials: 1, mrr_duration_s: 0.5, paced_duration_s: 1}
tests:
  - {kind: mrr}
  - {kind: life-cycle, operations: [respawn, heal], repetitions: 2, duration_s: 300, resolution_s: 0.01}
repetitions: {needed: 1, max_rounds: 1}
ceilings: false
"""


def test_tackers_ping_monitor_has_a_killed_vnf_respawned_and_frames_come_again(tmp_path):
    experiment, store = tmp_path / "respawn.yml", tmp_path / "x.sqlite"
    experiment.write_text(RESPAWN)
    ok("run", str(experiment), "--site", "devcloud", "--store", str(store), "--no-doctor")
    run = json.loads(ok("export", "latest", "--store", str(store), "--format", "json"))
    (result,) = [one for one in run["results"] if one["kind"] == "life-cycle"]
    rows = {row["label"]: row for row in result["payload"]["rows"]}
    print(json.dumps(rows, indent=1))
    assert result["status"] == "ok", result
    assert rows["heal"]["status"] == "unsupported"
    assert "monitor" in rows["heal"]["reason"]
    assert rows["respawn"]["parameters"]["delay"] == "60 s"
    for number in (1, 2):
        found = {one["name"]: one["value"] for one in rows[f"respawn, repetition {number}"]["quantities"]}
        # Three echo requests, a second apart, are lost before Tacker takes it for dead.
        assert found["detected"] > 2
        assert min(found["acted"], found["booted"]) > 0
        assert found["longest gap"] > found["detected"] + found["acted"]
        assert found["lost frames"] > 0
        assert found["offered load"] > 0
