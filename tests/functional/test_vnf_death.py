"""A VNF that is killed in the middle of a run costs its own cell, and nothing else. On the real host, as root."""

import pytest

from nfvbed.records import Status
from nfvbed.store import Store
from tests.functional.lab_host import assert_back_to

pytestmark = pytest.mark.no_hugepages

DOOMED = "linux-bridge/pvp+process-raw/64"
EXPERIMENT = """
name: death
title: One VNF is killed
variants: [linux-bridge]
topologies: [p2p, pvp]
vnfs:
  - {kind: process, forwarding: raw}
  - {kind: process, forwarding: bridge}
frame_sizes: [64]
trials: {mrr_trials: 1, mrr_duration_s: 1.5, paced_duration_s: 0.2}
repetitions: {needed: 1, needed_ceilings: 1, max_rounds: 2}
ceilings: false
"""
KILLS = """
import json, os, signal, sys, threading
from pathlib import Path
from nfvbed.cli.main import main
from nfvbed.host.ledger.processes import is_alive
from nfvbed.store import Store
add = Store.add_fact
def kill():
    lines = (json.loads(line) for path in Path("/run/nfvbed").glob("*/ledger.jsonl") for line in path.open())
    vnfs = [(line["pid"], line["start_time"]) for line in lines if line.get("name") == "vnf1" and "pid" in line]
    ((pid, _),) = [each for each in vnfs if is_alive(*each)]
    os.kill(pid, signal.SIGKILL)
def killing(store, fact):
    add(store, fact)
    if (fact.step, fact.detail["vnf"]) == ("deploy", "process-raw"):
        threading.Timer(0.1, kill).start()
Store.add_fact = killing
sys.exit(main(sys.argv[1:]))
"""
"""nfvbed kills the VNF as soon as it is deployed: before its cell is over, however slow this test is."""


def test_only_the_cell_of_a_killed_vnf_is_lost(before, mark, nfvbed, tmp_path):
    experiment, store = tmp_path / "death.yml", tmp_path / "x.sqlite"
    experiment.write_text(EXPERIMENT)
    running = nfvbed("run", experiment, "--no-doctor", "--store", store, program=("-c", KILLS))
    out, err = running.communicate(timeout=120)
    assert running.returncode == 22, err
    assert "1 cell was given up" in err
    assert DOOMED in err
    assert "signal 9" in err
    with Store.open(store, read_only=True) as opened:
        (run,) = opened.runs()
        trials, cells = opened.trials(run.id), {cell.id: cell for cell in opened.cells(run.id)}
    assert run.status is Status.FAILED
    assert cells[DOOMED].status is Status.FAILED
    assert "vnf1 has ended" in cells[DOOMED].reason
    assert DOOMED in out, "the table of cells is shown all the same"
    others = [cell for cell in cells if cell != DOOMED]
    assert len(others) == 2
    for cell in others:
        assert [trial.status for trial in trials if trial.cell == cell][:2] == [Status.OK, Status.OK]
    assert Status.FAILED in {trial.status for trial in trials if trial.cell == DOOMED}
    # p2p came before it and is kept, the other VNF came after it and was measured.
    order = [trial.cell for trial in trials]
    assert order.index("linux-bridge/p2p/64") < order.index(DOOMED) < order.index("linux-bridge/pvp+process-bridge/64")
    assert_back_to(before, mark)
