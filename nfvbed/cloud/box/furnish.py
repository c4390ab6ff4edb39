"""What makes a root of Debian packages a root of machines that share one kernel, and have no way outside."""

from collections.abc import Mapping
from pathlib import Path

from nfvbed.cloud.box.layout import SWITCH

UNITS_LEFT_OUT = (
    # One kernel for all machines: its clock and its settings belong to none of them.
    *("chrony.service", "systemd-timesyncd.service", "systemd-sysctl.service", "systemd-modules-load.service"),
    *("proc-sys-fs-binfmt_misc.automount", "systemd-binfmt.service", "sys-kernel-debug.mount"),
    *("sys-kernel-tracing.mount", "sys-kernel-config.mount", "apparmor.service", "systemd-pcrphase.service"),
    # Nothing is there for them.
    *("e2scrub_reap.service", "e2scrub_all.timer", "fstrim.timer", "apt-daily.timer", "apt-daily-upgrade.timer"),
    *("getty@tty1.service", "console-getty.service"),
    # Addresses are those of the cables, which outlive a restart.
    *("networking.service", "systemd-networkd.service", "systemd-resolved.service"),
)
UNITS_OF_SWITCH = (
    *("openvswitch-switch.service", "ovsdb-server.service", "ovs-vswitchd.service", "ovs-record-hostname.service"),
    "docker-registry.service",
)
"""Units of packages that all machines have, and that the switch alone runs."""
UNITS_OF_MACHINES = ("docker.service", "docker.socket", "containerd.service", "ssh.service", "ssh.socket")
EMPTY_REPOSITORY = "deb [trusted=yes] file:/srv/apt ./"
"""All packages are there; a repository without any lets apt look for new ones, without a network."""
_SYSTEM = Path("etc/systemd/system")
_UPDATE_GRUB = """\
#!/bin/sh
# The boot loader of a machine that has none: the next start's command line, where the box reads it.
for file in /etc/default/grub.d/*.cfg; do
    if [ -e "$file" ]; then . "$file"; fi
done
mkdir -p /boot/grub
echo "root=box $GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX_DEFAULT" >/boot/grub/grub.cfg
"""
_UDEV = """\
[Service]
ExecStart=
ExecStart=-udevadm trigger --type=devices --action=add --subsystem-match=net
"""
_SSHD = "PermitRootLogin prohibit-password\nUseDNS no\nHostKey /etc/ssh/ssh_host_ed25519_key\n"
_BUILT_IN = (
    *("openvswitch", "br_netfilter", "ip_vs", "ip6_tables", "ip_tables", "iptable_filter", "vhost_net"),
    *("uio_pci_generic", "vfio_pci", "dm_multipath"),
)
"""Modules that are loaded for a cloud. A machine of a box loads none: what the kernel lacks fails where it is used."""


def furnish(root: Path) -> None:
    """Change a root of packages into one of machines; it can be done again."""
    for unit in UNITS_LEFT_OUT:
        _mask(root, unit)
    _write(root / _SYSTEM / "systemd-udev-trigger.service.d/box.conf", _UDEV)
    _link(root / _SYSTEM / "default.target", "/lib/systemd/system/multi-user.target")
    _write(root / "srv/apt/Packages", "")
    for path in (root / "etc/apt/sources.list.d").iterdir():
        path.unlink()
    _write(root / "etc/apt/sources.list", f"{EMPTY_REPOSITORY}\n")
    for folder in ("boot/grub", "etc/network/interfaces.d", "etc/apt/keyrings", "etc/default/grub.d"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    _write(root / "usr/sbin/update-grub", _UPDATE_GRUB, 0o755)
    _write(root / "etc/machine-id", "")
    _write(root / "etc/ssh/sshd_config.d/box.conf", _SSHD)
    _write(root / "etc/resolv.conf", "")
    for path in (root / "etc/ssh").glob("ssh_host_*"):
        path.unlink()
    _link(root / "etc/localtime", "/usr/share/zoneinfo/UTC")


def furnish_layer(layer: Path, name: str, hosts: Mapping[str, str], release: str) -> None:
    """Write what one machine has of its own.

    Args:
        layer: what it has written, over the root.
        hosts: addresses by the machines' names.
        release: the kernel's, as `uname -r` has it.
    """
    for unit in UNITS_OF_MACHINES if name == SWITCH else UNITS_OF_SWITCH:
        _mask(layer, unit)
    _write(layer / "etc/hostname", f"{name}\n")
    lines = ["127.0.0.1 localhost", *(f"{address} {host}" for host, address in hosts.items())]
    _write(layer / "etc/hosts", "\n".join(lines) + "\n")
    modules = layer / "usr/lib/modules" / release
    _write(modules / "modules.builtin", "".join(f"kernel/{module}.ko\n" for module in _BUILT_IN))
    _write(modules / "modules.order", "")
    # A machine that was installed has a boot loader's menu; this one's says what the kernel runs with at first.
    _write(layer / "boot/grub/grub.cfg", "root=box\n")


def _mask(root: Path, unit: str) -> None:
    _link(root / _SYSTEM / unit, "/dev/null")


def _link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(text)
    path.chmod(mode)
