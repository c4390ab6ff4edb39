"""What Kolla's Dockerfiles do to packages beside installing them, done once for all images; and what is of ours.

Kolla's own files are in each image's small layer (`dockerfiles.py`). Idempotent: it may be cut short and run again.
"""

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from nfvbed.cloud.box.images.dockerfiles import User
from nfvbed.cloud.box.images.environments import SERVICES, TOOLBOX
from nfvbed.cloud.devcloud.root.tool import Tool

_PROJECTS = ("glance", "heat", "keystone", "neutron", "nova", "placement", "tacker")
_EXECUTABLES = f"exec_dirs={SERVICES.folder}/bin,/sbin,/usr/sbin,/bin,/usr/bin,/usr/local/bin,/usr/local/sbin"
_FOLDERS = ("etc/ansible", "run/sshd", "usr/local/etc/neutron-wrappers", "usr/local/lib/neutron-wrappers")
_REMOVED = (
    "etc/libvirt/qemu/networks/autostart/default.xml",
    "etc/libvirt/qemu/networks/default.xml",
    "etc/localtime",
    "etc/machine-id",
    "etc/resolv.conf",
    "etc/hosts",
    "etc/hostname",
    "usr/include",
    "root/.cache",
)
"""What the container engine gives, what a machine makes anew, and what only compilers read."""
_EMPTIED = (
    "tmp",
    "var/lib/apt/lists",
    "var/cache/apt",
    "var/lib/mysql",
    "var/lib/rabbitmq",
    "usr/share/doc",
)
_LOGS = "var/log"
"""Its files go; its folders stay, with their owners: RabbitMQ's start script and others write there."""
_STATIC = "usr/lib/x86_64-linux-gnu/*.a"
_PLAIN_SWITCH = "/usr/lib/openvswitch-switch/ovs-vswitchd"
"""Open vSwitch without DPDK; Kolla's images of the one with it choose theirs in their own layer."""
_HEALTH = """#!/bin/sh
# In the place of MariaDB's own script, which none of Debian's packages has.
exec mariadb-admin --defaults-file="$2" ping
"""
_NETDEV = """#!/bin/sh
# nfvbed's: Kolla makes bridges of the kernel's datapath. Where the kernel has none they get the one in user space.
/usr/bin/ovs-vsctl "$@"
status=$?
[ ! -d /sys/module/openvswitch ] || exit $status
case " $* " in
*" add-br "*)
    for bridge in $(/usr/bin/ovs-vsctl --timeout=5 list-br); do
        /usr/bin/ovs-vsctl --timeout=10 set Bridge "$bridge" datapath_type=netdev
    done
    ;;
esac
exit $status
"""
NETDEV_PATH = "/usr/local/bin/ovs-vsctl"
_S = 300.0


def finish(root: Path, tool: Tool, users: Iterable[User]) -> str:
    """Finish a root that has packages and environments.

    Args:
        users: of the images that are made.

    Raises:
        PrerequisiteError: a tool failed; with its last lines.
    """
    for name in _FOLDERS:
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in _PROJECTS:
        _configure(root, name)
    _configure_system(root)
    clean(root)
    _inside(root, tool, ["update-alternatives", "--set", "ovs-vswitchd", _PLAIN_SWITCH])
    plugins = ["rabbitmq_management", "rabbitmq_prometheus"]
    _inside(root, tool, ["env", "HOME=/root", "rabbitmq-plugins", "enable", "--offline", *plugins])
    _inside(root, tool, ["localedef", "--inputfile=en_US", "--charmap=UTF-8", "--no-archive", "en_US.UTF-8"])
    _own(root, tool, users)
    return ""


def netdev_vsctl() -> bytes:
    """Return the program for the toolbox that gives bridges a datapath in user space where the kernel has none."""
    return _NETDEV.encode()


def _configure(root: Path, name: str) -> None:
    """Put the files of a service's package where it looks for them."""
    target, installed = root / "etc" / name, root / SERVICES.folder.lstrip("/") / "etc"
    target.mkdir(exist_ok=True)
    if (installed / name).is_dir():
        shutil.copytree(installed / name, target, dirs_exist_ok=True)
    audit = installed / "pycadf" / f"{name}_api_audit_map.conf"
    if audit.is_file():
        shutil.copy(audit, target)
    rootwrap = target / "rootwrap.conf"
    if rootwrap.is_file():
        rootwrap.write_text(re.sub(r"^exec_dirs.*", _EXECUTABLES, rootwrap.read_text(), flags=re.MULTILINE))


def _configure_system(root: Path) -> None:
    interpreter = f"ansible_python_interpreter={TOOLBOX.folder}/bin/python"
    (root / "etc/ansible/hosts").write_text(f"localhost ansible_connection=local {interpreter}\n")
    for defaults in (root / TOOLBOX.folder.lstrip("/")).glob(
        "lib/python3.*/site-packages/os_client_config/defaults.json"
    ):
        text = defaults.read_text()
        defaults.write_text(text.replace('"identity_api_version": "2.0"', '"identity_api_version": "3"'))
    sshd = root / "etc/pam.d/sshd"
    sshd.write_text(
        re.sub(r"session(\s+)required(\s+)pam_loginuid", r"session\1optional\2pam_loginuid", sshd.read_text())
    )
    dump = root / "usr/sbin/tcpdump"
    if dump.exists() and not dump.is_symlink():
        dump.rename(root / "usr/bin/tcpdump")
    health = root / "usr/bin/healthcheck.sh"
    health.write_text(_HEALTH)
    health.chmod(0o755)


def _own(root: Path, tool: Tool, users: Iterable[User]) -> None:
    """Make the homes of users, as Kolla's `configure_user` does, and other folders with their owners."""
    by_name = {one.name: one for one in users}
    for one in by_name.values():
        if "kolla" in one.groups:
            home = root / one.home.lstrip("/")
            home.mkdir(parents=True, exist_ok=True)
            _inside(root, tool, ["chown", "--recursive", f"{one.uid}:{one.gid}", one.home])
    for name, owner in (("var/lib/kolla/haproxy", "haproxy"), ("run/mysqld", "mysql"), ("etc/rabbitmq", "rabbitmq")):
        (root / name).mkdir(parents=True, exist_ok=True)
        _inside(root, tool, ["chown", "--recursive", f"{by_name[owner].uid}:{by_name[owner].gid}", f"/{name}"])
    logs = root / "var/log/kolla"
    logs.mkdir(exist_ok=True)
    os.chown(logs, 0, by_name["kolla"].gid)
    logs.chmod(0o2775)
    (root / "etc/sudoers.d").chmod(0o750)


def clean(root: Path) -> None:
    """Remove what no container reads."""
    for name in _REMOVED:
        _remove(root / name)
    for path in (
        *(child for name in _EMPTIED for child in _below(root / name)),
        *_files(root / _LOGS),
        *root.glob(_STATIC),
    ):
        _remove(path)


def _below(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _inside(root: Path, tool: Tool, argv: list[str]) -> None:
    space = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={root}/proc", "--"]
    tool.run("finish", [*space, "chroot", str(root), *argv], _S)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]
