"""Whether this host can run Open vSwitch in the kernel: a datapath is made there to find out."""

from nfvbed.dataplanes.ovs.binaries import binaries_of
from nfvbed.dataplanes.ovs.kernel.datapath import try_datapath
from nfvbed.dataplanes.ovs.kerneloptions import KernelDatapathOptions
from nfvbed.dataplanes.ovs.probe import run_version
from nfvbed.dataplanes.ports.veth_probe import probe_veth
from nfvbed.errors import UnsupportedError
from nfvbed.host.fitness import Fitness
from nfvbed.host.network.namespaces import CLONE_NEWNET, in_thread, libc
from nfvbed.host.probes.commands import ask
from nfvbed.host.probes.host import RECORDED, Host
from nfvbed.records.findings import Finding, State
from nfvbed.spec.variant import Variant, options_of

_NAME = "nfvbed-probe"
FIX = (
    "modprobe openvswitch; a kernel without it (CONFIG_OPENVSWITCH): boot another, Debian's own has it; or see it work"
    " in a virtual machine: make node, then nfvbed doctor --site guest-node"
)


def try_kernel_datapath(variant: Variant) -> Fitness:
    """Look for veth links as the generator needs them, for Open vSwitch's programs, and for the kernel's datapath.

    Raises:
        UnsupportedError, PrerequisiteError, DeployError: this host cannot.
    """
    found = probe_veth(variant)
    reason = in_thread(_datapath_reason)
    if reason:
        raise UnsupportedError(reason, fix=FIX)
    binaries = binaries_of(options_of(variant, KernelDatapathOptions))
    run_version(binaries.command(binaries.vswitchd))
    return found


def _datapath_reason() -> str:
    """Return why there is no datapath. Call it in a thread of its own, whose namespace ends with it."""
    if libc.unshare(CLONE_NEWNET) != 0:
        return "no network namespace can be made: not root"
    try:
        try_datapath(_NAME)
    except OSError as failure:
        return f"the kernel makes no Open vSwitch datapath: {failure.strerror or failure}"
    return ""


def probe_openvswitch(host: Host) -> Finding:
    """Find the kernel's Open vSwitch datapath: loaded, or loadable."""
    topic, probed = "openvswitch module", "looked in /sys/module, asked modprobe without loading"
    if host.exists("sys/module/openvswitch"):
        return Finding(topic=topic, state=State.PRESENT, summary="loaded", probed=probed)
    fix = "boot a kernel with CONFIG_OPENVSWITCH (Debian's own has it as a module)"
    release = host.text("proc/sys/kernel/osrelease") or "unknown"
    if not host.live:
        return Finding(topic=topic, state=State.UNKNOWN, summary="not loaded", probed=RECORDED, fix=fix)
    answer = ask(["modprobe", "-n", "openvswitch"])
    if answer is not None and answer[0] == 0:
        return Finding(topic=topic, state=State.PRESENT, summary="can be loaded", probed=probed)
    return Finding(topic=topic, state=State.ABSENT, summary=f"kernel {release} has none", probed=probed, fix=fix)
