"""`nfvbed onboard` of a VNF of several machines, on a site that is an OpenStack: compared, described, and onboarded."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from nfvbed.cli.descriptor_options import onboard_descriptor, pairs, parameters_of
from nfvbed.cli.entering import open_site
from nfvbed.cli.machine_options import given_of, one_flavour, refuse_options
from nfvbed.cli.onboard_check import named_variant, opened, report
from nfvbed.cli.support import require_deployable, variant_name
from nfvbed.cli.vnf_options import KEYS as VNF_KEYS
from nfvbed.errors import ConfigurationError, UnsupportedError, UsageError
from nfvbed.host.qemu import images as image_files
from nfvbed.sites.openstack import images as cloud_images
from nfvbed.sites.openstack.paths import BARE
from nfvbed.sites.site import Site
from nfvbed.spec.below import below
from nfvbed.spec.document import read_document
from nfvbed.spec.loader import VNF_FILE, Project
from nfvbed.spec.machines import MachinesVnfSpec
from nfvbed.spec.site import SiteSpec
from nfvbed.spec.validate import suggestion
from nfvbed.spec.variant import Variant
from nfvbed.vnfs.descriptors import hostfit, legacy, written
from nfvbed.vnfs.descriptors.descriptorfit import DescriptorFit
from nfvbed.vnfs.descriptors.epa import Mismatch, mismatch_of, require_fit
from nfvbed.vnfs.descriptors.machines import check
from nfvbed.vnfs.descriptors.machines.descriptor import DeploymentInputs, descriptor_of, guests_of
from nfvbed.vnfs.descriptors.machines.projectvnf import ProjectVnf
from nfvbed.vnfs.descriptors.model import Flavour
from nfvbed.vnfs.descriptors.onboardable import Form, RequiredImage
from nfvbed.wholefile import write_output

_REFUSED = (*VNF_KEYS, "level", "offload_price", "topology")
_MADE = Path(".nfvbed", "descriptors")
"""Below the project's root: descriptors as they were onboarded, but for a deployment's id and secret."""


def onboard_machines(project: Project, vnf: MachinesVnfSpec, site: SiteSpec, options: dict[str, Any]) -> int:
    """Onboard the VNF through the site's API of Tacker, in one deployment flavour, or print what does not fit.

    Args:
        site: an OpenStack.
        options: those of the command line, with `variant` and `as_json`.

    Returns:
        The exit code.

    Raises:
        UsageError, ConfigurationError, UnsupportedError: what is asked for does not exist, or does not fit.
        OnboardError: the onboarding failed; nothing of it is left.
    """
    refuse_options(vnf, options, _REFUSED)
    name, flavour = options["variant"] or site.only_variant, options["flavour"] or _usual_flavour(vnf, options)
    chosen = {**options, "flavour": flavour}
    if options["check"]:
        checked_on, closed = opened(site, project)
        variant = project.load_variant(named_variant(name, checked_on), site)
        fit = DescriptorFit((*_mismatches(project, vnf, (checked_on, variant), chosen), *closed))
        return report(
            f"{vnf.name} (flavour {flavour}) on {variant.name} ({site.name})", fit, as_json=options["as_json"]
        )
    place = open_site(site, project.root)
    existing = place.find_deployed()
    variant = project.load_variant(variant_name(name, existing, site, place), site)
    require_fit(_mismatches(project, vnf, (place, variant), chosen))
    found = _project_vnf(project, vnf, (place, variant), chosen)
    path, content = _kept(project, found)
    again = require_deployable(place, variant, existing)
    if options["dry_run"]:
        if again:
            click.echo(again)
        click.echo(f"{vnf.name} (flavour {flavour}) would be onboarded as {found.name} on {variant.name}")
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    write_output(path, content, "the descriptor", "make room there")
    onboard_descriptor(place, variant, found, options["as_json"])
    return 0


def _usual_flavour(vnf: MachinesVnfSpec, options: Mapping[str, Any]) -> str:
    """Return the deployment flavour for which there is an image; where none has one, or one is named, that of all."""
    own = next((one.name for one in vnf.flavours if one.image is not None), "")
    return own if own and not options["parameters"] else one_flavour(vnf, options)


def _project_vnf(
    project: Project, vnf: MachinesVnfSpec, on: tuple[Site, Variant], options: Mapping[str, Any]
) -> ProjectVnf:
    """Return the deployment flavour with what is given for it, in the form that the site takes.

    Raises:
        UsageError: an input is given that its template does not have.
        UnsupportedError: it is to be a package, and the flavour has no image: a package names one with its digest.
        PrerequisiteError, OnboardError: the flavour's own image is not there, or is another one.
    """
    site, variant = on
    form = Form.TEMPLATE if site.descriptor_form == "legacy" else Form.PACKAGE
    values = parameters_of(options["parameters"])
    made = ProjectVnf(
        name=options["called"] or vnf.name,
        form=form,
        source=f"vnfd/{vnf.name}/{VNF_FILE}",
        vnf=vnf,
        flavour=options["flavour"],
        given=_given(project, vnf, variant, options),
        values=values,
    )
    if form is Form.TEMPLATE:
        _require_inputs(values, legacy.inputs(made.descriptor().only), made.source)
    made = _renamed(made, pairs("--name", options["names"]))
    images = {legacy.input_name("image", one) for one in made.descriptor().only.machines}
    is_named = form is Form.TEMPLATE and bool(images & set(values))
    return made if is_named else _with_image(project, made, variant, options)


def _with_image(project: Project, made: ProjectVnf, variant: Variant, options: Mapping[str, Any]) -> ProjectVnf:
    """Return the VNF with its flavour's own image, and with the console that says when the image is ready.

    Raises:
        UnsupportedError, PrerequisiteError, OnboardError: as `_project_vnf`.
    """
    vnf, declared = made.vnf, made.vnf.form(made.flavour)
    if declared.image is None and made.form is Form.TEMPLATE:
        return made
    if declared.image is None:
        raise UnsupportedError(
            f"flavour {made.flavour} of VNF {vnf.name} has no image of its own",
            where=made.source,
            observed="a package (SOL001) names an image with its digest",
            fix=f"nfvbed package {vnf.name} --image-file FILE, and onboard that package",
        )
    file = image_files.find(declared.image, project.root, made.source)
    named = {"image": cloud_images.name_of(vnf.name, file), "image_file": str(file.path)}
    given = _given(project, vnf, variant, {**options, **named}, digests=made.form is Form.PACKAGE)
    return replace(
        made,
        given=replace(given, networks=made.given.networks),
        image=RequiredImage(vnf.name, file),
        console=declared.console,
    )


def _require_inputs(values: Mapping[str, Any], known: Mapping[str, Any], source: str) -> None:
    for name in values:
        if name not in known:
            raise UsageError(
                f"the template of {source} has no input {name!r}",
                where=source,
                observed=", ".join(known),
                fix=suggestion(name, list(known)),
            )


def _renamed(made: ProjectVnf, names: Mapping[str, str]) -> ProjectVnf:
    """Return the VNF with the cloud's own names for networks of its links and for what its inputs name.

    Raises:
        UsageError: the VNF has no such name; or it is to be a package, whose names are the request's.
    """
    if not names:
        return made
    if made.form is Form.PACKAGE:
        raise UsageError(f"{made.source} becomes a package, which has no names", fix="--network LINK=NAME")
    flavour = made.descriptor().only
    networks = {one.name: one.network for one in flavour.links if not one.made}
    values = {name: one["default"] for name, one in legacy.inputs(flavour).items()} | dict(made.values)
    there = sorted({*networks.values(), *map(str, values.values())})
    for name in names:
        if name not in there:
            raise UsageError(
                f"{made.source} names nothing of the cloud's {name!r}",
                where=made.source,
                observed=", ".join(there),
                fix=suggestion(name, there),
            )
    given = {link: names[network] for link, network in networks.items() if network in names}
    return replace(
        made,
        given=replace(made.given, networks={**made.given.networks, **given}),
        values={**made.values, **{key: names[str(one)] for key, one in values.items() if str(one) in names}},
    )


def _kept(project: Project, found: ProjectVnf) -> tuple[Path, bytes]:
    """Return where its descriptor is kept, and its content; `--network` is of links, and in it already."""
    form, ending = ("sol", ".csar") if found.form is Form.PACKAGE else ("legacy", ".yaml")
    path = below(project.root / _MADE, f"{found.vnf.name}-{found.flavour}{ending}")
    return path, written.as_file(found.descriptor(), form)


def _given(
    project: Project, vnf: MachinesVnfSpec, variant: Variant, options: Mapping[str, Any], *, digests: bool = False
) -> DeploymentInputs:
    direct = check.needs_direct(vnf, project.load_flavor(vnf.flavor), variant)
    return given_of(project, vnf, options, digests=digests, direct=direct)


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
        given = _given(project, vnf, variant, options)
        flavour = descriptor_of(vnf, given, (options["flavour"],)).only
    except UnsupportedError as failure:
        subjects = {"placement": "placement", "config": "network"}
        subject = next((name for word, name in subjects.items() if word in failure.where), "ports")
        return [mismatch_of(failure, subject)]
    against = check.CheckContext(document, variant, given.flavors)
    found = check.check(vnf, flavour, against)
    if site is None:
        return found
    unreached = site.fit_networks(variant, vnf.name, flavour)
    # What never fits is said without what does not fit just now.
    return [*found, *unreached] if unreached else found + _on_host((vnf, flavour), against, site)


def _on_host(of: tuple[MachinesVnfSpec, Flavour], against: check.CheckContext, site: Site) -> list[Mismatch]:
    """Compare with the one compute that a cloud on this machine has; on another one nothing is known."""
    vnf, flavour = of
    try:
        host = site.guest_host(against.variant, 1)
    except (UnsupportedError, ConfigurationError) as failure:
        return [mismatch_of(failure, "cores")]
    if host is None:
        return []
    found, deployed = check.unplaced(vnf, flavour, against.document), site.find_deployed()
    if deployed is None or deployed.vnf is None:
        sizes = {one.name: hostfit.with_pages(against.flavors[one.flavor]) for one in guests_of(vnf, flavour.name)}
        found += hostfit.check_together(sizes, host)
    return found
