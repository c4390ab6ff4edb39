"""The lab inside a guest node: the same site, whose rig and results name the node."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nfvbed.errors import UnsupportedError
from nfvbed.host.identity import NodeIdentity, this_node
from nfvbed.records import Accelerator, Deployment, QualityWarning, WorkThread
from nfvbed.records.readings import Distances, Slowdowns, Unavailable
from nfvbed.sites.absent import AbsentSite
from nfvbed.sites.guest_node.session import guest_node
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.sites.lab.planes import LabPlanes
from nfvbed.sites.lab.site import LabSite
from nfvbed.sites.ownmachine import Boot
from nfvbed.sites.site import Site
from nfvbed.spec.site import GuestSiteSpec


def find_node(spec: GuestSiteSpec, root: Path) -> Site:
    """Return the guest node: the lab where this machine is it, else a machine that boots for each command."""
    node = this_node()
    if node is None or node.site != spec.name:
        return ForeignGuestNode(spec, root)
    return LabSite(GuestNodePlanes(LabMachine(spec, root), node), root)


class ForeignGuestNode(AbsentSite):
    """A guest node that this machine is not."""

    def __init__(self, spec: GuestSiteSpec, root: Path) -> None:
        why = UnsupportedError(
            f"site {spec.name} is a virtual machine that lives as long as one command",
            where=f"deploy/sites/{spec.name}.yml",
            observed="a command that would leave something deployed, or that does not work there",
            fix=f"nfvbed run EXPERIMENT --site {spec.name}, or nfvbed doctor --site {spec.name}",
        )
        super().__init__(spec.name, why)
        self._boot = partial(guest_node, spec, root)

    def own_machine(self) -> Boot:
        """Boot the guest node."""
        return self._boot


class GuestNodePlanes(LabPlanes):
    """The data planes on this machine, which is a guest node."""

    def __init__(self, machine: LabMachine, node: NodeIdentity) -> None:
        super().__init__(machine)
        self._node = node

    def rig(self, deployment: Deployment) -> dict[str, Any]:
        """Return the lab's rig with the node: it equals no rig of a real machine."""
        node = {"site": self._node.site, "accelerator": self._node.accelerator.value, "qemu": self._node.qemu}
        return super().rig(deployment) | {"node": node}

    def core_distances_ns(self, deployment: Deployment) -> Distances | Unavailable:
        """Measure core distances as the lab does, where cores are real."""
        if self._node.accelerator is Accelerator.TCG:
            return Unavailable("emulated cores have no cache lines: their distance is the host's scheduler's")
        return super().core_distances_ns(deployment)

    def core_slowdowns(self, deployment: Deployment) -> Slowdowns | Unavailable:
        """Measure the cores' pace as the lab does, where cores are real."""
        if self._node.accelerator is Accelerator.TCG:
            return Unavailable("emulated cores have no pace of their own: it is the host's scheduler's")
        return super().core_slowdowns(deployment)

    def warnings(self, deployment: Deployment, threads: Sequence[WorkThread]) -> tuple[QualityWarning, ...]:
        """Return the lab's warnings, and that instructions are emulated, where they are."""
        found = dict.fromkeys(super().warnings(deployment, threads))
        if self._node.accelerator is Accelerator.TCG:
            found[QualityWarning.EMULATED_ACCELERATOR] = None
        return tuple(found)
