"""A VNF that is killed in the middle of a run costs its own cell, and nothing else. On the real host, as root."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from lab_host import MARK, assert_back_to, snapshot

from nfvbed.deploy.lab.processes import is_alive
from nfvbed.errors import NfvbedError
from nfvbed.records import Status
from nfvbed.store import Store

ROOT = Path(__file__).parents[2]
RUN = Path("/run/nfvbed")
WITHIN_S = 120
DOOMED = "linux-bridge/pvp+process-raw/64"
EXPERIMENT = """
name: death
title: One VNF is killed
variants: [linux-bridge]
topologies: [p2p, pvp]
vnfs:
  - {kind: process, forwarding: raw}
  - {kind: process, forwarding: bridge}
frame_sizes: [64, 128]
vnf_frame_sizes: [64]
trials: {mrr_duration_s: 1.5, paced_duration_s: 0.2}
repetitions: {needed: 1, needed_ceilings: 1, max_rounds: 2}
ceilings: false
"""


@pytest.fixture
def experiment(tmp_path):
    path = tmp_path / "death.yml"
    path.write_text(EXPERIMENT)
    return path


@pytest.fixture
def mark():
    return uuid.uuid4().hex


def nfvbed(mark, *arguments):
    environment = os.environ | {MARK: mark, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "nfvbed", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def wait_until(found, process):
    """Wait until a question has an answer."""
    deadline = time.monotonic() + WITHIN_S
    while not (answer := found()):
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"it never came to that: {process.poll()}, {process.communicate()}")
        time.sleep(0.02)
    return answer


def onboarded(store):
    """Tell whether the deployment of the VNF that is to die stands, as the store has it."""
    if not store.exists():
        return False
    try:
        with Store.open(store, read_only=True) as opened:
            facts = [fact for run in opened.runs() for fact in opened.facts(run.id)]
    except NfvbedError:
        return False  # It is just being made.
    return any((fact.step, fact.detail["vnf"]) == ("deploy", "process-raw") for fact in facts)


def processes(name, owner):
    """Give (pid, start time) of the processes of that name that an nfvbed's ledgers name and that live."""
    found = []
    for path in RUN.glob("*/ledger.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        if lines and lines[0].get("pid") == owner:
            found += [(line["pid"], line["start_time"]) for line in lines if line.get("name") == name and "pid" in line]
    return [each for each in found if is_alive(*each)]


def test_only_the_cell_of_a_killed_vnf_is_lost(experiment, mark, tmp_path):
    store = tmp_path / "x.sqlite"
    before = snapshot(mark)
    running = nfvbed(mark, "run", experiment, "--no-doctor", "--store", store)
    wait_until(lambda: onboarded(store), running)
    ((pid, _),) = wait_until(lambda: processes("vnf1", running.pid), running)
    os.kill(pid, signal.SIGKILL)
    out, err = running.communicate(timeout=WITHIN_S)
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
    assert len(others) == 3
    for cell in others:
        assert [trial.status for trial in trials if trial.cell == cell][:2] == [Status.OK, Status.OK]
    assert Status.FAILED in {trial.status for trial in trials if trial.cell == DOOMED}
    # p2p came before it and is kept, the other VNF came after it and was measured.
    order = [trial.cell for trial in trials]
    assert order.index("linux-bridge/p2p/64") < order.index(DOOMED) < order.index("linux-bridge/pvp+process-bridge/64")
    assert_back_to(before, mark)
