"""`nfvbed deploy` leaves a deployment behind, `nfvbed destroy` takes it down."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.functional.lab_host import assert_back_to, run, snapshot, wait_for_processes


@pytest.fixture
def deployed(before, mark):
    status, out, err = run(mark, "verb", "deploy", "linux-bridge", "--json")
    assert (status, err) == (0, "")
    wait_for_processes(mark, 2)  # the switch, and its child
    return json.loads(out)


def test_it_stays_as_it_is_when_nfvbed_has_ended_and_goes_with_destroy(deployed, before, mark):
    """Deployed again, beside another variant, and measured by a run of the same one, it is taken and left."""
    directory = Path(deployed["run_directory"])
    assert json.loads((directory / "deployment.json").read_text()) == deployed
    now = snapshot(mark)
    assert len(now["namespaces"]) == 1
    status, out, _ = run(mark, "verb", "deploy", "linux-bridge", "--json")
    assert status == 0
    assert json.loads(out) == deployed
    for arguments in (["ovs-dpdk"], ["ovs-dpdk", "--dry-run"]):
        status, _, err = run(mark, "verb", "deploy", *arguments)
        assert status == 13
        assert "linux-bridge is deployed on this host" in err
        assert "nfvbed destroy" in err
    status, _, err = run(mark, "once")
    assert (status, err) == (0, "")
    assert snapshot(mark) == now
    status, out, err = run(mark, "verb", "destroy")
    assert (status, err) == (0, "")
    assert "linux-bridge (p2p) is taken down" in out
    assert_back_to(before, mark)


def test_a_switch_that_died_is_said_to_be_dead(deployed, mark):
    ledger = (Path(deployed["run_directory"]) / "ledger.jsonl").read_text().splitlines()
    pid = next(entry["pid"] for entry in map(json.loads, ledger) if entry["kind"] == "process")
    os.kill(pid, signal.SIGKILL)
    status, _, err = run(mark, "verb", "deploy", "linux-bridge")
    assert status == 23
    assert "the switch is dead" in err


def test_dry_run_of_deploy_changes_nothing(before, mark):
    status, out, _ = run(mark, "verb", "deploy", "linux-bridge", "--dry-run")
    assert status == 0
    assert "would be deployed" in out
    assert_back_to(before, mark)


def test_destroy_with_nothing_there(before, mark):
    status, out, _ = run(mark, "verb", "destroy", "--all")
    assert (status, out) == (0, "nothing is deployed on this host\n")
