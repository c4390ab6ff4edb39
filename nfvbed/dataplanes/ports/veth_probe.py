"""Whether this host has veth ports for the generator and a data plane: they are made and used to find out."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.errors import NfvbedError, PrerequisiteError, UnsupportedError
from nfvbed.host import fixes
from nfvbed.host.fitness import Fitness
from nfvbed.host.network import links, napi, veth
from nfvbed.host.network.liveframes import try_live_frames
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.veth import MACS
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.spec.options import CoreUse
from nfvbed.spec.variant import Variant


@dataclass(frozen=True)
class Attempt:
    """What is tried, and the words for its failure."""

    make: Callable[[Workspace], None]
    """Makes it in a workspace, which is closed afterwards."""
    cannot: str = "veth links cannot be made"
    """Begins the reason where the kernel refuses."""
    fix: str = fixes.load("veth")
    """What to do then."""
    refusal_fix: str = ""
    """What to do about a refusal that does not say so itself."""


def probe_veth(variant: Variant) -> Fitness:
    """Make a pair in a namespace, place its receive work as the variant wants it, and remove all of it.

    Raises:
        UnsupportedError, PrerequisiteError, DeployError: this host cannot.
    """
    core_use = variant.options.veth_core_use
    require_sender()
    return try_out(Attempt(lambda workspace: _make(workspace, core_use)))


def require_sender(privilege: str = "links and namespaces can only be made by root") -> None:
    """Check that the generator can send on kernel ports.

    Args:
        privilege: what root is needed for, for the message.

    Raises:
        PrerequisiteError: nfvbed is not run by root.
        UnsupportedError: the generator cannot send.
    """
    if os.geteuid() != 0:
        raise PrerequisiteError(privilege, fix="run it with sudo")
    reason = try_live_frames()
    if reason:
        raise UnsupportedError("the generator cannot send", observed=reason, fix="Linux 5.18 or later")


def try_out(attempt: Attempt) -> Fitness:
    """Make the attempt in a workspace of its own, and remove all of it.

    Raises:
        UnsupportedError: the kernel refuses.
        NfvbedError: as the attempt raises.
    """
    workspace = Workspace.create()
    try:
        attempt.make(workspace)
    except NfvbedError as failure:
        failure.fix = failure.fix or attempt.refusal_fix
        raise
    except (OSError, NetlinkError) as failure:
        raise UnsupportedError(attempt.cannot, observed=str(failure), fix=attempt.fix) from failure
    finally:
        workspace.close()
    return Fitness()


def receive_by(netns: str, core_use: CoreUse) -> None:
    """Let the link `s0` of an attempt receive as a variant wants it.

    Raises:
        UnsupportedError: the kernel cannot.
    """
    if core_use == "threaded-napi":
        with napi.threads_told_apart():
            napi.make_threaded(netns, ["s0"])
    elif core_use == "rps":
        napi.steer(netns, ["s0"], 0)


def _make(workspace: Workspace, core_use: CoreUse) -> None:
    netns = workspace.network_namespace("probe")
    inside(netns, lambda: links.add_veth("s0", "g0", (MACS["s0"], MACS["g0"])))
    veth.prepare(netns, ("s0", "g0"))
    receive_by(netns, core_use)
