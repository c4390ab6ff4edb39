"""libvirt without systemd, cgroups or name spaces of its own: the node has all of these around it."""

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.services.service import File, Folder, Process, Service

SERVICE = Service(
    "libvirt",
    files=(
        File("/etc/libvirt/qemu.conf", "qemu.conf.j2"),
        File("/etc/libvirt/libvirtd.conf", "libvirtd.conf.j2"),
    ),
    folders=(Folder("/run/libvirt", "root:root", 0o755),),
    processes=(Process("libvirtd", ("/usr/sbin/libvirtd",)),),
)


def ping() -> Command:
    """Return what succeeds when the daemon answers."""
    return Command(("/usr/bin/virsh", "-q", "version", "--daemon"), timeout_s=20.0)
