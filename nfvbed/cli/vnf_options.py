"""The options by which a command says which VNF it means."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from pydantic import ValidationError

from nfvbed.errors import UsageError
from nfvbed.records import VnfKind
from nfvbed.spec.choices import possible_forwarding, resolve
from nfvbed.spec.layout import layout
from nfvbed.spec.loader import Project
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import NATIVE, Forwarding, ImageSpec, VnfChoice, VnfUse, Vnic

Command = TypeVar("Command", bound=Callable[..., Any])

KEYS = ("kind", "forwarding", "flavor", "vnic", "image", "offloads")


def vnf_options(command: Command) -> Command:
    """Add the options of a VNF; `choice_of` turns their values into one."""
    kinds = [kind.value for kind in VnfKind if kind is not VnfKind.EXISTING]
    for option in (
        click.option("--offloads/--no-offloads", default=True, help="Checksum offload of its ports. Default: on."),
        click.option("--image", metavar="FILE", help="Disk image of a VM. Default: the VNF's own."),
        click.option("--vnic", type=click.Choice(get_args(Vnic)), default="any", help="Kind of its ports."),
        click.option("--flavor", metavar="NAME", help="A name in flavors. Default: the VNF's."),
        click.option(
            "--forwarding",
            type=click.Choice([NATIVE, *get_args(Forwarding)]),
            help="What it does with frames. Default: the VNF's first; native: the variant's own.",
        ),
        click.option("--kind", type=click.Choice(kinds), default="process", show_default=True, help="What it runs in."),
    ):
        command = option(command)
    return command


def choice_of(project: Project, variant: Variant, topology: str, vnf: str, options: dict[str, Any]) -> VnfChoice | None:
    """Give the VNF that the options mean; None for a topology without one.

    Raises:
        UsageError: the VNF is not of that kind, or cannot forward so.
        ConfigurationError: there is no VNF or flavor of that name.
    """
    if not plan_of(topology):
        return None
    given = {key: options[key] for key in KEYS}
    if given["image"] is not None:
        # Whether it answers nfvbed is not known of a user's own image; one that does not is only watched.
        given["image"] = ImageSpec(file=str(Path(given["image"]).resolve()), agent=False)
    try:
        use = VnfUse(vnf=vnf, **given)
    except ValidationError as failure:
        raise UsageError("these options do not describe a VNF", observed=str(failure)) from failure
    if use.forwarding != NATIVE:
        _check(project, use)
    choice = resolve(use, variant, project)
    if choice is None:
        raise UsageError(
            f"variant {variant.name} has no VNF of its own", where="native_vnf of its file", fix="choose --forwarding"
        )
    return choice


def plan_of(topology: str) -> int:
    """Give the number of VNFs of a topology.

    Raises:
        UsageError: there is no such topology.
    """
    try:
        return layout(topology).vnfs
    except ValueError as failure:
        raise UsageError("unknown topology", observed=repr(topology), fix=str(failure)) from failure


def _check(project: Project, use: VnfUse) -> None:
    spec = project.load_vnf(use.vnf)
    if use.kind not in spec.kinds:
        kinds = ", ".join(spec.kinds)
        raise UsageError(f"VNF {use.vnf} is of no kind {use.kind}", observed=f"it has {kinds}", fix="choose --kind")
    known = possible_forwarding(use, spec)
    if use.forwarding is not None and use.forwarding not in known:
        raise UsageError(
            f"VNF {use.vnf} cannot forward as {use.forwarding!r}",
            observed=f"it has {', '.join(known)}",
            fix="choose --forwarding, or leave it out",
        )
