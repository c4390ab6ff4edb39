"""Whether this host has what variants are about that say which network card their guests have."""

from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.dataplanes.linux_bridge.options import LinuxBridgeOptions
from nfvbed.errors import NfvbedError
from nfvbed.host import links
from nfvbed.host.namespaces import inside
from nfvbed.host.qemu.accelerator import find_accelerator
from nfvbed.host.qemu.binaries import PROJECT_ROOT, locate
from nfvbed.host.qemu.vhost import VHOST_FIX, vhost_net_reason
from nfvbed.host.workspace import Workspace
from nfvbed.records import Accelerator, Readiness, Support


def probe_guests(variant: str, options: LinuxBridgeOptions) -> Support:
    """Try vhost-net where it is wanted, a tap, and, where guests belong to the variant, which accelerator boots one."""
    reason = vhost_net_reason() if options.vhost == "on" else ""
    if reason:
        return Support.unsupported(variant, f"vhost-net cannot be had: {reason}", VHOST_FIX)
    if options.guest_card == "any":
        return Support(variant=variant, readiness=Readiness.READY)
    reason = _tap_reason()
    if reason:
        return Support.unsupported(variant, f"no tap can be made: {reason}", "a kernel with CONFIG_TUN")
    try:
        found = find_accelerator(PROJECT_ROOT, locate(PROJECT_ROOT))
    except NfvbedError as failure:
        return Support.unsupported(variant, f"{failure.what} ({failure.observed})", failure.fix)
    if found.accelerator is Accelerator.NONE:
        return Support.unsupported(variant, f"no guest boots: {found.reason}", "see nfvbed doctor")
    if found.accelerator is Accelerator.TCG:
        reason = f"guests are emulated, their rates mean nothing: {found.reason}"
        return Support(variant=variant, readiness=Readiness.DEGRADED, reason=reason)
    return Support(variant=variant, readiness=Readiness.READY)


def _tap_reason() -> str:
    workspace = Workspace.create()
    try:
        inside(workspace.network_namespace("probe"), lambda: links.add_tap("v0"))
    except (OSError, NetlinkError) as failure:
        return str(failure)
    finally:
        workspace.close()
    return ""
