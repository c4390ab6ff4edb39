"""Whether this host has veth ports that the generator can use: found by making a pair and sending a live frame."""

import os

from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.dataplanes.ports import veth
from nfvbed.dataplanes.ports.veth import MACS
from nfvbed.errors import UnsupportedError
from nfvbed.host import links, napi
from nfvbed.host.liveframes import try_live_frames
from nfvbed.host.namespaces import inside
from nfvbed.host.workspace import Workspace
from nfvbed.records import Readiness, Support
from nfvbed.spec.options import CoreUse
from nfvbed.spec.variant import Variant


def probe_veth(variant: Variant) -> Support:
    """Make a pair in a namespace, place its receive work as the variant wants it, and remove it all."""
    if os.geteuid() != 0:
        return _unsupported(variant, "links and namespaces can only be made by root", "run it with sudo")
    reason = try_live_frames()
    if reason:
        return _unsupported(variant, f"the generator cannot send: {reason}", "Linux 5.18 or later")
    workspace = Workspace.create()
    try:
        _try(workspace, variant.options.veth_core_use)
    except UnsupportedError as failure:
        return _unsupported(variant, f"{failure.what}: {failure.observed}", failure.fix)
    except (OSError, NetlinkError) as failure:
        return _unsupported(variant, f"veth links cannot be made: {failure}", "modprobe veth")
    finally:
        workspace.close()
    return Support(variant=variant.name, readiness=Readiness.READY)


def _try(workspace: Workspace, core_use: CoreUse) -> None:
    netns = workspace.network_namespace("probe")
    inside(netns, lambda: links.add_veth("s0", "g0", (MACS["s0"], MACS["g0"])))
    veth.prepare(netns, ("s0", "g0"))
    if core_use == "threaded-napi":
        napi.make_threaded(netns, ["s0"])
    elif core_use == "rps":
        napi.steer(netns, ["s0"], 0)


def _unsupported(variant: Variant, reason: str, fix: str) -> Support:
    return Support(variant=variant.name, readiness=Readiness.UNSUPPORTED, reason=reason, fix=fix)
