"""`nfvbed package`: write the descriptor of a VNF, its package, or Heat's template; or check a given package."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from nfvbed.cli.completion import FLAVOR, VNF_OR_FILE
from nfvbed.cli.descriptor_files import checked
from nfvbed.cli.descriptor_options import is_file, pairs, trust_of, trusted_option
from nfvbed.cli.machine_options import (
    given_of,
    machine_options,
    one_flavour,
    refuse_machine_options,
    refuse_options,
    several_machines,
)
from nfvbed.cli.standard_streams import STANDARD
from nfvbed.cloud.instances import DATA_NETWORKS, MANAGEMENT_NETWORK
from nfvbed.cloud.novaflavor import extra_specs
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UsageError
from nfvbed.records import VnfKind
from nfvbed.spec.choices import default_forwarding, possible_forwarding
from nfvbed.spec.loader import Project
from nfvbed.spec.machines import MachinesVnfSpec
from nfvbed.spec.vnf import VnfChoice, VnfSpec, VnfUse
from nfvbed.vnfs.descriptors import onemachine, written
from nfvbed.vnfs.descriptors.cloudimage import CloudImage, checksums, version_of
from nfvbed.vnfs.descriptors.machines import descriptor as several
from nfvbed.vnfs.descriptors.model import VnfDescriptor
from nfvbed.wholefile import write_output

_FORMS = ("legacy", "sol", "hot")
_ENDINGS = {"legacy": ".yaml", "sol": ".csar", "hot": ".hot.yaml"}


@click.command(name="package")
@click.argument("vnf", type=VNF_OR_FILE, metavar="VNF|FILE")
@click.option("--form", type=click.Choice(_FORMS), default="sol", show_default=True, help="A package, or a YAML file.")
@click.option("--output", metavar="FILE", help="Default: VNF.csar, VNF.yaml, VNF.hot.yaml here. -: standard output.")
@click.option("--forwarding", metavar="MODE", help="What it does with frames. Default: the VNF's first.")
@click.option(
    "--flavor", "--flavour", "flavor", type=FLAVOR, metavar="NAME", help="A name in flavors. Default: the VNF's."
)
@click.option("--image", metavar="NAME", help="Name of the image in Glance. Default: the VNF's name.")
@click.option("--with-image", is_flag=True, help="Put the image into the package; Tacker uploads it with each VNF.")
@click.option(
    "--network",
    "networks",
    multiple=True,
    metavar="PORT=NAME",
    help="Network of a port (several machines: of a link); several times.",
)
@click.option("--image-file", metavar="FILE", help="Several machines: their image. Default: the VNF's.")
@click.option(
    "--deployment-flavour",
    "flavour",
    metavar="NAME",
    help="VNF of several machines: its deployment flavour (SOL001). Default: a package has all.",
)
@machine_options
@trusted_option
@click.option("--most", default=1, type=click.IntRange(1, 16), help="Instances that it can be scaled to. Default: 1.")
def command(vnf: str, form: str, output: str | None, **options: Any) -> None:
    """Write what Tacker takes of VNF (a name in vnfd), made from its vnf.yml.

    FILE: only check it, whatever descriptor it is: a package (CSAR), a template, a SOL001 descriptor, a vnf.yml.
    """
    project = open_project()
    trusted = options.pop("trusted")
    if is_file(vnf, project.vnf_names):
        click.echo(checked(project, Path(vnf), trust_of(trusted)))
        return
    if trusted:
        raise UsageError("--trusted is of a package in a file", fix="give the file's path, or leave it out")
    machines = several_machines(project, vnf)
    if machines is not None:
        content = _of_several(project, machines, form, options)
    else:
        _refuse_for_one(options)
        content = written.as_file(_of_one(project, vnf, options), form)
    if output == STANDARD:
        sys.stdout.buffer.write(content)
        return
    path = Path(output or f"{vnf}{_ENDINGS[form]}")
    write_output(path, content, "the descriptor")
    click.echo(f"{path}: {len(content)} bytes")


def _refuse_for_one(options: dict[str, Any]) -> None:
    refuse_machine_options(options)
    for key, option in (("image_file", "--image-file"), ("flavour", "--deployment-flavour")):
        if options.pop(key):
            raise UsageError(f"{option} is of a VNF of several machines", fix="leave it out")


def _of_one(project: Project, vnf: str, options: dict[str, Any]) -> VnfDescriptor:
    use = VnfUse(vnf=vnf, kind=VnfKind.VM)
    spec = project.load_vnf(vnf)
    known = possible_forwarding(use, spec)
    forwarding = options["forwarding"] or default_forwarding(use, spec)
    if forwarding not in known:
        raise UsageError(f"VNF {vnf} cannot forward so", observed=repr(forwarding), fix=f"one of {', '.join(known)}")
    choice = VnfChoice(
        label=use.label,
        vnf=spec,
        kind=VnfKind.VM,
        forwarding=forwarding,
        flavor=project.load_flavor(options["flavor"] or spec.flavor),
        image=spec.image,
    )
    networks = _networks(spec, options["networks"])
    image = _image(project, spec, options["image"] or vnf, packed=options["with_image"])
    return onemachine.descriptor_of(choice, networks, image, extra_specs(choice.flavor), most_instances=options["most"])


def _of_several(project: Project, vnf: MachinesVnfSpec, form: str, options: Mapping[str, Any]) -> bytes:
    """Return a package with its deployment flavours, or the template or HOT of one flavour.

    Raises:
        UsageError, ConfigurationError: an option names what there is not; a package lacks its image's digest.
        UnsupportedError: groups are to be apart in a way that Nova has no rule for.
    """
    most = None if options["most"] == 1 else options["most"]
    refuse_options(vnf, {**options, "most": most}, ("forwarding", "flavor", "most"))
    named = options["flavour"] if form == "sol" else one_flavour(vnf, options)
    given = given_of(project, vnf, options, digests=form == "sol")
    made = several.descriptor_of(vnf, given, (named,) if named else ())
    if any(not group.strict for flavour in made.flavours for group in flavour.groups):
        click.echo("placement is wished for and not required: --placement strict, --zone GROUP=ZONE", err=True)
    return written.as_file(made, form)


def _networks(spec: VnfSpec, given: tuple[str, ...]) -> dict[str, str]:
    data = iter(DATA_NETWORKS)
    found = {p.name: MANAGEMENT_NETWORK if p.role == "management" else next(data) for p in spec.ports}
    return found | pairs("--network", given, "in=data0")


def _image(project: Project, spec: VnfSpec, name: str, *, packed: bool) -> CloudImage:
    if spec.image is None:
        return CloudImage(name)
    file = project.root / spec.image.file
    return CloudImage(name, file if packed else None, checksums(file), version_of(file))
