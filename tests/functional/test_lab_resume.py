"""A run that is killed in its middle goes on where it was: `kill -9`, then `run --resume`. On the real host."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter

import pytest

from nfvbed.host.probes import memory
from nfvbed.records import RenewedPart, Status
from nfvbed.store import Store
from tests.functional.lab_host import MARK, PAGES, ROOT, assert_back_to, snapshot

EXPERIMENT = """
name: killed
title: A run that is killed in its middle
variants: [{variant}]
frame_sizes: [64, 128]
trials: {{warmup_s: 0.1, mrr_trials: 3, mrr_duration_s: 0.2, paced_duration_s: 0.2}}
repetitions: {{needed: 1, needed_ceilings: 1, max_rounds: 1}}
ceilings: false
"""
DIES = """
import os, signal, sys, threading
from nfvbed.cli.main import main
from nfvbed.store import Store
add, stored = Store.add_trial, []
def dying(store, trial):
    add(store, trial)
    stored.append(trial)
    if len(stored) == 2:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGKILL)).start()
Store.add_trial = dying
sys.exit(main(sys.argv[1:]))
"""
"""Two trials of a visit are stored: nfvbed is killed by its own hand, so it is in mid-visit however slow it is."""


def rows(path):
    """The newest run, its trials in the order in which they are stored, and the ids of its cells."""
    with Store.open(str(path), read_only=True) as store:
        run = store.runs()[0]
        return run, store.trials(run.id), {cell.id for cell in store.cells(run.id)}


@pytest.mark.parametrize("variant", [pytest.param("linux-bridge", marks=pytest.mark.slow), "ovs-dpdk"])
def test_kill_9_in_mid_run_then_resume_repeats_nothing_and_loses_nothing(before, mark, nfvbed, tmp_path, variant):
    experiment, store = tmp_path / "killed.yml", tmp_path / "results.sqlite"
    experiment.write_text(EXPERIMENT.format(variant=variant))
    free = int(PAGES.with_name("free_hugepages").read_text())
    killed = nfvbed("run", experiment, "--store", store, "--no-doctor", program=("-c", DIES))
    killed.communicate(timeout=120)
    assert killed.returncode == -signal.SIGKILL
    run, kept, _ = rows(store)
    assert run.status is None
    left = snapshot(mark)
    assert left["namespaces"]
    assert left["run"]
    grew = left["hugepages"] > before["hugepages"]
    # For a switch of userspace the pool grows, but on a host that had pages to spare.
    assert grew == (variant == "ovs-dpdk") or (free > 0 and not grew)

    resumed = nfvbed("run", "--resume", "--store", store, "--json")
    out, err = resumed.communicate(timeout=120)
    assert resumed.returncode == 0, err
    assert err.count("removed what a dead nfvbed had left") == 1
    assert f"pid {killed.pid} since" in err
    assert json.loads(out)["run"]["id"] == run.id
    run, trials, cells = rows(store)
    assert run.status is Status.OK
    assert trials[: len(kept)] == kept
    assert [trial.sequence for trial in trials] == list(range(1, len(trials) + 1))
    assert all(trial.status is Status.OK for trial in trials)
    times = Counter((trial.round, trial.cell, trial.preset) for trial in trials)
    assert {preset.value: number for (_, _, preset), number in times.items()} == {"mrr": 3, "paced": 1}
    assert {trial.renewed for trial in trials} == {RenewedPart.DEPLOYMENT}
    first_round = {(trial.cell, trial.preset.value) for trial in trials if trial.round == 1}
    assert first_round == {(cell, preset) for cell in cells for preset in ("mrr", "paced")}
    assert len(cells) == 2
    assert_back_to(before, mark)


def test_pages_of_a_doctor_that_is_killed_while_it_tries_them_are_given_back(before, mark, nfvbed):
    script = (
        "import os, signal\n"
        "from nfvbed.host.probes import memory\n"
        "from nfvbed.host.memory.hugepages import HugepagePool\n"
        "enlarge = HugepagePool.enlarge\n"
        "def dying(*arguments):\n"
        "    enlarge(*arguments)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "HugepagePool.enlarge = dying\n"
        f"memory.{memory._try_reserving.__name__}({{None: 8}})\n"
    )
    killed = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=os.environ | {MARK: mark}, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert int(PAGES.read_text()) == before["hugepages"] + 8
    destroy = nfvbed("destroy")
    _, err = destroy.communicate(timeout=60)
    assert destroy.returncode == 0, err
    assert_back_to(before, mark)
