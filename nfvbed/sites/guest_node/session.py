"""A guest node for the time of one command: the host is held, and what killed ones left is removed before."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from nfvbed.errors import DeployError, PrerequisiteError, UnsupportedError
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.ledger.hostlock import HostLock
from nfvbed.host.qemu.accelerator import find_accelerator
from nfvbed.host.qemu.binaries import locate
from nfvbed.host.workspace.reap import reap
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Accelerator
from nfvbed.signals import end_like_interrupt
from nfvbed.sites.guest_node import files
from nfvbed.sites.guest_node.devices import devices
from nfvbed.sites.guest_node.machine import NodeMachine
from nfvbed.sites.guest_node.node import GuestNode
from nfvbed.sites.lab.storeddeployment import find_remembered
from nfvbed.spec.site import GuestSiteSpec


@contextmanager
def guest_node(spec: GuestSiteSpec, root: Path) -> Iterator[GuestNode]:
    """Boot a site's guest node; at the end of the block it is gone with all that was made for it.

    Raises:
        PrerequisiteError: not root, or `make node` was not run.
        UnsupportedError: no guest boots on this host.
        BusyError: another nfvbed is at work, or a deployment is running.
        DeployError: it does not boot, or something of it could not be removed.
    """
    unpacked, binaries = files.locate(root), locate(root)
    if os.geteuid() != 0:
        raise PrerequisiteError(
            "a guest node needs root", where="it reads all files of this host", fix="run it with sudo"
        )
    end_like_interrupt()
    with ExitStack() as undo:
        lock = HostLock()
        undo.callback(lock.release)
        lock.acquire()
        reap(lock)
        remembered = find_remembered()
        if remembered is not None:
            raise remembered.deployed.in_the_way(f"the guest node {spec.name}")
        found = find_accelerator(root, binaries)
        if found.accelerator is Accelerator.NONE:
            raise UnsupportedError("no guest boots on this host", where=f"site {spec.name}", observed=found.reason)
        workspace = Workspace.create()
        undo.callback(_close, workspace)
        guest = spec.guest
        wanted = NodeMachine(spec.name, found.accelerator, guest.vcpus, guest.memory_mib, devices(guest.devices))
        yield GuestNode.start(workspace, wanted, unpacked, binaries, read_topology().allowed)


def _close(workspace: Workspace) -> None:
    problems = workspace.close()
    if problems:
        raise DeployError(
            "the guest node is not completely gone",
            where=str(workspace.directory),
            observed="; ".join(problems),
            fix="nfvbed destroy --all",
        )
