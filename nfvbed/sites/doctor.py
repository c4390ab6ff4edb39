"""Puts the probes together into the report that is shown and stored with every run."""

from pathlib import Path

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.ovs.kernel.probe import probe_openvswitch
from nfvbed.dataplanes.ovs.probe import probe_ovs
from nfvbed.dataplanes.vpp.binaries import probe_vpp
from nfvbed.errors import NfvbedError
from nfvbed.host.fitness import refused
from nfvbed.host.probes import accelerator, cpu, devices, images, kernel, memory, software, stalls, xdp
from nfvbed.host.probes.findings import DoctorReport, degraded
from nfvbed.host.probes.host import Host
from nfvbed.records import Readiness, Support
from nfvbed.sites.catalogue import open_site
from nfvbed.spec.site import SiteSpec
from nfvbed.spec.variant import Variant


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
    project = open_project(root)
    site_spec = project.load_site(site)
    variants = tuple(project.list_variants(site_spec))
    supports = examine_variants(variants, site_spec, root)
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
        openvswitch=probe_openvswitch(host),
        af_xdp=xdp.probe_af_xdp(host),
        live_frames=xdp.probe_live_frames(host),
        threaded_napi=kernel.probe_threaded_napi(host),
        namespaces=kernel.probe_namespaces(host),
        cgroup_v2=kernel.probe_cgroup_v2(host),
        dpdk=software.probe_dpdk(),
        ovs=probe_ovs(root),
        vpp=probe_vpp(),
        qemu=software.probe_qemu(root),
        nfvgen=software.probe_nfvgen(root),
    )


def _distribution(host: Host) -> str:
    for line in (host.text("etc/os-release") or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return "unknown"


def examine_variants(variants: tuple[Variant, ...], site_spec: SiteSpec, root: Path) -> tuple[Support, ...]:
    """Ask the site for each variant; a probe that fails makes its variant unsupported with the failure as reason."""
    return tuple(_examine_variant(variant, site_spec, root) for variant in variants)


def _examine_variant(variant: Variant, site_spec: SiteSpec, root: Path) -> Support:
    if variant.options.is_simulated:
        return Support(variant=variant.name, readiness=Readiness.READY, reason="simulated: never a measurement")
    try:
        site = open_site(site_spec, root)
    except NfvbedError as error:
        return refused(variant.name, error)
    return with_misfits(site.probe(variant), variant)


def with_misfits(support: Support, variant: Variant) -> Support:
    """Say of a variant that can be had which of its topologies its options do not fit; no host would change that."""
    misfits = variant.misfits
    if not misfits or support.readiness is Readiness.UNSUPPORTED:
        return support
    by_reason: dict[str, list[str]] = {}
    for topology, failure in misfits.items():
        by_reason.setdefault(failure.what, []).append(topology)
    reasons = [f"not in {', '.join(topologies)}: {what}" for what, topologies in by_reason.items()]
    return degraded(support, reasons, dict.fromkeys(failure.fix for failure in misfits.values()))
