"""Commands that measure what is missing, as a shell takes them."""

import shlex
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final

from nfvbed.records import VnfKind
from nfvbed.spec.vnf import NATIVE, VnfUse
from nfvbed.units import FrameSize

DECIDE_S: Final = 3600
"""Enough time for the rounds of a comparison at one traffic point."""
MOST_COMPARED: Final = 3
"""Variants of one proposed comparison: each against each of them makes as many pairs as have two looks."""


def deciding_command(
    experiment: str, variants: Sequence[str], place: tuple[str, FrameSize], settings: Sequence[str], rounds: int
) -> str:
    """Return the command that compares variants at one traffic point until their verdicts are made.

    Args:
        experiment: its name in `vsperf-conf/experiments`.
        variants: two or more.
        place: topology and frame size.
        settings: changed keys of the experiment, as `key=value`.
        rounds: their number at the last look.
    """
    named = [word for variant in variants for word in ("--variant", variant)]
    changed = [word for setting in ("purpose=compare", *settings) for word in ("--set", setting)]
    length = ["--max-rounds", str(rounds), "--time-limit", str(DECIDE_S), "--budget", str(DECIDE_S)]
    where = ["--topology", place[0], "--frame-size", str(place[1])]
    return shlex.join(["nfvbed", "run", experiment, *named, *where, *changed, *length])


def vnf_setting(label: str, vnf: Mapping[str, Any]) -> str:
    """Return the setting of an experiment that gives it another run's VNF; empty where it cannot be rebuilt.

    Args:
        label: the VNF's in that run.
        vnf: its description in that run's rig.
    """
    if label == NATIVE:
        return "vnfs=[{forwarding: native}]"
    if not vnf:
        return ""
    for offloads, bearers in product((True, False), dict.fromkeys((None, vnf.get("bearers")))):
        use = VnfUse(
            vnf=vnf["name"],
            kind=VnfKind(vnf["kind"]),
            forwarding=vnf["forwarding"],
            offloads=offloads,
            bearers=bearers,
            pcrf=vnf.get("pcrf"),
        )
        if use.label == label:
            shown = {} if use.vnf == VnfUse().vnf else {"vnf": use.vnf}
            shown |= {"kind": use.kind.value, "forwarding": str(use.forwarding)}
            shown |= {} if offloads else {"offloads": "false"}
            shown |= {"bearers": str(bearers)} if bearers else {}
            shown |= {"pcrf": use.pcrf} if use.pcrf else {}
            return f"vnfs=[{{{', '.join(f'{key}: {value}' for key, value in shown.items())}}}]"
    return ""
