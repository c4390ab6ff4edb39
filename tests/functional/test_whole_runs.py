"""From an experiment's file to the page, on the real switches: run, compare, report; a search and latency; two VNFs.

Short: that every step hands on what the next one needs, not what the rates are. As root.
"""

import csv
import json
import os
from math import exp
from pathlib import Path
from statistics import fmean

import pytest
from hdrh.histogram import HdrHistogram

from nfvbed.records import Preset, Status
from nfvbed.records.results import LoadsPayload, ResultKind
from nfvbed.search.result import SearchResult
from nfvbed.store import Store
from nfvbed.units import NS_PER_S

VARIANTS = ("linux-bridge", "ovs-dpdk")
COMPARED = """
name: whole
title: All of it, briefly
variants: [linux-bridge, ovs-dpdk]
baseline: linux-bridge
topologies: [p2p, pvvp]
vnfs: [{kind: process, forwarding: io}]
frame_sizes: [64]
trials: {warmup_s: 0.1, mrr_trials: 2, mrr_duration_s: 0.1, paced_duration_s: 0.1}
repetitions: {looks: [2], needed: 1, max_rounds: 2}
ceilings: false
"""
SEARCHED = """
name: searched
title: A search and latencies at parts of what it finds
purpose: survey
variants: [{variant}]
topologies: [p2p]
frame_sizes: [64]
trials: {{warmup_s: 0.1}}
tests:
  - {{kind: mrr}}
  - kind: search
    preset: csit-quick
    goals:
      - {{name: NDR, duration_sum_s: 0.1, relative_width: 0.1}}
      - {{name: PDR, duration_sum_s: 0.1, relative_width: 0.1}}
    time_limit_s: 15
    max_load_pps: {most}
  - {{kind: latency, of: mrr, fractions: [0.1, 0.5], fixed_load_pps: 20000, duration_s: 0.3}}
repetitions: {{needed: 1, max_rounds: 1}}
ceilings: false
"""
MOST_PPS = 12_000_000
CELLS = [f"{variant}/{path}/64" for variant in VARIANTS for path in ("p2p", "pvvp+process-io")]


def measured_rates(store, run):
    """Check that each cell has its trials, of its VNFs; give the rates at maximum load of each."""
    with Store.open(str(store), read_only=True) as opened:
        cells, trials = opened.cells(run), opened.trials(run)
        rigs = {cell.id: opened.get_blob(cell.rig_hash) for cell in cells}
    assert sorted(cell.id for cell in cells) == sorted(CELLS)
    rates = dict[str, list[float]]()
    for cell in CELLS:
        own = [trial for trial in trials if trial.cell == cell]
        assert {trial.status for trial in own} == {Status.OK}
        by_preset = {preset: [t for t in own if t.preset is preset] for preset in Preset}
        assert len(by_preset[Preset.MRR]) == 4, "two visits of two trials"
        rates[cell] = [trial.forwarded_rate_pps for trial in by_preset[Preset.MRR]]
        assert len(by_preset[Preset.PACED]) == len(by_preset[Preset.COMMON]) == 2
        assert all(min(way.received for way in trial.directions) > 0 for trial in own), cell
        assert all(trial.core_distance_ns is not None for trial in own)
        vnfs = rigs[cell]["vnf"]
        assert (len(vnfs["cores"]) if vnfs else 0) == (2 if "pvvp" in cell else 0), "two VNFs, each with its core"
    return rates


def test_run_compare_and_report_of_two_switches_with_and_without_two_vnfs(before, ask, tmp_path):
    experiment, store, folder = tmp_path / "whole.yml", tmp_path / "results.sqlite", tmp_path / "report"
    experiment.write_text(COMPARED)
    status, printed, errors = ask("run", experiment, "--store", store, "--no-doctor", "--json")
    assert status == 0, errors
    run = json.loads(printed)["run"]["id"]
    rates = measured_rates(store, run)

    status, printed, errors = ask("compare", run, "--store", store, "--json")
    assert status == 0, errors
    compared = json.loads(printed)
    rows = {row["cell"]: row for row in compared["rows"]}
    assert sorted(rows) == sorted(CELLS)
    assert all(row["mrr"]["median_pps"] > 0 and row["mrr"]["rounds"] == 2 for row in rows.values())
    judged = {difference["cell"]: difference for difference in compared["differences"]}
    assert sorted(judged) == [cell for cell in sorted(CELLS) if cell.startswith("ovs-dpdk")]
    for cell, difference in judged.items():
        found = difference["judgement"]
        assert len(difference["pairs"]) == found["pairs"] == 2, cell
        # Of two pairs nothing can be decided: the verdict says so, and gives no interval.
        assert (found["verdict"], found["interval"]) == ("undecided", None), found
        assert found["reason"]
        logs = [pair["log_ratio"] for pair in difference["pairs"]]
        assert found["ratio"] == pytest.approx(exp(fmean(logs))), "the estimate of two pairs is their mean"
        own, other = (rates[name] for name in (cell, difference["baseline_cell"]))
        for pair in difference["pairs"]:
            # One that is brought to one state of the host may lie outside of what was measured.
            within = min(own) / max(other) <= exp(pair["log_ratio"]) * (1 + 1e-9) <= max(own) / min(other) * (1 + 2e-9)
            assert within or pair["levelled"], (cell, pair)

    status, printed, errors = ask("report", run, "--store", store, "--output", folder, "--json")
    assert status == 0, errors
    files = [folder.joinpath(path) for path in json.loads(printed)["files"]]
    assert {path.suffix for path in files} >= {".html", ".csv", ".json"}
    assert all(path.stat().st_size > 0 for path in files)
    page = next(path for path in files if path.suffix == ".html").read_text()
    assert all(name in page for name in VARIANTS)
    with next(path for path in files if path.name == "comparison.csv").open() as table:
        assert {line["cell"] for line in csv.DictReader(table)} >= set(CELLS)


BESIDE = """
name: beside
title: Beside a noisy neighbour
purpose: survey
variants: [linux-bridge]
topologies: [p2p]
frame_sizes: [64]
trials: {warmup_s: 0, mrr_trials: 1, mrr_duration_s: 0.1, paced_duration_s: 0.1}
repetitions: {needed: 1, max_rounds: 1}
neighbour: {workers: {cpu: 1, memory: 1}, reserved_cores: 1023}
ceilings: false
"""


def stress_processes():
    names = (path.read_text().strip() for path in Path("/proc").glob("[0-9]*/comm") if path.exists())
    return [name for name in names if name.startswith("stress-ng")]


def test_a_noisy_neighbour_is_in_the_rig_and_ends_with_the_run(before, ask, tmp_path):
    experiment, store = tmp_path / "beside.yml", tmp_path / "results.sqlite"
    experiment.write_text(BESIDE)
    earlier = stress_processes()
    status, printed, errors = ask("run", experiment, "--store", store, "--no-doctor", "--json")
    assert status == 0, errors
    assert stress_processes() == earlier
    run = json.loads(printed)["run"]["id"]
    with Store.open(str(store), read_only=True) as opened:
        (cell,) = opened.cells(run)
        beside = opened.get_blob(cell.rig_hash)["neighbour"]
        assert {trial.status for trial in opened.trials(run)} == {Status.OK}
    assert beside["program"].startswith("stress-ng ")
    assert beside["workers"] == {"cpu": 1, "memory": 1}
    assert set(beside["cores"]) <= os.sched_getaffinity(0)
    status, printed, errors = ask("compare", run, "--store", store, "--json")
    assert status == 0, errors
    (row,) = json.loads(printed)["rows"]
    assert any(note.startswith("beside a noisy neighbour: stress-ng ") for note in row["notes"])


def test_a_quick_search_and_latencies(before, ask, tmp_path):
    experiment, store = tmp_path / "searched.yml", tmp_path / "results.sqlite"
    experiment.write_text(SEARCHED.format(variant="ovs-dpdk", most=MOST_PPS))
    status, printed, errors = ask("run", experiment, "--store", store, "--no-doctor", "--json")
    assert status == 0, errors
    run = json.loads(printed)["run"]["id"]
    with Store.open(str(store), read_only=True) as opened:
        results = {result.kind: result for result in opened.results(run)}
        trials = opened.trials(run)
    assert {ResultKind.SEARCH, ResultKind.LATENCY} <= set(results), printed
    searched = SearchResult.model_validate(results[ResultKind.SEARCH].payload)
    goals = {goal.goal.name: goal for goal in searched.goals}
    assert sorted(goals) == ["NDR", "PDR"]
    for name, goal in goals.items():
        # A host that is disturbed may end it without a regular result: then it says which, and why.
        if goal.irregularity is None:
            # MRR trials say nothing of it: the host may have been in another state then.
            assert 0 < goal.lower_bound.load_pps < goal.upper_bound.load_pps <= MOST_PPS, (name, goal)
        else:
            assert goal.explanation, name
    latency = LoadsPayload.model_validate(results[ResultKind.LATENCY].payload)
    assert len(latency.points) == 3
    by_sequence = {trial.sequence: trial for trial in trials}
    for point in latency.points:
        assert point.forwarded_rate_pps > 0
        for encoded in by_sequence[point.sequence].latency_hdr:
            histogram = HdrHistogram.decode(encoded)
            median, tail = (histogram.get_value_at_percentile(share) for share in (50, 99))
            # How little it is, is the host's: 491 ns were seen through a switch on the next core.
            assert 0 < median <= tail < NS_PER_S, "a frame takes time, and not a second"
