"""What `nfvbed package` writes of a VNF of several machines."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from nfvbed.cli.machine_options import made_request, one_flavour, refuse_options
from nfvbed.spec.document import parse_document
from nfvbed.spec.loader import Project
from nfvbed.spec.machines import MachinesVnfSpec
from nfvbed.vnfs.descriptors import csar, translate
from nfvbed.vnfs.descriptors.machines import legacy, package
from nfvbed.vnfs.descriptors.machines.model import MachinesRequest
from nfvbed.vnfs.descriptors.yamltext import dump


def machines_content(project: Project, vnf: MachinesVnfSpec, form: str, options: Mapping[str, Any]) -> bytes:
    """Return a package with its deployment flavours, or the template or HOT of one flavour.

    Raises:
        UsageError, ConfigurationError: an option names what there is not; a package lacks its image's digest.
        UnsupportedError: groups are to be apart in a way that Nova has no rule for.
    """
    most = None if options["most"] == 1 else options["most"]
    refuse_options(vnf, {**options, "most": most}, ("forwarding", "flavor", "most"))
    if form == "sol":
        request = made_request(project, vnf, options, digests=True)
        _tell_of_placement(request)
        return csar.write(package.files(request))
    flavour = one_flavour(vnf, options)
    request = made_request(project, vnf, {**options, "flavour": flavour}, digests=False)
    _tell_of_placement(request)
    text = dump(legacy.template(request, flavour))
    return text.encode() if form == "legacy" else hot_of(vnf.name, text)


def hot_of(name: str, text: str) -> bytes:
    """Return what heat-translator makes of a template, with nested ones after it."""
    hot = translate.legacy_hot(parse_document(Path(f"{name}.yaml"), text))
    nested = [f"# {member}\n{content}" for member, content in hot.files.items()]
    return "---\n".join([hot.template, *nested]).encode()


def _tell_of_placement(request: MachinesRequest) -> None:
    soft = any(not group.strict for flavour in request.flavours for group in flavour.groups)
    if soft:
        click.echo("placement is wished for and not required: --placement strict, --zone GROUP=ZONE", err=True)
