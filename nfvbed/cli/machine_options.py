"""The options of VNFs of several machines, and what these give to their descriptors."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from nfvbed.cli.descriptor_options import KEYS as DESCRIPTOR_KEYS
from nfvbed.cli.descriptor_options import pairs
from nfvbed.errors import UsageError
from nfvbed.spec.loader import Project
from nfvbed.spec.machines import DEFAULT_FLAVOUR, MachinesVnfSpec
from nfvbed.vnfs.descriptors.cloudimage import CloudImage, checksums, version_of
from nfvbed.vnfs.descriptors.machines.descriptor import DeploymentInputs, guests_of

Command = TypeVar("Command", bound=Callable[..., Any])
KEYS = ("zones", "placement")
_PLACEMENTS = ("strict", "soft")


def machine_options(command: Command) -> Command:
    """Add the options of a VNF of several machines."""
    for option in (
        click.option(
            "--placement",
            type=click.Choice(_PLACEMENTS),
            help="Several machines: required, or wished for. Default: strict with --zone, else soft.",
        ),
        click.option(
            "--zone",
            "zones",
            multiple=True,
            metavar="GROUP=ZONE",
            help="Several machines: availability zone of a placement group; several times.",
        ),
    ):
        command = option(command)
    return command


def several_machines(project: Project, vnf: str) -> MachinesVnfSpec | None:
    """Return the VNF of a name if it has several machines; None where it has one, or there is none of this name."""
    spec = project.load_vnf(vnf) if vnf in project.vnf_names else None
    return spec if isinstance(spec, MachinesVnfSpec) else None


def is_by_itself(options: Mapping[str, Any]) -> bool:
    """Return whether options say that a descriptor is onboarded by itself, and not on a path."""
    return any(options.get(key) for key in (*KEYS, *DESCRIPTOR_KEYS))


def refuse_machine_options(options: dict[str, Any]) -> None:
    """Refuse these options where a VNF of one machine is meant, and take them out.

    Raises:
        UsageError: one of them is given.
    """
    given = [key for key in KEYS if options.pop(key, None)]
    if given:
        raise UsageError(f"{', '.join(given)} are of a VNF of several machines", fix="leave them out")


def refuse_options(vnf: MachinesVnfSpec, options: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    """Refuse options that each machine has for itself.

    Raises:
        UsageError: one of them is given.
    """
    given = [key for key in keys if options.get(key) not in (None, False)]
    if given:
        raise UsageError(
            f"{', '.join('--' + key.replace('_', '-') for key in given)}: not of a VNF of several machines",
            where=f"VNF {vnf.name}",
            fix=f"each machine says it in vnfd/{vnf.name}/vnf.yml"
            + ("; a deployment flavour of SOL001 is --deployment-flavour NAME" if "flavor" in given else ""),
        )


def one_flavour(vnf: MachinesVnfSpec, options: Mapping[str, Any]) -> str:
    """Return the deployment flavour that is meant where there can be one alone."""
    return options.get("flavour") or DEFAULT_FLAVOUR


def given_of(
    project: Project, vnf: MachinesVnfSpec, options: Mapping[str, Any], *, digests: bool, direct: bool = False
) -> DeploymentInputs:
    """Return the inputs that the command gives to a VNF.

    Args:
        project: where flavors and images are.
        options: `zones`, `placement`, `networks` (by link), `image` (Glance's name), `image_file`, `with_image`; a
            missing key: not given.
        digests: whether the digests of images are wanted.
        direct: whether data ports are virtual functions.

    Raises:
        UsageError, ConfigurationError: an option is not readable, or an image cannot be read.
        UnsupportedError: a mobile core is of another network than its image.
    """
    project.require_usual_network(vnf)
    zones = pairs("--zone", options.get("zones") or ())
    placement = options.get("placement") or ("strict" if zones else "soft")
    given_file = options.get("image_file")
    file = str(Path(given_file).resolve()) if given_file else vnf.image.file if vnf.image else None
    images = _Images(project.root, digests=digests, packed=bool(options.get("with_image")))
    return DeploymentInputs(
        flavors={name: project.load_flavor(name) for name in _flavors(vnf)},
        image=images.of(options.get("image") or vnf.name, file),
        own_images=_own_images(vnf, images),
        networks=pairs("--network", options.get("networks") or ()),
        zones=zones,
        soft=placement == "soft",
        direct=direct,
    )


class _Images:
    """The images of machines, as Glance knows them."""

    def __init__(self, root: Path, *, digests: bool, packed: bool) -> None:
        self._root, self._digests, self._packed = root, digests, packed

    def of(self, name: str, file: str | None) -> CloudImage:
        """Return the image of a name, with the checksums of its file where they are wanted.

        Raises:
            ConfigurationError: its file cannot be read.
        """
        path = self._root / file if file else None
        if path is None or not (self._digests or self._packed):
            return CloudImage(name)
        return CloudImage(name, path if self._packed else None, checksums(path), version_of(path))


def _own_images(vnf: MachinesVnfSpec, images: _Images) -> dict[str, CloudImage]:
    names = (DEFAULT_FLAVOUR, *(one.name for one in vnf.flavours))
    own = {guest.name: guest.image for name in names for guest in guests_of(vnf, name) if guest.image}
    return {name: images.of(f"{vnf.name}-{name}", image.file) for name, image in own.items()}


def _flavors(vnf: MachinesVnfSpec) -> set[str]:
    guests = {guest.flavor for flavour in vnf.flavours for guest in flavour.machines}
    return guests | {machine.flavor for machine in vnf.machines} | {vnf.flavor}
