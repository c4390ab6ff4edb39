"""Puts the probes together into the report that is shown and stored with every run."""

from pathlib import Path

from nfvbed.host.probes import accelerator, cpu, devices, images, kernel, memory, software, stalls, xdp
from nfvbed.host.probes.findings import DoctorReport
from nfvbed.host.probes.host import Host
from nfvbed.sites.doctor_variants import examine_variants
from nfvbed.spec.loader import Project


def examine(root: Path, host: Host | None = None, *, site: str = "lab", try_reserving: bool = False) -> DoctorReport:
    """Examine this host.

    Args:
        root: the folder with nfvbed's data, its build and its Open vSwitch.
        host: where /proc and /sys are read; None: this machine. A recorded tree gives no answer about variants.
        site: the site whose adapters answer for the variants.
        try_reserving: find out by trying whether lacking hugepages could be reserved, under which accelerator a
            guest boots, and how long cores are kept from a thread that polls. It takes the machine for a moment, so
            only `nfvbed doctor` asks for it, while nothing else of nfvbed runs.

    Raises:
        ConfigurationError: a variant's, a VNF's or the site's file is not valid.
    """
    host = host or Host()
    report = examine_host(root, host, try_reserving=try_reserving)
    if not host.live:
        return report
    project = Project(root)
    variants = tuple(project.list_variants())
    supports = examine_variants(variants, project.load_site(site), root)
    told = (
        images.with_own_image(support, variant, project) for support, variant in zip(supports, variants, strict=True)
    )
    return report.model_copy(update={"images": images.probe_images(project), "variants": tuple(told)})


def examine_host(root: Path, host: Host, *, try_reserving: bool = False) -> DoctorReport:
    """Examine the host alone, without the variants."""
    return DoctorReport(
        kernel=host.text("proc/sys/kernel/osrelease") or "unknown",
        distribution=_distribution(host),
        cpu=cpu.probe_cpu(host),
        smt=cpu.probe_smt(host),
        isolation=cpu.probe_isolation(host),
        governor=cpu.probe_governor(host),
        stalls=stalls.probe_stalls() if try_reserving and host.live else None,
        numa=memory.probe_numa(host),
        memory=memory.probe_memory(host),
        hugepages=memory.probe_hugepages(host, try_reserving=try_reserving),
        iommu=devices.probe_iommu(host),
        nics=devices.probe_nics(host),
        sriov=devices.probe_sriov(host),
        kvm=devices.probe_kvm(host),
        accelerator=accelerator.probe_accelerator(host, root, boot=try_reserving),
        vhost_net=devices.probe_vhost_net(host),
        openvswitch=kernel.probe_openvswitch(host),
        af_xdp=xdp.probe_af_xdp(host),
        live_frames=xdp.probe_live_frames(host),
        threaded_napi=kernel.probe_threaded_napi(host),
        namespaces=kernel.probe_namespaces(host),
        cgroup_v2=kernel.probe_cgroup_v2(host),
        dpdk=software.probe_dpdk(),
        ovs=software.probe_ovs(root),
        vpp=software.probe_vpp(),
        qemu=software.probe_qemu(root),
        nfvgen=software.probe_nfvgen(root),
    )


def _distribution(host: Host) -> str:
    for line in (host.text("etc/os-release") or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return "unknown"
