"""All that is proven in guest nodes: one boots for each site, each proof is a program in it. `make test-node`; root.

It takes 20 to 60 minutes where the processor is emulated: `-k` chooses proofs by name.
"""

import contextlib
import os
import subprocess
import uuid

import pytest

from nfvbed.dataplanes.vpp.binaries import VPP_VARIABLE
from nfvbed.host.ledger.places import RUN_DIRECTORY
from nfvbed.sites.guest_node.node import LostTimerError
from tests.functional import node_proofs
from tests.functional.lab_host import ROOT
from tests.functional.node_groups import OF_VPP, PLAIN, SITES, booted, proofs_of, site_of

PROOF_S = 900
"""The longest takes some minutes; the rest is for a busy machine."""
NODES = 3
"""Nodes that a proof is made in where the emulator loses the timer of one after the other."""
ALL = [(site, proof) for site in (PLAIN, *SITES.values()) for proof in proofs_of(site)]


@pytest.fixture(scope="session", name="unpacked")
def _unpacked():
    """Unpack the node's kernel and build the guests' image, or find them; what they lack fails."""
    for script in ("node", "images"):
        argv = [ROOT / "setup" / script]
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"make {script} failed ({done.returncode}):\n{done.stdout}{done.stderr}"


class Nodes:
    """Boots a site's node for the first proof that is made there, and ends it when the next site's is wanted."""

    def __init__(self):
        self._site = ""
        self._prove = None
        self._stack = contextlib.ExitStack()

    def prove(self, site, proof):
        """Make a proof in the node of its site; gives what it said.

        It is made again in a new node where the emulator lost the timer of this one, and says so.
        """
        for left in reversed(range(NODES)):
            try:
                return self._made(site, proof)
            except LostTimerError as failure:
                print(f"{proof}: {failure.what}: {failure.observed}; {left} more nodes")
                if not left:
                    raise
        raise AssertionError

    def _made(self, site, proof):
        if site != self._site:
            self.close()
            self._prove = self._stack.enter_context(booted(site, uuid.uuid4().hex))
            self._site = site
        try:
            return self._prove((proof,), PROOF_S)[proof]
        except BaseException:
            self.close()  # the next proof has another one
            raise

    def close(self):
        """End the node that there is; the host is as before it."""
        self._site = ""
        self._stack.close()


@pytest.fixture(scope="module", name="nodes")
def _nodes(unpacked):
    assert not RUN_DIRECTORY.exists(), "something is deployed on this host: nfvbed destroy"
    with contextlib.closing(Nodes()) as nodes:
        yield nodes


@pytest.mark.slow
@pytest.mark.timeout(PROOF_S + 300)
@pytest.mark.parametrize(("site", "proof"), ALL, ids=[proof for _, proof in ALL])
def test_proof(nodes, site, proof):
    if proof.startswith(OF_VPP) and not os.environ.get(VPP_VARIABLE):
        pytest.skip(f"{VPP_VARIABLE} names no VPP on this host")
    reported = nodes.prove(site, proof)
    assert reported["ok"], reported["failure"]


def test_every_proof_has_its_place():
    assert sorted(proof for _, proof in ALL) == sorted(node_proofs.PROOFS)
    assert all(site_of(proof) == site for site, proof in ALL)
