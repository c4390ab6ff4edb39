"""Commands that a message suggests as the next step, complete: the user need not find out any part."""

import shlex
from dataclasses import dataclass

from nfvbed.records import VnfKind
from nfvbed.spec.layout import layout
from nfvbed.spec.vnf import AS_THE_IMAGE, VnfChoice
from nfvbed.units import FrameSize, frame_mix

USUAL_SITE = "lab"
USUAL_VNF = "vloop"
_BOTH_ENDS = "pvp"
"""In place of a path that a VNF is an end of: frames are followed between two ports of the generator."""


@dataclass(frozen=True)
class TracedPath:
    """The path on which frames were lost."""

    variant: str
    topology: str
    frame_size: FrameSize
    vnf: VnfChoice | None = None
    site: str = USUAL_SITE


def trace_command(path: TracedPath) -> str:
    """Return the command that sends the same frames on the same path and shows the hop that loses them."""
    plan = layout(path.topology)
    topology = _BOTH_ENDS if plan.one_way else path.topology
    words = ["nfvbed", "trace", path.variant, "--topology", topology, "--frame-size", str(_longest(path.frame_size))]
    words += _of_vnf(path.vnf) if path.vnf is not None and plan.vnfs else []
    return shlex.join(words) + on_site(path.site)


def next_commands(variant: str, site: str) -> str:
    """Return the commands that a user can give for a variant that is deployed."""
    here = on_site(site)
    return f"nfvbed trace {variant}{here}, nfvbed run EXPERIMENT --variant {variant}{here}, nfvbed destroy{here}"


def on_site(site: str) -> str:
    """Return the option that selects a site in a command; empty for the default site."""
    return "" if site == USUAL_SITE else f" --site {site}"


def _longest(size: FrameSize) -> int:
    return max(length for length, _ in frame_mix(size))


def _of_vnf(choice: VnfChoice) -> list[str]:
    """Return the options of `nfvbed trace` that select a VNF."""
    if choice.kind is VnfKind.EXISTING:
        return []
    words = [] if choice.vnf.name == USUAL_VNF else ["--vnf", choice.vnf.name]
    words += ["--kind", choice.kind.value]
    own_image = choice.image is not None and choice.image != choice.vnf.image
    # What a user's own image does is not known.
    words += [] if own_image and choice.forwarding == AS_THE_IMAGE else ["--forwarding", choice.forwarding]
    words += [] if choice.own_flavor or choice.flavor.name == choice.vnf.flavor else ["--flavor", choice.flavor.name]
    words += [] if choice.vnic == "any" else ["--vnic", choice.vnic]
    words += ["--image", choice.image.file] if own_image and choice.image is not None else []
    words += [] if choice.offloads else ["--no-offloads"]
    words += [] if choice.bearers is None else ["--bearers", str(choice.bearers)]
    return words + ([] if choice.pcrf is None else ["--pcrf", choice.pcrf])
