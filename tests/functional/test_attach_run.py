"""A run of the tests of a mobile core's control plane, from the file to the table; bearers are as before. As root."""

import json

import pytest

from nfvbed.records import Preset, Status
from nfvbed.records.results import ResultKind, TablePayload
from nfvbed.store import Store

pytestmark = pytest.mark.slow
EXPERIMENT = """
name: control
title: A mobile core's control plane, briefly
purpose: survey
variants: [linux-bridge]
topologies: [vepc]
vnfs: [{vnf: vepc, forwarding: nextepc}]
frame_sizes: [128]
trials: {warmup_s: 0.1, mrr_trials: 1, mrr_duration_s: 0.2, paced_duration_s: 0.1}
tests:
  - {kind: attach-rate, attaches: 6, ues_per_start: 4, in_flight: [2]}
  - {kind: sessions, ues: [2], hold_s: 0, frames: 20, cycles: 2, cycle_ues: 2}
  - {kind: restoration, functions: [pcrf, pgw], ues: 2, settle_s: 0.5}
  - {kind: mrr}
repetitions: {needed: 1, max_rounds: 1}
ceilings: false
"""


def tables(store, run):
    with Store.open(str(store), read_only=True) as opened:
        results, trials = opened.results(run), opened.trials(run)
    assert {(result.status, result.reason) for result in results} == {(Status.OK, "")}
    found = {result.kind: TablePayload.model_validate(result.payload).rows for result in results}
    return {kind: {row.label: figures(row) for row in rows} for kind, rows in found.items()}, trials


def figures(row):
    return {quantity.name: quantity.value for quantity in row.quantities}


def test_functions_are_restarted_counted_and_left_as_they_were(before, ask, tmp_path):
    experiment, store = tmp_path / "control.yml", tmp_path / "results.sqlite"
    experiment.write_text(EXPERIMENT)
    status, printed, errors = ask("run", experiment, "--store", store, "--no-doctor", "--json")
    assert status == 0, errors
    found, trials = tables(store, json.loads(printed)["run"]["id"])

    attached = found[ResultKind.ATTACH_RATE]["2 in flight"]
    assert (attached["attached"], attached["failed"], attached["starts of the functions"]) == (6, 0, 2)
    assert 0 < attached["attach P50"] <= attached["attach P99"] <= attached["longest attach"]
    held, cycles = found[ResultKind.SESSIONS]["2 UEs"], found[ResultKind.SESSIONS]["2 cycles of 2 UEs"]
    assert (held["attached"], cycles["attached"], cycles["detached"]) == (2, 4, 4)
    assert cycles["carrying, detached"] == 0
    assert held["wrong"] == cycles["wrong"] == 0
    killed = found[ResultKind.RESTORATION]
    assert killed["pgw killed"]["go on"] == 0
    assert [row["carrying before"] for row in killed.values()] == [2, 2]
    assert all(row["restored"] > row["start of the functions"] > 0 for row in killed.values())
    # The generator's frames still go over the bearers of the UEs that were attached first, both ways.
    (trial,) = [trial for trial in trials if trial.preset is Preset.MRR]
    assert [way.received > 0 for way in trial.directions] == [True, True], trial
