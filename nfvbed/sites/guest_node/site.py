"""The lab inside a guest node: the same site, which says of all that comes from it where that was."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nfvbed.host.identity import NodeIdentity
from nfvbed.records import Accelerator, Deployment, PortKind, QualityWarning, WorkThread
from nfvbed.sites.lab.site import LabSite
from nfvbed.spec.site import SiteSpec


class GuestNodeSite(LabSite):
    """This machine, which is a guest node.

    Args:
        spec: the site's file.
        root: of the project.
        node: what this machine is.
    """

    def __init__(self, spec: SiteSpec, root: Path, node: NodeIdentity) -> None:
        super().__init__(spec, root)
        self._node = node

    def rig(self, port_kind: PortKind, deployment: Deployment) -> dict[str, Any]:
        """The lab's, and the node: it is equal to no rig of a real machine."""
        node = {"site": self._node.site, "accelerator": self._node.accelerator.value, "qemu": self._node.qemu}
        return super().rig(port_kind, deployment) | {"node": node}

    def core_distances_ns(self, deployment: Deployment) -> dict[tuple[int, int], float]:
        """None where cores are emulated: they have no cache lines, and their distance is the host's scheduler's."""
        return {} if self._node.accelerator is Accelerator.TCG else super().core_distances_ns(deployment)

    def doubts(self, deployment: Deployment, threads: Sequence[WorkThread]) -> tuple[QualityWarning, ...]:
        """The lab's, and that instructions are emulated, where they are."""
        found = dict.fromkeys(super().doubts(deployment, threads))
        if self._node.accelerator is Accelerator.TCG:
            found[QualityWarning.EMULATED_ACCELERATOR] = None
        return tuple(found)
