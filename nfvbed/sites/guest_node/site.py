"""The lab inside a guest node: the same site, which says of all that comes from it where that was."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nfvbed.errors import UnsupportedError
from nfvbed.host.identity import NodeIdentity, is_elsewhere, this_node
from nfvbed.readings import Distances, Unavailable
from nfvbed.records import Accelerator, Deployment, QualityWarning, WorkThread
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.sites.lab.planes import LabPlanes
from nfvbed.sites.lab.site import LabSite
from nfvbed.spec.site import GuestSiteSpec


def open_site(spec: GuestSiteSpec, root: Path) -> LabSite:
    """Open the guest node that this machine is; nothing is changed on it yet.

    Raises:
        UnsupportedError: this machine is not that guest node.
    """
    node = this_node()
    if node is None or is_elsewhere(spec):
        raise UnsupportedError(
            f"site {spec.name} is a virtual machine that lives as long as one command",
            where=f"deploy/sites/{spec.name}.yml",
            observed="a command that would leave something deployed, or that does not work there",
            fix=f"nfvbed run EXPERIMENT --site {spec.name}, or nfvbed doctor --site {spec.name}",
        )
    return LabSite(GuestNodePlanes(LabMachine(spec, root), node), root)


class GuestNodePlanes(LabPlanes):
    """The data planes on this machine, which is a guest node.

    Args:
        machine: this one.
        node: what it is.
    """

    def __init__(self, machine: LabMachine, node: NodeIdentity) -> None:
        super().__init__(machine)
        self._node = node

    def rig(self, deployment: Deployment) -> dict[str, Any]:
        """The lab's, and the node: it is equal to no rig of a real machine."""
        node = {"site": self._node.site, "accelerator": self._node.accelerator.value, "qemu": self._node.qemu}
        return super().rig(deployment) | {"node": node}

    def core_distances_ns(self, deployment: Deployment) -> Distances | Unavailable:
        """Measure as the lab does, where cores are real."""
        if self._node.accelerator is Accelerator.TCG:
            return Unavailable("emulated cores have no cache lines: their distance is the host's scheduler's")
        return super().core_distances_ns(deployment)

    def warnings(self, deployment: Deployment, threads: Sequence[WorkThread]) -> tuple[QualityWarning, ...]:
        """The lab's, and that instructions are emulated, where they are."""
        found = dict.fromkeys(super().warnings(deployment, threads))
        if self._node.accelerator is Accelerator.TCG:
            found[QualityWarning.EMULATED_ACCELERATOR] = None
        return tuple(found)
