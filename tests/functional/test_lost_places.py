"""Frames that a real switch or VNF loses: each is found where it was lost, and together they are all. As root."""

import json
import os
import signal

import pytest
from starlette.testclient import TestClient

from nfvbed.compare.lostframes import ELSEWHERE, IN_VNF, NOBODY, RECEIVER, SURPLUS, SWITCH, VNF, lost_frames
from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.measure.task import TrialTask
from nfvbed.measure.trial import Measurement
from nfvbed.records import Preset
from nfvbed.store import Store
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.declared import PROJECT, vnf
from tests.sample_records import RUN

TRICKLE = TrafficRequest(duration_ns=50_000_000, frame_size=64, rate_pps=10_000)
OVERLOAD = TrafficRequest(duration_ns=300_000_000, frame_size=64)
FEW = TrafficRequest(duration_ns=500_000_000, frame_size=64, rate_pps=10_000)
RING = 1024
"""Descriptors of a VNF's queue."""
OF_OTHERS = 16
"""Frames that counters hold beside the trial's: the generator's learning frames, a neighbour's."""
MOST_TRIALS = 20
EXPERIMENT = """
name: overload
title: More than the VNF takes
purpose: survey
variants: [ovs-dpdk]
topologies: [pvp]
vnfs: [{kind: process, forwarding: io}]
frame_sizes: [64]
trials: {warmup_s: 0.1, mrr_trials: 4, mrr_duration_s: 0.3, paced_duration_s: 0.1}
repetitions: {needed: 1, max_rounds: 1}
ceilings: false
"""


@pytest.fixture(name="site")
def _site(lab_with_vnfs):
    return lab_with_vnfs


def measured(site, deployment, request, until=lambda record: True, before=lambda: None):
    """Measure until it is so, a few times; give the last record and its frames by place."""
    generator = site.open_generator(deployment)
    try:
        measurement = Measurement(site, deployment, generator)
        measurement.warm_up(TRICKLE)
        before()
        for sequence in range(MOST_TRIALS):
            task = TrialTask(
                run=RUN,
                cell="c",
                sequence=sequence,
                round=1,
                preset=Preset.MRR,
                request=request,
            )
            record = measurement.measure(task)
            if until(record):
                break
    finally:
        generator.close()
    return record, {found.place: found.frames for found in lost_frames([record], CATALOGUE.drop_counters)}


def lost(record):
    return sum(direction.lost for direction in record.directions)


def assert_all_are_found(found):
    """Check that the places add up to what was lost, exactly, and that almost nothing is left over."""
    places = {place: frames for place, frames in found.items() if place.startswith("lost: ")}
    assert sum(places.values()) - found.get(SURPLUS, 0) == found["lost after sending"], found
    assert found.get(SURPLUS, 0) <= OF_OTHERS, found
    assert places.get(ELSEWHERE, 0) <= max(OF_OTHERS, found["lost after sending"] // 20), found


@pytest.mark.parametrize("variant", ["linux-bridge", "xdp"])
def test_what_a_kernel_port_refuses_is_not_lost_at_the_switch(site, variant):
    deployment = site.deploy(PROJECT.load_variant(variant), "p2p")
    record, found = measured(site, deployment, OVERLOAD, lambda made: all(d.refused for d in made.directions))
    site.destroy(deployment)
    refused = [direction.refused for direction in record.directions]
    raw = record.switch_counters["raw"]
    assert min(refused) > 0, "more than the ports take"
    assert [raw[name]["rx_dropped"] - count for name, count in zip(("s0", "s1"), refused, strict=True)] == [0, 0]
    assert not [place for place in found if place.startswith(SWITCH)]
    assert_all_are_found(found)


def test_what_the_receiver_does_not_take_is_named_by_port(site):
    deployment = site.deploy(PROJECT.load_variant("ovs-dpdk"), "p2p")
    record, found = measured(site, deployment, OVERLOAD, lambda made: lost(made) > 0)
    site.destroy(deployment)
    assert lost(record) > 0, "one core sends and receives what another one switches"
    assert sum(found.get(f"{RECEIVER} p{port}", 0) for port in (0, 1)) > 0
    assert_all_are_found(found)


def test_a_vnf_that_stands_still_keeps_a_ring_of_frames_and_the_switch_drops_the_rest_before_it(site):
    deployment = site.deploy(PROJECT.load_variant("ovs-dpdk"), "pvp", vnf=vnf())
    (handle,) = deployment.vnfs

    def halt():
        for pid in handle.pids:
            os.kill(pid, signal.SIGSTOP)

    try:
        record, found = measured(site, deployment, FEW, before=halt)
    finally:
        for pid in handle.pids:
            os.kill(pid, signal.SIGCONT)
    site.destroy(deployment)
    sent = [direction.sent for direction in record.directions]
    assert min(sent) > 2 * RING and lost(record) == sum(sent), "none comes back"
    assert 0 < found[f"{IN_VNF} vnf1"] <= 2 * RING, "one ring each way"
    for name, count in zip(("v1a", "v1b"), sent, strict=True):
        assert count - RING - OF_OTHERS <= found[f"{VNF} {name}"] <= count + OF_OTHERS
    assert not [place for place in found if place.startswith((SWITCH, RECEIVER))]
    assert_all_are_found(found)


def test_why_names_the_places_of_a_real_run_and_they_add_up(ask, tmp_path):
    experiment, store = tmp_path / "overload.yml", tmp_path / "results.sqlite"
    experiment.write_text(EXPERIMENT)
    status, printed, errors = ask("run", experiment, "--store", store, "--no-doctor", "--json")
    assert status == 0, errors
    run, cell = json.loads(printed)["run"]["id"], "ovs-dpdk/pvp+process-io/64"
    with Store.open(str(store), read_only=True) as opened:
        trials = [trial for trial in opened.trials(run) if trial.cell == cell]
        client = TestClient(make_app(opened, Access(hosts=("localhost",))), base_url="http://localhost:8080")
        answer = client.get(f"/api/runs/{run}/why", params={"cell": cell})
        shown = client.get(f"/runs/{run}/why", params={"cell": cell})
    assert answer.status_code == shown.status_code == 200
    found = {entry["place"]: entry["frames"] for entry in answer.json()["frames"]}
    assert found["lost after sending"] == sum(map(lost, trials)) > 0, "it is sent more than it takes"
    assert sum(found.get(f"{VNF} {name}", 0) for name in ("v1a", "v1b")) > 0
    assert NOBODY not in found
    assert_all_are_found(found)
    named = [place for place, frames in found.items() if place.startswith("lost: ") and frames]
    assert all(f"{place}<" in shown.text and f"{found[place]:,}" in shown.text for place in named)
