"""Whether this host can run a VNF in a virtual machine."""

from nfvbed.errors import UnsupportedError
from nfvbed.host import fixes
from nfvbed.host.fitness import Fitness
from nfvbed.host.qemu.accelerator import guests_boot
from nfvbed.host.qemu.binaries import PROJECT_ROOT, QemuBinaries, locate
from nfvbed.spec.vnf import VnfChoice, vnic_of
from nfvbed.vnfs.vm import devices

OLDEST_QEMU = (8, 2)
"""Before it there is no USO to switch off; QEMU 7.2 crashes under TCG with vhost-user ports that have vectors."""

_TRIED = {
    "tap": (devices.tap_reason, "a kernel with CONFIG_TUN"),
    "e1000": (devices.tap_reason, "a kernel with CONFIG_TUN"),
    "rtl8139": (devices.tap_reason, "a kernel with CONFIG_TUN"),
    "macvtap": (devices.macvtap_reason, fixes.load("macvtap")),
    "vf": (devices.vfio_reason, fixes.VFIO),
}


def usable(binaries: QemuBinaries) -> QemuBinaries:
    """Return a QEMU after checking that it is new enough.

    Raises:
        UnsupportedError: it is not.
    """
    version = binaries.version
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_QEMU:
        raise UnsupportedError(
            "this QEMU is too old",
            where=str(binaries.program),
            observed=f"{version}; {'.'.join(map(str, OLDEST_QEMU))} is the oldest that guests are run with",
            fix="make setup unpacks a newer one",
        )
    return binaries


def probe(choice: VnfChoice) -> Fitness:
    """Probe QEMU, the boot of a guest, and the kernel's ports for its NIC, by trying.

    Raises:
        UnsupportedError, PrerequisiteError: this host cannot.
    """
    found = guests_boot(usable(locate(PROJECT_ROOT)))
    trial = _TRIED.get(vnic_of(choice))
    reason = trial[0]() if trial is not None else ""
    if trial is not None and reason:
        raise UnsupportedError(reason, fix=trial[1])
    return found
