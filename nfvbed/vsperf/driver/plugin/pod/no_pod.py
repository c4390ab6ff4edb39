"""A pod of VSPERF that is none.

Since it learnt Kubernetes, VSPERF makes a pod in every test from port to port, and its only kind wants a cluster.
"""

from pods.pod.pod import IPod


class NoPod(IPod):
    """No pod."""

    def create(self) -> None:
        """Nothing to do."""

    def terminate(self) -> None:
        """Nothing to do."""
