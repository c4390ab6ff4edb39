"""`nfvbed onboard --check`: whether VNF, flavor, variant and host fit together, line by line; nothing is changed."""

import json
from dataclasses import asdict
from typing import Any

import click

from nfvbed.cli.vnf_options import asked_for
from nfvbed.dataplanes.wiring import require_path
from nfvbed.errors import ConfigurationError, NfvbedError, UnsupportedError, UsageError
from nfvbed.host.arrangement import resolve
from nfvbed.host.topology import read_topology
from nfvbed.records import VnfKind
from nfvbed.sites.openstack.instances import DATA_NETWORKS
from nfvbed.spec.choices import explicit_label
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.layout import layout
from nfvbed.spec.loader import Project
from nfvbed.spec.site import CloudSiteSpec, DevcloudSiteSpec, HostSiteSpec, SiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice, VnfPortSpec
from nfvbed.vnfs.descriptors import epa, hostfit
from nfvbed.vnfs.descriptors.epa import Mismatch
from nfvbed.vnfs.descriptors.model import CloudImage, request_of
from nfvbed.vnfs.descriptors.novaflavor import extra_specs
from nfvbed.vnfs.numa import Host

WITHOUT_NOVA = ("lab", "guest", "simulated")
"""Kinds of sites on which nfvbed itself starts VNFs."""
_MANAGEMENT = "mgmt"
_SWITCH_MIB = 384
"""Hugepage memory of a devcloud that its switch takes."""


def check_fit(
    project: Project, site: SiteSpec, topology: str, asked: tuple[str, str | None, dict[str, Any]], *, as_json: bool
) -> int:
    """Print what does not fit; return the exit code: 0 where everything does, that of a bad configuration where not.

    Args:
        project: where the files are.
        site: where the VNF would run; it is not opened.
        topology: what would be connected to what.
        asked: the VNF's name, the variant's, and the options of the VNF.
        as_json: print a JSON document.

    Raises:
        UsageError: no variant is named, or the options do not describe a VNF.
        ConfigurationError: a file is not valid.
    """
    vnf, variant_name, options = asked
    if variant_name is None:
        raise UsageError("--check compares with a variant, and none is named", fix="give --variant VARIANT")
    in_cloud = site.kind not in WITHOUT_NOVA
    if in_cloud and options.get("kind") is None:
        options = options | {"kind": VnfKind.VM.value}
    variant = project.load_variant(variant_name, site)
    choice = asked_for(project, variant, vnf, options)
    found = _path(variant, topology, choice)
    found += _in_cloud(variant, choice) if in_cloud else []
    if isinstance(site, HostSiteSpec) and not isinstance(site, CloudSiteSpec):
        found += _on_host(variant, choice, site, layout(topology).vnfs)
    name = f"{vnf} ({explicit_label(choice)}, flavor {choice.flavor.name}) on {variant.name} ({topology}, {site.name})"
    return report(name, found, as_json=as_json)


def report(name: str, found: list[Mismatch], *, as_json: bool) -> int:
    """Print what does not fit, each once; return the exit code.

    Args:
        name: what was compared with what.
        found: the mismatches.
        as_json: print a JSON document.
    """
    distinct = list({str(one): one for one in found}.values())
    if as_json:
        click.echo(json.dumps({"vnf": name, "mismatches": [asdict(one) for one in distinct]}, indent=2))
    else:
        click.echo(f"{name}: " + ("everything fits" if not distinct else f"{len(distinct)} do not fit"))
        for one in distinct:
            click.echo(f"  {one}")
    return ConfigurationError.exit_code if distinct else 0


def _path(variant: Variant, topology: str, choice: VnfChoice) -> list[Mismatch]:
    try:
        require_path(variant, topology, choice)
    except UnsupportedError as failure:
        return [mismatch_of(failure, "ports" if not variant.lacks(topology) else "topology")]
    return []


def _in_cloud(variant: Variant, choice: VnfChoice) -> list[Mismatch]:
    data = iter(DATA_NETWORKS)

    def network(port: VnfPortSpec) -> str:
        return _MANAGEMENT if port.role == "management" else next(data)

    networks = {port.name: network(port) for port in choice.vnf.ports}
    image, specs = CloudImage(choice.vnf.name), extra_specs(choice.flavor)
    try:
        request = request_of(choice, networks, image, specs, direct=epa.needs_direct(variant, choice))
    except UnsupportedError as failure:
        return [mismatch_of(failure, "descriptor")]
    return epa.check(request, choice.flavor, variant)


def _on_host(variant: Variant, choice: VnfChoice, site: HostSiteSpec, vnfs: int) -> list[Mismatch]:
    if choice.kind is not VnfKind.VM:
        return []
    try:
        host = host_of(variant, site, vnfs)
    except (UnsupportedError, ConfigurationError) as failure:
        return [mismatch_of(failure, "cores")]
    # On a devcloud every flavor has hugepages, out of what is reserved when the cloud starts.
    flavor = with_pages(choice.flavor) if isinstance(site, DevcloudSiteSpec) else choice.flavor
    return hostfit.check(flavor, host, vnfs=vnfs, realtime_us=hostfit.realtime_share())


def with_pages(flavor: Flavor) -> Flavor:
    """Return a flavor with its memory in hugepages."""
    return flavor.model_copy(update={"hugepages": True})


def host_of(variant: Variant, site: HostSiteSpec, vnfs: int) -> Host:
    """Return this host as a site has it for virtual machines.

    Raises:
        UnsupportedError, ConfigurationError: it has too few cores for switch, generator and VNFs.
    """
    topology = read_topology()
    arrangement = resolve(topology, site.arrangement, variant.options.switch_cores, vnfs)
    nodes = max(len(topology.nodes), 1)
    free = hostfit.reservable_mib(nodes)
    if isinstance(site, DevcloudSiteSpec):
        free = dict.fromkeys(range(nodes), (site.hugepages_mib - _SWITCH_MIB) // nodes)
    return Host(topology, arrangement, free_hugepages_mib=free)


def mismatch_of(failure: NfvbedError, subject: str) -> Mismatch:
    """Return an error as a mismatch of a subject."""
    return Mismatch(subject, ": ".join(filter(None, (failure.what, failure.observed))), failure.fix, failure.where)
