"""What is deployed on this machine, with the processes of this session of tests, orphans included."""

import os

from nfvbed.host.workspace.footprint import Footprint


def take() -> Footprint:
    """Look now; another nfvbed on this machine is none of ours."""
    session = os.environ.setdefault("NFVBED_TEST_SESSION", str(os.getpid()))
    return Footprint.take(f"NFVBED_TEST_SESSION={session}")
