"""Searches, latency, loss curves and costs through a mobile core's own gateways: each test ends with what it is for.

Short: that trials go over bearers, uplink and downlink, and every result is kept; not what the rates are. As root.
"""

import json

import pytest

from nfvbed.records import Status
from nfvbed.records.results import LoadsPayload, TablePayload
from nfvbed.search.result import SearchResult
from nfvbed.store import Store

pytestmark = pytest.mark.vepc

SEARCHED = """
name: gateways
title: Each kind of test through a gateway
purpose: survey
variants: [{variant}]
topologies: [vepc]
vnfs: [{{vnf: vepc, forwarding: {forwarding}}}]
frame_sizes: [128]
trials: {{warmup_s: 0.1}}
tests:
  - {{kind: mrr}}
  - {{kind: search, preset: csit-quick, time_limit_s: 12, max_load_pps: {most}}}
  - {{kind: latency, of: mrr, fractions: [0.1], fixed_load_pps: 2000, duration_s: 0.3}}
  - {{kind: loss-curve, fractions: [0.8, 0.1], duration_s: 0.3}}
  - {{kind: cost, duration_s: 0.3, load_pps: 20000}}
repetitions: {{needed: 1, max_rounds: 1}}
ceilings: false
"""
MOST_PPS = 4_000_000
OWN_ROW = "dpdk gateway"
"""Row of the gateway that counts its own cycles; cycles of XDP programs are softirqs, and in the VNF's row."""


@pytest.mark.parametrize(
    ("variant", "forwarding"),
    [("xdp", "xdp-gateway"), pytest.param("ovs-dpdk", "dpdk-gateway", marks=pytest.mark.slow)],
)
def test_each_kind_of_test_runs_over_bearers(before, ask, tmp_path, variant, forwarding):
    experiment, store = tmp_path / "gateways.yml", tmp_path / "results.sqlite"
    experiment.write_text(SEARCHED.format(variant=variant, forwarding=forwarding, most=MOST_PPS))
    status, printed, errors = ask("run", experiment, "--store", store, "--no-doctor", "--json")
    assert status == 0, errors
    run = json.loads(printed)["run"]["id"]
    with Store.open(str(store), read_only=True) as opened:
        results = {result.test.partition("-")[0]: result for result in opened.results(run)}
        trials = {trial.sequence: trial for trial in opened.trials(run)}
    # A host that is disturbed may end a search without a regular result: then it says which, and why.
    assert {name: r.status for name, r in results.items() if name != "search"} == dict.fromkeys(
        ("latency", "loss", "cost"), Status.OK
    ), results
    for goal in SearchResult.model_validate(results["search"].payload).goals:
        if goal.irregularity is None:
            assert 0 < goal.lower_bound.load_pps < goal.upper_bound.load_pps <= MOST_PPS, goal
        else:
            assert goal.explanation
    for name in ("latency", "loss"):
        points = LoadsPayload.model_validate(results[name].payload).points
        assert len(points) == 2
        for point in points:
            ways = trials[point.sequence].directions
            assert len(ways) == 2, "uplink and downlink"
            assert all(way.received > 0 and not way.corrupted + way.duplicated for way in ways), (name, ways)
    rows = {row.label: row for row in TablePayload.model_validate(results["cost"].payload).rows}
    cycles = {q.name: q.value for q in rows[OWN_ROW].quantities} if forwarding == "dpdk-gateway" else {}
    assert (OWN_ROW in rows) == (forwarding == "dpdk-gateway")
    assert all(value > 0 for value in cycles.values())
    assert "cycles" in {quantity.name for quantity in rows["VNF 1"].quantities}
