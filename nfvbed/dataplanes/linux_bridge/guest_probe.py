"""Whether this host has what variants are about that say which network card their guests have."""

from nfvbed.dataplanes.linux_bridge.options import LinuxBridgeOptions
from nfvbed.dataplanes.ports.veth_probe import Attempt, try_out
from nfvbed.host import links
from nfvbed.host.fitness import Fitness
from nfvbed.host.namespaces import inside
from nfvbed.host.qemu.accelerator import guests_boot
from nfvbed.host.qemu.binaries import PROJECT_ROOT, locate
from nfvbed.host.qemu.vhost import require_vhost_net
from nfvbed.host.workspace import Workspace


def probe_guests(options: LinuxBridgeOptions) -> Fitness:
    """Try vhost-net where it is wanted, a tap, and, where guests belong to the variant, which accelerator boots one.

    Raises:
        UnsupportedError, PrerequisiteError: this host cannot.
    """
    if options.vhost == "on":
        require_vhost_net()
    if options.guest_card == "any":
        return Fitness()
    try_out(Attempt(_make_tap, "no tap can be made", "a kernel with CONFIG_TUN"))
    return guests_boot(locate(PROJECT_ROOT))


def _make_tap(workspace: Workspace) -> None:
    inside(workspace.network_namespace("probe"), lambda: links.add_tap("v0"))
