"""`nfvbed onboard` of a VNF of several machines, on a site that is an OpenStack: compared, described, and onboarded."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from nfvbed.below import below
from nfvbed.cli.given_options import descriptor_of, onboard_given
from nfvbed.cli.machine_options import made_request, one_flavour, refuse_options
from nfvbed.cli.onboard_check import named_variant, opened, report
from nfvbed.cli.support import require_deployable, variant_name
from nfvbed.cli.vnf_options import KEYS as VNF_KEYS
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.host.qemu import images as image_files
from nfvbed.host.qemu.images import Image
from nfvbed.sites.catalogue import open_site
from nfvbed.sites.openstack import images as cloud_images
from nfvbed.sites.openstack.paths import BARE
from nfvbed.sites.site import Site
from nfvbed.spec.document import Document, read_document
from nfvbed.spec.loader import VNF_FILE, Project
from nfvbed.spec.machines import MachinesVnfSpec
from nfvbed.spec.site import SiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import ImageSpec
from nfvbed.vnfs.descriptors import csar, hostfit, sol
from nfvbed.vnfs.descriptors import given as descriptors
from nfvbed.vnfs.descriptors.epa import Mismatch, mismatch_of, require_fit
from nfvbed.vnfs.descriptors.given import GivenDescriptor, GivenImage
from nfvbed.vnfs.descriptors.givenfit import Fit
from nfvbed.vnfs.descriptors.machines import check, legacy, package
from nfvbed.vnfs.descriptors.machines.model import MachinesRequest
from nfvbed.vnfs.descriptors.yamltext import dump
from nfvbed.wholefile import write_output

_REFUSED = (*VNF_KEYS, "level", "offload_price", "topology")
_MADE = Path(".nfvbed", "descriptors")
"""Below the project's root: descriptors as they were onboarded, but for a deployment's id and secret."""


def onboard_machines(project: Project, vnf: MachinesVnfSpec, site: SiteSpec, options: dict[str, Any]) -> int:
    """Onboard the VNF through the site's API of Tacker, in one deployment flavour; or say what does not fit.

    Args:
        project: where files are.
        vnf: the VNF's file.
        site: an OpenStack.
        options: of the command line, with `variant` and `as_json`.

    Returns:
        The exit code.

    Raises:
        UsageError, ConfigurationError, UnsupportedError: what is asked for does not exist, or does not fit.
        OnboardError: it failed; nothing of it is left.
    """
    refuse_options(vnf, options, _REFUSED)
    name, flavour = options["variant"] or site.only_variant, options["flavour"] or _usual_flavour(vnf, options)
    chosen = {**options, "flavour": flavour}
    if options["check"]:
        variant = project.load_variant(named_variant(name), site)
        checked_on, closed = opened(site, project)
        fit = Fit((*_mismatches(project, vnf, (checked_on, variant), chosen), *closed))
        return report(
            f"{vnf.name} (flavour {flavour}) on {variant.name} ({site.name})", fit, as_json=options["as_json"]
        )
    place = open_site(site, project.root)
    existing = place.find_deployed()
    variant = project.load_variant(variant_name(name, existing, site), site)
    require_fit(_mismatches(project, vnf, (place, variant), chosen))
    describe = _package if place.descriptor_form == "sol" else _template
    given, content = describe(project, vnf, variant, chosen)
    require_deployable(place, variant, existing)
    if options["dry_run"]:
        click.echo(f"{vnf.name} (flavour {flavour}) would be onboarded as {given.name} on {variant.name}")
        return 0
    given.path.parent.mkdir(parents=True, exist_ok=True)
    write_output(given.path, content, "the descriptor", "make room there")
    onboard_given(place, variant, descriptors.read(given), options["as_json"])
    return 0


def _usual_flavour(vnf: MachinesVnfSpec, options: Mapping[str, Any]) -> str:
    """Return the deployment flavour for which there is an image; where none has one, or one is named, that of all."""
    own = next((one.name for one in vnf.flavours if one.image is not None), "")
    return own if own and not options["parameters"] else one_flavour(vnf, options)


def _template(
    project: Project, vnf: MachinesVnfSpec, variant: Variant, options: Mapping[str, Any]
) -> tuple[GivenDescriptor, bytes]:
    """Return the legacy template of the flavour, with what is given for it, and its content.

    Raises:
        PrerequisiteError, OnboardError: the flavour's own image is not there, or is another one.
    """
    request = _request(project, vnf, variant, options)
    flavour = request.flavour(options["flavour"])
    content = dump(legacy.template(request, flavour.name)).encode()
    given = _given(project, vnf, options, ".yaml")
    inputs = tuple(legacy.image_input(one) for one in flavour.machines)
    declared = vnf.form(flavour.name)
    if declared.image is None or set(inputs) & set(given.parameters):
        return given, content
    file = _image_file(project, vnf, declared.image)
    return replace(given, image=GivenImage(vnf.name, file, inputs), console=declared.console), content


def _package(
    project: Project, vnf: MachinesVnfSpec, variant: Variant, options: Mapping[str, Any]
) -> tuple[GivenDescriptor, bytes]:
    """Return the package of the flavour, with what is given for it, and its content.

    Raises:
        UnsupportedError: the flavour has no image: a package names one with its digest.
        PrerequisiteError, OnboardError: the image is not there, or is another one.
    """
    declared = vnf.form(options["flavour"])
    if declared.image is None:
        raise UnsupportedError(
            f"flavour {options['flavour']} of VNF {vnf.name} has no image of its own",
            where=f"vnfd/{vnf.name}/{VNF_FILE}",
            observed="a package (SOL001) names an image with its digest",
            fix=f"nfvbed package {vnf.name} --image-file FILE, and onboard that package",
        )
    file = _image_file(project, vnf, declared.image)
    named = {"image": cloud_images.name_of(vnf.name, file), "image_file": str(file.path)}
    request = _request(project, vnf, variant, {**options, **named}, digests=True)
    given = _given(project, vnf, options, ".csar", flavour=options["flavour"])
    made = replace(
        given,
        networks={port.name: port.network for port in request.flavour(options["flavour"]).outer},
        parameters={**sol.instantiation()["additionalParams"], **given.parameters},
        image=GivenImage(vnf.name, file, ()),
        console=declared.console,
        made=True,
    )
    return made, csar.write(package.files(request))


def _given(
    project: Project, vnf: MachinesVnfSpec, options: Mapping[str, Any], ending: str, flavour: str | None = None
) -> GivenDescriptor:
    """Return a descriptor that is yet to be written; `--network` is of links, and in it already."""
    path = below(project.root / _MADE, f"{vnf.name}-{options['flavour']}{ending}")
    called = options["called"] or vnf.name
    return descriptor_of(str(path), {**options, "networks": (), "flavour": flavour, "called": called})


def _image_file(project: Project, vnf: MachinesVnfSpec, declared: ImageSpec) -> Image:
    return image_files.find(declared, project.root, f"vnfd/{vnf.name}/{VNF_FILE}")


def _request(
    project: Project, vnf: MachinesVnfSpec, variant: Variant, options: Mapping[str, Any], *, digests: bool = False
) -> MachinesRequest:
    direct = check.needs_direct(vnf, project.load_flavor(vnf.flavor), variant)
    return made_request(project, vnf, options, digests=digests, direct=direct)


def _mismatches(
    project: Project, vnf: MachinesVnfSpec, on: tuple[Site | None, Variant], options: Mapping[str, Any]
) -> list[Mismatch]:
    """Compare machines with their flavors, the variant and the site; on a site that cannot be opened, without that."""
    site, variant = on
    bare = () if site is None else site.fit(variant, BARE, None)
    if bare:
        return list(bare)
    document = read_document(project.vnf_file(vnf.name))
    try:
        request = _request(project, vnf, variant, options)
    except UnsupportedError as failure:
        subjects = {"placement": "placement", "config": "network"}
        subject = next((name for word, name in subjects.items() if word in failure.where), "ports")
        return [mismatch_of(failure, subject)]
    flavour = options["flavour"]
    found = check.check(request, flavour, check.Checked(document, variant))
    return found if site is None else found + _on_host(request, document, (flavour, variant), site)


def _on_host(request: MachinesRequest, document: Document, of: tuple[str, Variant], site: Site) -> list[Mismatch]:
    """Compare with the one compute that a cloud on this machine has; on another one nothing is known."""
    flavour, variant = of
    try:
        host = site.guest_host(variant, 1)
    except (UnsupportedError, ConfigurationError) as failure:
        return [mismatch_of(failure, "cores")]
    if host is None:
        return []
    found, deployed = check.unplaced(request, flavour, document), site.find_deployed()
    if deployed is None or deployed.vnf is None:
        sizes = {one.name: hostfit.with_pages(one.flavor) for one in request.flavour(flavour).machines}
        found += hostfit.check_together(sizes, host)
    return found
