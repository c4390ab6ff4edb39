"""Variables of Kolla's for a rack in a box: how small it is, and what machines that are namespaces cannot have.

On other racks nothing of it is rendered: there a user's own `globals.d` says such things, and here it counts more too.
"""

import resource
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nfvbed.cloud.box.furnish import EMPTY_REPOSITORY
from nfvbed.cloud.box.layout import layout_of
from nfvbed.errors import UnsupportedError
from nfvbed.host.probes.commands import ask
from nfvbed.sites.kolla.pinning import plane_of
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.spec.variant import Variant

_USERSPACE = "netdev"
_STATUS = Path("/proc/self/status")
_CAP_SYS_RESOURCE = 24
_FILES = 20_000
"""Open files of a container where limits cannot be raised; haproxy takes two for a connection, and some thousand."""
_CONNECTIONS = 4_000
_OF_QEMU = {"qemu_max_files": 16_000, "qemu_max_processes": 30_000}
_LOCKED_BYTES = 64 * 1024 * 1024
"""Memory that Kolla lets libvirt lock, for its filters of devices."""
QEMU_FILE = "config/nova/qemu.conf.j2"
"""In place of Kolla's template for libvirt's driver (its role nova-cell)."""
_QEMU = """\
stdio_handler = "file"
user = "nova"
group = "nova"
max_files = {{ qemu_max_files }}
max_processes = {{ qemu_max_processes }}
security_driver = "none"
cgroup_controllers = []
namespaces = []
"""


@dataclass(frozen=True)
class BoxHost:
    """This machine, as its box has it: hard limits that no process of its can raise; None: there is no such limit."""

    open_files: int | None = None
    locked_bytes: int | None = None
    processes: int | None = None
    has_datapath: bool = True
    """Whether its kernel has Open vSwitch's datapath, loaded or to be loaded."""
    has_vlans: bool = True
    """The same for VLAN devices."""


def this_host() -> BoxHost:
    """Return the kernel and the limits of this process, which the machines of a box inherit."""
    rights = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines() if ":" in line)["CapBnd"]
    if int(rights, 16) >> _CAP_SYS_RESOURCE & 1:
        return BoxHost(has_datapath=_has_datapath(), has_vlans=_has_vlans())
    return BoxHost(
        open_files=_hard(resource.RLIMIT_NOFILE),
        locked_bytes=_hard(resource.RLIMIT_MEMLOCK),
        processes=_hard(resource.RLIMIT_NPROC),
        has_datapath=_has_datapath(),
        has_vlans=_has_vlans(),
    )


def rendered(site: KollaSiteSpec, host: BoxHost) -> dict[str, Any]:
    """Return the variables; of a site that is no box, none."""
    if site.machines != "box":
        return {}
    controller = next(iter(site.hosts_with("controller").values()))
    return {
        # The registry of the box, without TLS on its network of management.
        "docker_registry": layout_of(site).registry,
        "docker_registry_insecure": True,
        "docker_namespace": "kolla",
        # Its packages are in the machines' root.
        "docker_sdk_osbpo_apt_repo": EMPTY_REPOSITORY,
        "enable_docker_repo": False,
        "docker_apt_package": "docker.io",
        "docker_graceful_timeout": 15,
        # Small: one worker a service, and nothing that no experiment asks.
        "openstack_service_workers": 1,
        "openstack_service_rpc_workers": 1,
        "mariadb_innodb_log_file_size_mb": 96,
        "enable_fluentd": False,
        "enable_horizon": False,
        "nova_console": "none",
        "enable_proxysql": False,
        "database_address": controller.address,
        # One kernel: its clock is not the machines', they have no /dev/kvm, and a network namespace lacks settings.
        "prechecks_enable_host_ntp_checks": False,
        "nova_compute_virt_type": "qemu",
        "set_sysctl": False,
        **({} if host.has_datapath else {"ovs_datapath": _USERSPACE}),
        **_bounded(host),
    }


def require_kernel(site: KollaSiteSpec, variants: Iterable[Variant], host: BoxHost | None = None) -> None:
    """Refuse variants that need what a box has not: of its kernel Open vSwitch's datapath or VLAN devices, or images.

    It is asked before a machine is started. The controller's bridges have the userspace's datapath where there is no
    other; a compute's would be another variant. Kolla's own toolbox makes bridges of the kernel's datapath alone.

    Raises:
        UnsupportedError: a variant is one of those, or images are Kolla's own.
    """
    if site.machines != "box":
        return
    if site.images == "pull" and not (host or this_host()).has_datapath:
        raise UnsupportedError(
            f"Kolla's own images cannot run in box {site.name} on this machine",
            where=f"deploy/sites/{site.name}.yml images",
            observed="pull, and its kernel has no Open vSwitch datapath (CONFIG_OPENVSWITCH), which the controller's"
            " bridges have with these images",
            fix="images: build; or modprobe openvswitch, or boot a kernel that has it (CONFIG_OPENVSWITCH)",
        )
    for variant in variants:
        plane = plane_of(variant)
        if plane.nics.has_vlan_devices and not (host or this_host()).has_vlans:
            raise UnsupportedError(
                f"{variant.name} cannot run in a box on this machine",
                where=f"deploy/sites/{site.name}.yml machines",
                observed="its kernel has no VLAN devices (CONFIG_VLAN_8021Q): none is there, and no module; Nova makes"
                " one for each network",
                fix="modprobe 8021q, or boot a kernel that has it (CONFIG_VLAN_8021Q); or a variant whose switch"
                " has VLANs of its own",
            )
        if plane.not_built and site.images != "pull":
            raise UnsupportedError(
                f"{variant.name} cannot run in box {site.name}",
                where=f"deploy/sites/{site.name}.yml images",
                observed=plane.not_built,
                fix="images: pull, on a machine whose kernel has Open vSwitch's datapath; or a rack",
            )
        if not plane.has_open_vswitch or plane.switch.datapath == _USERSPACE:
            continue
        if not (host or this_host()).has_datapath:
            raise UnsupportedError(
                f"{variant.name} cannot run in a box on this machine",
                where=f"deploy/sites/{site.name}.yml machines",
                observed="its kernel has no Open vSwitch datapath (CONFIG_OPENVSWITCH): none is loaded, none can be",
                fix="modprobe openvswitch, or boot a kernel that has it (CONFIG_OPENVSWITCH); or a variant whose"
                " datapath is in user space",
            )


def datapath(site: KollaSiteSpec, usual: str, host: BoxHost | None = None) -> str:
    """Return the type of the datapath of a machine's bridges: on a box whose kernel has none, the userspace's."""
    if site.machines != "box" or (host or this_host()).has_datapath:
        return usual
    return _USERSPACE


def files(site: KollaSiteSpec) -> dict[str, str]:
    """Return the files beside, by path; of a site that is no box, none."""
    return {QEMU_FILE: _QEMU} if site.machines == "box" else {}


def _bounded(limits: BoxHost) -> dict[str, Any]:
    """Return the variables without which containers could not start below these limits."""
    found: dict[str, Any] = {}
    if limits.open_files is not None:
        most = min(limits.open_files, _FILES)
        found["default_container_dimensions_docker"] = {"ulimits": {"nofile": {"soft": most, "hard": most}}}
        found["haproxy_max_connections"] = min(_CONNECTIONS, most // 5)
        found["qemu_max_files"] = min(_OF_QEMU["qemu_max_files"], most)
    if limits.processes is not None:
        found["qemu_max_processes"] = min(_OF_QEMU["qemu_max_processes"], limits.processes)
    if limits.locked_bytes is not None and limits.locked_bytes < _LOCKED_BYTES:
        found["nova_libvirt_default_dimensions"] = {}
    return found


def _has_datapath() -> bool:
    return Path("/sys/module/openvswitch").is_dir() or _can_load("openvswitch")


def _has_vlans() -> bool:
    return Path("/proc/net/vlan").is_dir() or _can_load("8021q")


def _can_load(module: str) -> bool:
    answer = ask(["modprobe", "-n", module])
    return answer is not None and answer[0] == 0


def _hard(kind: int) -> int | None:
    hard = resource.getrlimit(kind)[1]
    return None if hard == resource.RLIM_INFINITY else hard
