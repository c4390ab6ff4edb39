"""libvirt without its own systemd, cgroups or namespaces: the node around it has all of these."""

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
    """Return the command that succeeds when the daemon answers."""
    return Command(("/usr/bin/virsh", "-q", "version", "--daemon"), timeout_s=20.0)
