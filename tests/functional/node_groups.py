"""On which site each proof of `node_proofs.py` is made, and that nothing is left of the node afterwards.

One node is booted for all proofs of a site; each is a program of its own in it.
"""

import contextlib
import json
import os
import sys

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.vpp import binaries
from nfvbed.sites.guest_node.session import guest_node
from nfvbed.sites.ownmachine import Program
from tests.functional import node_proofs
from tests.functional.lab_host import MARK, ROOT, assert_back_to, settled_snapshot

PATIENCE = "6"
"""Times that time-outs are stretched by: the processor is emulated."""
SITES = {"sriov-": "guest-node-igb", "cables-": "guest-node-cables"}
"""By the beginning of a proof's name; the others need no NIC."""
PLAIN = "guest-node"
OF_VPP = "cables-vpp-"


def site_of(proof):
    """Return the name of the site that a proof is made on."""
    return next((site for beginning, site in SITES.items() if proof.startswith(beginning)), PLAIN)


def proofs_of(site):
    """Return the proofs that are made on a site, in order."""
    return tuple(proof for proof in node_proofs.PROOFS if site_of(proof) == site)


@contextlib.contextmanager
def booted(site, mark):
    """Boot a site's node; gives what makes proofs in it. The host is as before afterwards."""
    os.environ[MARK] = mark
    before = settled_snapshot(mark)
    project = open_project()
    with guest_node(project.load_site(site), project.root) as node:

        def prove(names, timeout_s):
            """Make proofs; gives what each said, by name."""
            argv = [sys.executable, str(ROOT / "tests/functional/node_proofs.py"), *names]
            environment = {"PYTHONPATH": str(ROOT), "NFVBED_PATIENCE": PATIENCE}
            if binaries.VPP_VARIABLE in os.environ:
                environment[binaries.VPP_VARIABLE] = os.environ[binaries.VPP_VARIABLE]
            done = node.execute(Program(argv, ROOT, environment), timeout_s=timeout_s)
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            assert [line["proof"] for line in lines] == list(names), done.stderr.decode()
            return {line["proof"]: line for line in lines}

        yield prove
    assert_back_to(before, mark)
