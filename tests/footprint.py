"""What is deployed on this machine, with the processes of this session of tests, orphans included."""

import os

from nfvbed.host import footprint


def take() -> footprint.Footprint:
    """Look now; another nfvbed on this machine is none of ours."""
    session = os.environ.setdefault("NFVBED_TEST_SESSION", str(os.getpid()))
    return footprint.Footprint.take(f"NFVBED_TEST_SESSION={session}")
