"""Whether this host has veth ports that the generator can use, and what a data plane makes of them: found by trying."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.dataplanes.ports import veth
from nfvbed.dataplanes.ports.veth import MACS
from nfvbed.errors import NfvbedError, UnsupportedError
from nfvbed.host import links, napi
from nfvbed.host.liveframes import try_live_frames
from nfvbed.host.namespaces import inside
from nfvbed.host.workspace import Workspace
from nfvbed.records import Readiness, Support
from nfvbed.spec.options import CoreUse
from nfvbed.spec.variant import Variant


@dataclass(frozen=True)
class Attempt:
    """What is tried, and how its failure reads."""

    make: Callable[[Workspace], None]
    """Makes it in a workspace, which is closed afterwards."""
    cannot: str = "veth links cannot be made"
    """Begins the reason where the kernel refuses."""
    fix: str = "modprobe veth"
    """What to do then."""
    refusals: type[NfvbedError] = UnsupportedError
    """What `make` raises where this host cannot; other errors are errors of the probe."""
    refusal_fix: str = ""
    """What to do about a refusal that does not say so itself."""


def probe_veth(variant: Variant) -> Support:
    """Make a pair in a namespace, place its receive work as the variant wants it, and remove it all."""
    core_use = variant.options.veth_core_use
    return lacking(variant) or try_out(variant, Attempt(lambda workspace: _make(workspace, core_use)))


def lacking(variant: Variant, privilege: str = "links and namespaces can only be made by root") -> Support | None:
    """Say what a generator on kernel ports needs and is not there; None: nothing.

    Args:
        variant: that is probed.
        privilege: why it needs root.
    """
    if os.geteuid() != 0:
        return Support.unsupported(variant.name, privilege, "run it with sudo")
    reason = try_live_frames()
    if reason:
        return Support.unsupported(variant.name, f"the generator cannot send: {reason}", "Linux 5.18 or later")
    return None


def try_out(variant: Variant, attempt: Attempt) -> Support:
    """Make it in a workspace of its own, and remove it all."""
    workspace = Workspace.create()
    try:
        attempt.make(workspace)
    except attempt.refusals as failure:
        reason, fix = f"{failure.what}: {failure.observed}", failure.fix or attempt.refusal_fix
        return Support.unsupported(variant.name, reason, fix)
    except (OSError, NetlinkError) as failure:
        return Support.unsupported(variant.name, f"{attempt.cannot}: {failure}", attempt.fix)
    finally:
        workspace.close()
    return Support(variant=variant.name, readiness=Readiness.READY)


def receive_by(netns: str, core_use: CoreUse) -> None:
    """Have the link `s0` of a trial receive as a variant wants it.

    Raises:
        UnsupportedError: the kernel cannot.
    """
    if core_use == "threaded-napi":
        napi.make_threaded(netns, ["s0"])
    elif core_use == "rps":
        napi.steer(netns, ["s0"], 0)


def _make(workspace: Workspace, core_use: CoreUse) -> None:
    netns = workspace.network_namespace("probe")
    inside(netns, lambda: links.add_veth("s0", "g0", (MACS["s0"], MACS["g0"])))
    veth.prepare(netns, ("s0", "g0"))
    receive_by(netns, core_use)
