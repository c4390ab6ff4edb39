"""The options by which a command says which VNF it means."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from pydantic import ValidationError

from nfvbed.cli.completion import FLAVOR
from nfvbed.dataplanes.wiring import require_path
from nfvbed.errors import UnknownNameError, UnsupportedError, UsageError
from nfvbed.records import VnfKind
from nfvbed.spec.bearers import MOST_BEARERS
from nfvbed.spec.choices import default_forwarding, explicit_label, possible_forwarding, resolve, why_not_machines
from nfvbed.spec.gateway import refused_bearers, refused_pcrf
from nfvbed.spec.layout import layout, without_chains
from nfvbed.spec.loader import Project
from nfvbed.spec.pcrf import PcrfKind
from nfvbed.spec.site import SiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import NATIVE, Forwarding, ImageSpec, VnfChoice, VnfUse, Vnic

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_VNF = "vloop"
EXISTING_VNF = "existing"
"""The VNF of sites on which nothing is onboarded."""
WITHOUT_VNF = "p2p"
"""The topology of commands that name none."""
KEYS = ("kind", "forwarding", "flavor", "vnic", "image", "offloads", "bearers", "pcrf")


def vnf_options(command: Command) -> Command:
    """Add the options of a VNF; `choice_of` turns their values into one."""
    kinds = [kind.value for kind in VnfKind if kind is not VnfKind.EXISTING]
    for option in (
        click.option(
            "--pcrf",
            type=click.Choice(get_args(PcrfKind)),
            help="PCRF of a mobile core; with stand-in, nfvbed's own, 50 UEs attach. Default: nextepc.",
        ),
        click.option(
            "--bearers",
            type=click.IntRange(1, MOST_BEARERS),
            help="Bearers of a mobile core. Default: 16. More than attach: entries in nfvbed's own gateway.",
        ),
        click.option("--offloads/--no-offloads", default=None, help="Checksum offload of its ports. Default: on."),
        click.option("--image", metavar="FILE", help="Disk image of a VM. Default: the VNF's own."),
        click.option("--vnic", type=click.Choice(get_args(Vnic)), help="Kind of its ports. Default: any."),
        click.option(
            "--flavor",
            "--flavour",
            "flavor",
            type=FLAVOR,
            metavar="NAME",
            help="A name in flavors. Default: the VNF's.",
        ),
        click.option(
            "--forwarding",
            type=click.Choice([NATIVE, *get_args(Forwarding)]),
            help="What it does with frames; of a mobile core: which gateway carries them. Default: the VNF's first; "
            "native: the variant's own.",
        ),
        click.option(
            "--kind",
            type=click.Choice(kinds),
            help="What it runs in. Default: process. With neither this nor --forwarding, the variant's own VNF where "
            "it has no path without one, or cannot have the default.",
        ),
    ):
        command = option(command)
    return command


def vnf_of_site(site: SiteSpec, vnf: str) -> str:
    """Return the VNF that is meant on a site, where nothing was said of it: what runs there already is its own."""
    return EXISTING_VNF if site.only_vnf_kind is VnfKind.EXISTING and vnf == DEFAULT_VNF else vnf


def of_site(site: SiteSpec, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a VNF with the kind that VNFs have on a site, where nothing was said of it."""
    only = site.only_vnf_kind
    return options if only is None or options.get("kind") is not None else {**options, "kind": only.value}


def path_of(
    project: Project, variant: Variant, topology: str | None, vnf: str, options: dict[str, Any]
) -> tuple[str, VnfChoice | None]:
    """Return the topology and the VNF on it that a command means.

    Without a topology it is p2p, or the variant's first where it has no p2p. The VNF is chosen as by `choice_of`. A
    choice other than the default is reported in one line.

    Raises:
        UsageError: there is no such topology; for the VNF as `choice_of`.
        ConfigurationError, UnsupportedError: as `choice_of`.
    """
    lacking = "" if topology is not None else variant.lacks(WITHOUT_VNF)
    offered = without_chains(variant.topologies)
    if not lacking or not offered:
        topology = topology or WITHOUT_VNF
        return topology, choice_of(project, variant, topology, vnf, options)
    choice, _ = _choice(project, variant, offered[0], vnf, options)
    with_vnf = "" if choice is None else f", with the VNF {choice.vnf.name} ({explicit_label(choice)})"
    click.echo(f"{lacking}; so it is {offered[0]}{with_vnf}", err=True)
    return offered[0], choice


def choice_of(project: Project, variant: Variant, topology: str, vnf: str, options: dict[str, Any]) -> VnfChoice | None:
    """Return the VNF that the options mean; None for a topology without one.

    Where they say neither kind nor forwarding, the variant's own VNF is taken if the variant has no path without one,
    or cannot have the default; that is reported.

    Raises:
        UsageError: there is no such topology, the VNF is not of that kind, or cannot forward so.
        ConfigurationError: there is no VNF or flavor of that name.
        UnsupportedError: the variant does not have this topology, or such a VNF cannot be attached to it.
    """
    choice, reported = _choice(project, variant, topology, vnf, options)
    if reported:
        click.echo(reported, err=True)
    return choice


def _choice(
    project: Project, variant: Variant, topology: str, vnf: str, options: dict[str, Any]
) -> tuple[VnfChoice | None, str]:
    """Return the VNF, and why it is the variant's own where that is not the default."""
    if not plan_of(topology):
        require_path(variant, topology, None)
        return None, ""
    choice, reported = asked_for(project, variant, topology, vnf, options)
    require_path(variant, topology, choice)
    return choice, reported


def asked_for(
    project: Project, variant: Variant, topology: str, vnf: str, options: dict[str, Any]
) -> tuple[VnfChoice, str]:
    """Return the VNF that options mean, also where the variant cannot have it; and why it is the variant's own, if so.

    Raises:
        UsageError, ConfigurationError: as `choice_of`.
    """
    if vnf not in project.vnf_names:
        project.load_vnf(vnf)  # it is unknown; what a name may look like is not asked of one that nothing has
    given = {key: options[key] for key in KEYS if options.get(key) is not None}
    use = _use(vnf, given)
    choice, reported = _resolved(project, variant, use), ""
    if not {"kind", "forwarding"} & given.keys():
        reason = _why_own(variant, topology, choice)
        own = _own(variant, use, given) if reason else None
        if own is not None:
            choice = _resolved(project, variant, own)
            reported = f"{reason}; its own VNF is taken: {choice.vnf.name} ({explicit_label(choice)})"
    return choice, reported


def _use(vnf: str, given: dict[str, Any]) -> VnfUse:
    if "image" in given:
        # Whether it answers nfvbed is not known of a user's own image; one that does not is only watched.
        given = given | {"image": ImageSpec(file=str(Path(given["image"]).resolve()), agent=False)}
    try:
        return VnfUse(vnf=vnf, **given)
    except ValidationError as failure:
        raise UsageError("these options do not describe a VNF", observed=str(failure)) from failure


def _resolved(project: Project, variant: Variant, use: VnfUse) -> VnfChoice:
    if use.forwarding != NATIVE:
        _check(project, use)
    choice = resolve(use, variant, project)
    if choice is None:
        raise UsageError(
            f"variant {variant.name} has no VNF of its own", where="native_vnf of its file", fix="choose --forwarding"
        )
    return choice


def _why_own(variant: Variant, topology: str, default: VnfChoice) -> str:
    """Return why the default VNF is not what is meant on a variant; empty where it is."""
    if variant.lacks(WITHOUT_VNF):
        return f"{variant.name} has no path without a VNF"
    if variant.lacks(topology):
        return ""
    try:
        require_path(variant, topology, default)
    except UnsupportedError as failure:
        return f"{variant.name} cannot have {default.vnf.name} ({explicit_label(default)}), {failure.what}"
    return ""


def _own(variant: Variant, asked: VnfUse, given: dict[str, Any]) -> VnfUse | None:
    """Return the variant's own VNF, with what else was asked for; None where it has none, or another one is meant."""
    own = variant.native_vnf
    if own is None or asked.vnf not in (own.vnf, DEFAULT_VNF):
        return None
    if not given:
        return VnfUse(vnf=own.vnf, forwarding=NATIVE)
    # What an image of one's own does is not for nfvbed to say.
    image_does = {"forwarding": None} if "image" in given else {}
    return own.model_copy(update={key: getattr(asked, key) for key in given} | image_does)


def plan_of(topology: str) -> int:
    """Return the number of VNFs of a topology.

    Raises:
        UnknownNameError: there is no such topology.
    """
    try:
        return layout(topology).vnfs
    except ValueError as failure:
        raise UnknownNameError("unknown topology", observed=repr(topology), fix=str(failure)) from failure


def _check(project: Project, use: VnfUse) -> None:
    spec = project.load_vnf(use.vnf)
    refused = why_not_machines(use, spec)
    if refused:
        observed, fix = refused
        raise UsageError(
            f"VNF {use.vnf} is of several machines, and cannot be on a path so",
            where=f"machines of vnfd/{use.vnf}/vnf.yml",
            observed=observed,
            fix=f"{fix}; or nfvbed onboard {use.vnf} on a site that is an OpenStack",
        )
    if use.kind is VnfKind.VM:
        project.require_usual_network(spec)
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
    does = use.forwarding or default_forwarding(use, spec)
    why, fix = refused_bearers(does, use.bearers, use.pcrf)
    if why:
        raise UsageError(f"VNF {use.vnf} cannot have these bearers", observed=why, fix=fix)
    why, fix = refused_pcrf(does, use.pcrf)
    if why:
        raise UsageError(f"VNF {use.vnf} cannot have this PCRF", observed=why, fix=fix)
