"""`nfvbed package`: write the descriptor of a VNF, its package, or Heat's template; or check someone's package."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UsageError
from nfvbed.records import VnfKind
from nfvbed.sites.openstack.instances import DATA_NETWORKS
from nfvbed.spec.choices import default_forwarding, possible_forwarding
from nfvbed.spec.document import parse_document
from nfvbed.spec.loader import Project
from nfvbed.spec.vnf import VnfChoice, VnfSpec, VnfUse
from nfvbed.vnfs.descriptors import csar, legacy, parsing, sol, translate
from nfvbed.vnfs.descriptors.model import CloudImage, DescriptorRequest, checksums, request_of, version_of
from nfvbed.vnfs.descriptors.novaflavor import extra_specs
from nfvbed.vnfs.descriptors.yamltext import dump

_MANAGEMENT = "mgmt"
_FORMS = ("legacy", "sol", "hot")
_ENDINGS = {"legacy": ".yaml", "sol": ".csar", "hot": ".hot.yaml"}


@click.command(name="package")
@click.argument("vnf", metavar="VNF|FILE")
@click.option("--form", type=click.Choice(_FORMS), default="sol", show_default=True, help="A package, or a YAML file.")
@click.option("--output", metavar="FILE", help="Default: VNF.csar, VNF.yaml, VNF.hot.yaml here. -: standard output.")
@click.option("--forwarding", metavar="MODE", help="What it does with frames. Default: the VNF's first.")
@click.option("--flavor", metavar="NAME", help="A name in flavors. Default: the VNF's.")
@click.option("--image", metavar="NAME", help="Name of the image in Glance. Default: the VNF's name.")
@click.option("--with-image", is_flag=True, help="Put the image into the package; Tacker uploads it with each VNF.")
@click.option("--network", "networks", multiple=True, metavar="PORT=NAME", help="Network of a port; several times.")
@click.option("--most", default=1, type=click.IntRange(1, 16), help="Instances that it can be scaled to. Default: 1.")
def command(vnf: str, form: str, output: str | None, **options: Any) -> None:
    """Write what Tacker takes of VNF (a name in vnfd), made from its vnf.yml; FILE (a CSAR): only check it."""
    project = open_project()
    if vnf not in project.vnf_names and Path(vnf).is_file():
        click.echo(_checked(Path(vnf)))
        return
    content = _content(form, _request(project, vnf, options))
    if output == "-":
        sys.stdout.buffer.write(content)
        return
    path = Path(output or f"{vnf}{_ENDINGS[form]}")
    try:
        path.write_bytes(content)
    except OSError as failure:
        raise UsageError("the file cannot be written", where=str(path), observed=failure.strerror or "") from failure
    click.echo(f"{path}: {len(content)} bytes")


def _checked(path: Path) -> str:
    package = csar.read(path)
    parsing.parse_package(package)
    flavours = ", ".join(translate.flavours(package)) or "one, without an id"
    external = f"; not fetched: {', '.join(package.external)}" if package.external else ""
    return (
        f"{path}: {len(package.archive.sizes)} members, {len(package.hashed)} hashes are right, "
        f"entry {package.entry}, flavours: {flavours}{external}"
    )


def _request(project: Project, vnf: str, options: dict[str, Any]) -> DescriptorRequest:
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
    made = request_of(choice, networks, image, extra_specs(choice.flavor))
    return replace(made, most_instances=options["most"])


def _networks(spec: VnfSpec, given: tuple[str, ...]) -> dict[str, str]:
    data = iter(DATA_NETWORKS)
    found = {port.name: _MANAGEMENT if port.role == "management" else next(data) for port in spec.ports}
    for text in given:
        port, sign, network = text.partition("=")
        if not sign or not network:
            raise UsageError("--network names a port and a network", observed=repr(text), fix="--network in=data0")
        found[port] = network
    return found


def _image(project: Project, spec: VnfSpec, name: str, *, packed: bool) -> CloudImage:
    if spec.image is None:
        return CloudImage(name)
    file = project.root / spec.image.file
    return CloudImage(name, file if packed else None, checksums(file), version_of(file))


def _content(form: str, request: DescriptorRequest) -> bytes:
    if form == "sol":
        return csar.write(sol.files(request))
    text = dump(legacy.template(request))
    if form == "legacy":
        return text.encode()
    hot = translate.legacy_hot(parse_document(Path(f"{request.vnf.name}.yaml"), text))
    nested = [f"# {name}\n{content}" for name, content in hot.files.items()]
    return "---\n".join([hot.template, *nested]).encode()
