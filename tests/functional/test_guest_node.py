"""A guest node: boots once for all that is proven in it, and is gone with nfvbed, however that ends. As root."""

import os
import signal
import subprocess
import sys
import time
import uuid

import pytest

from nfvbed.host.ledger.places import RUN_DIRECTORY
from tests.functional import node_proofs
from tests.functional.lab_host import MARK, ROOT, assert_back_to, run
from tests.functional.node_groups import PLAIN, booted

MOST_USED = ("ovs-kernel-p2p",)
"""The others take minutes each: `make test-node`."""
HOLD = """
import sys
from nfvbed.cli.main import main
sys.exit(main(["doctor", "--site", "guest-node"]))
"""


@pytest.fixture(scope="module", name="unpacked")
def _unpacked():
    """Unpack the node's kernel, or find it unpacked; what it lacks fails."""
    done = subprocess.run([ROOT / "setup/node"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"make node failed ({done.returncode}):\n{done.stdout}{done.stderr}"


@pytest.fixture(scope="module", name="reported")
def _reported(unpacked):
    """What the proofs said, by name."""
    with booted(PLAIN, uuid.uuid4().hex) as prove:
        return prove(MOST_USED, timeout_s=280)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("proof", MOST_USED)
def test_what_this_kernel_lacks_works_in_a_guest_node(reported, proof):
    assert reported[proof]["ok"], reported[proof]["failure"]
    assert "openvswitch" in reported[proof]["versions"]
    assert reported[proof]["datapath"]["last"]["lost"] == 0


@pytest.mark.slow
def test_nothing_is_left_of_the_node(reported):
    assert not RUN_DIRECTORY.exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_node_ends_with_nfvbed(unpacked, before, mark, number):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {MARK: mark, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    try:
        while not any(RUN_DIRECTORY.glob("*/console.log")):
            assert process.poll() is None, "it ended by itself"
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(60) == (130 if number == signal.SIGINT else -number)
    finally:
        process.kill()
        process.wait()
    if number == signal.SIGKILL:
        run(mark, "verb", "destroy")
    assert_back_to(before, mark)


def test_the_proof_of_the_tier_slow_is_known():
    assert set(MOST_USED) <= set(node_proofs.PROOFS)
