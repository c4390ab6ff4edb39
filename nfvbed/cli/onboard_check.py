"""`nfvbed onboard --check`: whether VNF, flavor, variant and site fit together, line by line; nothing is changed.

What is asked here is what the command asks without `--check`, before it begins: `Site.fit` and `Site.fit_descriptor`.
"""

import json
from typing import Any

import click

from nfvbed.cli.entering import open_site
from nfvbed.cli.vnf_options import asked_for
from nfvbed.cloud.novaflavor import PREFIX, extra_specs
from nfvbed.errors import ConfigurationError, OnboardError, PrerequisiteError, UnsupportedError, UsageError
from nfvbed.records import VnfKind
from nfvbed.sites.site import Site, misfits_of_path
from nfvbed.spec.choices import explicit_label
from nfvbed.spec.loader import Project
from nfvbed.spec.site import SiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.descriptors import descriptorfit
from nfvbed.vnfs.descriptors.descriptorfile import ParsedDescriptor
from nfvbed.vnfs.descriptors.descriptorfit import DescriptorFit
from nfvbed.vnfs.descriptors.epa import Mismatch, mismatch_of


def check_fit(
    project: Project, site: SiteSpec, topology: str, asked: tuple[str, str | None, dict[str, Any]], *, as_json: bool
) -> int:
    """Print what does not fit; return the exit code: 0 where everything does, that of a bad configuration where not.

    Args:
        asked: the VNF's name, the variant's, and the options of the VNF.

    Raises:
        UsageError: no variant is named, or the options do not describe a VNF.
        ConfigurationError: a file is not valid.
    """
    vnf, variant_name, options = asked
    if site.has_nova and options.get("kind") is None:
        options = options | {"kind": VnfKind.VM.value}
    place, closed = opened(site, project)
    variant = project.load_variant(named_variant(variant_name, place), site)
    choice, own = asked_for(project, variant, topology, vnf, options)
    if place is None:
        found = DescriptorFit((*misfits_of_path(variant, topology, choice), *closed))
    else:
        found = DescriptorFit(place.fit(variant, topology, choice), _not_there(place, topology, choice))
    found += DescriptorFit(notes=tuple(filter(None, (own,))))
    name = f"{vnf} ({explicit_label(choice)}, flavor {choice.flavor.name}) on {variant.name} ({topology}, {site.name})"
    return report(name, found, as_json=as_json)


def check_given(
    project: Project, site: SiteSpec | None, variant_name: str | None, found: ParsedDescriptor, *, as_json: bool
) -> int:
    """Print what in a descriptor does not fit; return the exit code, as `check_fit` does.

    Args:
        site: where it would be onboarded; None: none is named, and the variant alone is compared.

    Raises:
        UsageError: no variant is named.
        ConfigurationError: a part of the descriptor cannot be read.
    """
    place = None if site is None or variant_name is not None else opened(site, project)[0]
    variant = project.load_variant(named_variant(variant_name, place), site)
    if site is None:
        fit = descriptorfit.fit(found, variant, _own_flavors(project))
        fit += DescriptorFit(
            notes=("what it names is not compared with a cloud: --site names one that is an OpenStack",)
        )
    else:
        fit = _on_site(project, site, variant, found)
    where = "" if site is None else f" ({site.name})"
    return report(f"{found.given.path} ({found.form.value}) on {variant.name}{where}", fit, as_json=as_json)


def _on_site(project: Project, site: SiteSpec, variant: Variant, found: ParsedDescriptor) -> DescriptorFit:
    place, closed = opened(site, project)
    if place is not None:
        try:
            return place.fit_descriptor(variant, found)
        except UnsupportedError as failure:
            closed = (mismatch_of(failure, "site"),)
    return descriptorfit.fit(found, variant, _own_flavors(project)) + DescriptorFit(closed)


def named_variant(name: str | None, place: Site | None) -> str:
    """Return the name of the variant to compare with: the one that a rack has, where none is named.

    Args:
        place: the site; None: none is named, or nothing runs there.

    Raises:
        UsageError: none is named.
    """
    standing = () if name is not None or place is None else place.standing_variants()
    if len(standing) == 1:
        return standing[0]
    if name is None:
        raise UsageError("--check compares with a variant, and none is named", fix="give --variant VARIANT")
    return name


def opened(site: SiteSpec, project: Project) -> tuple[Site | None, tuple[Mismatch, ...]]:
    """Return a site; or None, and why nothing can be onboarded on it now."""
    try:
        return open_site(site, project.root), ()
    except UnsupportedError as failure:
        return None, (mismatch_of(failure, "site"),)


def report(name: str, found: DescriptorFit, *, as_json: bool) -> int:
    """Print what does not fit, each once, and the notes; return the exit code.

    Args:
        name: what was compared with what.
    """
    distinct = list({str(one): one for one in found.mismatches}.values())
    notes = list(dict.fromkeys(found.notes))
    if as_json:
        document = {"vnf": name, "mismatches": [one.shown for one in distinct], "notes": notes}
        click.echo(json.dumps(document, indent=2))
    else:
        click.echo(f"{name}: " + ("everything fits" if not distinct else f"{len(distinct)} do not fit"))
        for one in distinct:
            click.echo(f"  {one}")
        for note in notes:
            click.echo(f"  note: {note}")
    return ConfigurationError.exit_code if distinct else 0


def _not_there(place: Site, topology: str, choice: VnfChoice) -> tuple[str, ...]:
    """Return which file of a VNF is still to be made: that is no misfit."""
    try:
        place.prepare(topology, choice)
    except (PrerequisiteError, OnboardError) as failure:
        said = ": ".join(filter(None, (failure.what, failure.where)))
        return (f"not there yet: {said}; {failure.fix}",)
    except UnsupportedError:
        return ()  # among what does not fit
    return ()


def _own_flavors(project: Project) -> dict[str, dict[str, str]]:
    return {PREFIX + name: extra_specs(project.load_flavor(name)) for name in project.flavor_names}
