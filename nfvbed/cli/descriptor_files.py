"""`nfvbed onboard FILE` and `nfvbed package FILE`: the file is read, and compared, before anything else."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from nfvbed.cli.descriptor_options import descriptor_of, onboard_descriptor, refuse_others
from nfvbed.cli.entering import open_site
from nfvbed.cli.machine_options import refuse_machine_options
from nfvbed.cli.onboard_check import check_given
from nfvbed.cli.support import require_deployable, variant_name
from nfvbed.errors import UsageError
from nfvbed.spec.loader import Project
from nfvbed.spec.machines import MachinesVnfSpec
from nfvbed.vnfs.descriptors import csar, descriptorfile, foreign, imports, parsing, shape
from nfvbed.vnfs.descriptors.csar import Package
from nfvbed.vnfs.descriptors.epa import require_fit
from nfvbed.vnfs.descriptors.imports import Definitions, Folder
from nfvbed.vnfs.descriptors.onboardable import Form
from nfvbed.vnfs.descriptors.signature import TrustedCertificates


def vnf_of_file(project: Project, path: str, options: dict[str, Any]) -> tuple[Project, str] | None:
    """Return the VNF of a `vnf.yml`, with the project that has it; None: the file is a given descriptor.

    Raises:
        ConfigurationError: the file is no descriptor, or not valid; the message says what it is, and the line.
        UsageError: the file is not in the project, and more than a check is asked for.
    """
    if descriptorfile.form_of(Path(path)) is not Form.OWN:
        return None
    found, name = project.with_vnf_file(Path(path))
    if found is not project and not options["check"]:
        raise UsageError(
            f"VNF {name} is not among those of this project",
            where=path,
            observed=f"nfvbed onboards VNFs by their names: {', '.join(project.vnf_names) or 'none'}",
            fix=f"put the file into {project.vnf_file(name)}; --check compares it where it is",
        )
    return found, name


def onboard_file(project: Project, path: str, options: dict[str, Any]) -> int:
    """Onboard the VNF of a given descriptor, or print what would be onboarded, or what does not fit.

    Returns:
        The exit code.

    Raises:
        ConfigurationError, UsageError: the file is not valid, or does not fit; nothing was changed.
        UnsupportedError: the site takes no descriptors.
    """
    refuse_machine_options(options)
    refuse_others(options)
    found = descriptorfile.read(descriptor_of(path, options))
    site_spec = project.load_site(options["site"])
    if options["check"]:
        is_named = click.get_current_context().get_parameter_source("site") is not ParameterSource.DEFAULT
        site = site_spec if is_named else None
        return check_given(project, site, options["variant"], found, as_json=options["as_json"])
    place = open_site(site_spec, project.root)
    existing = place.find_deployed()
    wanted = project.load_variant(variant_name(options["variant"], existing, site_spec, place), site_spec)
    fit = place.fit_descriptor(wanted, found)
    require_fit(fit.mismatches)
    again = require_deployable(place, wanted, existing)
    if options["dry_run"]:
        for note in (*fit.notes, *filter(None, (again,))):
            click.echo(note, err=True)
        click.echo(f"{found.given.path} would be onboarded as {found.given.name} on {wanted.name}")
        return 0
    onboard_descriptor(place, wanted, found, options["as_json"])
    return 0


def checked(project: Project, path: Path, trust: TrustedCertificates) -> str:
    """Return a line about a valid descriptor, of whatever form; no cloud is asked.

    Args:
        trust: whom a package may be signed by.

    Raises:
        ConfigurationError: the file is no descriptor, or not valid; the message has the line.
        PrerequisiteError: tosca-parser, or ETSI's type files, are missing.
    """
    form = descriptorfile.form_of(path)
    if form is Form.OWN:
        return _own(project, path)
    if form is Form.TEMPLATE:
        return _template(path)
    found = csar.read(path, trust) if form is Form.PACKAGE else imports.read(Folder(path), path.name)
    parsing.parse_package(found)
    return _definitions(path, found)


def _own(project: Project, path: Path) -> str:
    found, name = project.with_vnf_file(path)
    vnf = found.load_vnf(name)
    machines = f", machines {', '.join(one.name for one in vnf.machines)}" if isinstance(vnf, MachinesVnfSpec) else ""
    return f"{path}: VNF {name} of nfvbed's own form, kinds {', '.join(vnf.kinds)}{machines}"


def _template(path: Path) -> str:
    document = shape.template(foreign.read(path))
    parsing.parse_legacy(document)
    descriptorfile.require_machines(document)
    wanted = descriptorfile.inputs_without_value(document)
    asked = f"; --param gives values of {', '.join(wanted)}" if wanted else ""
    return f"{path}: a template, nodes {', '.join(name for name, _ in shape.nodes(document))}{asked}"


def _definitions(path: Path, found: Definitions) -> str:
    flavours = ", ".join(imports.flavours(found)) or "one, without an id"
    notes = "".join(f"\n  {note}" for note in found.notes)
    if not isinstance(found, Package):
        return f"{path}: a SOL001 descriptor, flavours: {flavours}; Tacker takes it within a package (CSAR){notes}"
    external = f"; not fetched: {', '.join(found.external)}" if found.external else ""
    counted = f"{len(found.archive.sizes)} members, {len(found.hashed)} hashes are right"
    signed = descriptorfile.signed_line(found)
    return f"{path}: {counted}, {signed}; entry {found.entry}, flavours: {flavours}{external}{notes}"
