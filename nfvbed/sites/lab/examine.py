"""Examines the lab's machine: the probes put together into the report that is shown and stored with every run."""

from pathlib import Path
from typing import Any

from nfvbed.dataplanes.catalogue import CATALOGUE, open_project
from nfvbed.errors import BusyError, PrerequisiteError
from nfvbed.host.ledger.hostlock import HostLock
from nfvbed.host.probes import accelerator, cpu, devices, images, kernel, memory, software, stalls, steal, xdp
from nfvbed.host.probes.findings import DoctorReport
from nfvbed.host.probes.host import Host
from nfvbed.host.workspace.reap import reap


def examine(root: Path, *, read_only: bool) -> DoctorReport:
    """Examine this machine.

    Args:
        read_only: reserve nothing. Else it is tried whether lacking hugepages could be reserved, under which
            accelerator a guest boots, and how long cores are kept from a thread that polls: that takes the machine for
            a moment, and is left out while another nfvbed has it.

    Raises:
        ConfigurationError: a VNF's file is not valid.
    """
    lock = HostLock()
    try:
        report = examine_host(root, Host(), try_reserving=not read_only and _take(lock))
    finally:
        lock.release()
    return report.model_copy(update={"images": images.probe_images(open_project(root))})


def _take(lock: HostLock) -> bool:
    """Take the host and remove what a killed nfvbed left; return whether that was possible.

    Leftovers would be examined too.
    """
    try:
        lock.acquire()
    except (BusyError, PrerequisiteError):
        return False
    reap(lock)
    return True


def examine_host(root: Path, host: Host, *, try_reserving: bool = False) -> DoctorReport:
    """Examine the host alone, without the variants."""
    guests = accelerator.probe_accelerator(host, root, boot=try_reserving)
    return DoctorReport(
        kernel=host.text("proc/sys/kernel/osrelease") or "unknown",
        distribution=_distribution(host),
        cpu=cpu.probe_cpu(host),
        smt=cpu.probe_smt(host),
        isolation=cpu.probe_isolation(host),
        governor=cpu.probe_governor(host),
        stalls=stalls.probe_stalls() if try_reserving and host.live else None,
        steal=steal.probe_steal() if try_reserving and host.live else None,
        numa=memory.probe_numa(host),
        memory=memory.probe_memory(host),
        hugepages=memory.probe_hugepages(host, try_reserving=try_reserving),
        iommu=devices.probe_iommu(host),
        nics=devices.probe_nics(host),
        sriov=devices.probe_sriov(host),
        kvm=accelerator.kvm_with_guests(devices.probe_kvm(host), guests),
        accelerator=guests,
        vhost_net=devices.probe_vhost_net(host),
        af_xdp=xdp.probe_af_xdp(host),
        live_frames=xdp.probe_live_frames(host),
        threaded_napi=kernel.probe_threaded_napi(host),
        namespaces=kernel.probe_namespaces(host),
        cgroup_v2=kernel.probe_cgroup_v2(host),
        dpdk=software.probe_dpdk(),
        qemu=software.probe_qemu(root),
        nfvgen=software.probe_nfvgen(root),
        **_of_data_planes(host, root),
    )


def _of_data_planes(host: Host, root: Path) -> dict[str, Any]:
    """Return what data planes look for on a host: the `findings` of their rooms' modules `doctor`."""
    modules = CATALOGUE.modules("doctor").values()
    return {name: finding for module in modules for name, finding in module.findings(host, root).items()}


def _distribution(host: Host) -> str:
    for line in (host.text("etc/os-release") or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return "unknown"
