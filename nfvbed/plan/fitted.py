"""An experiment of another site, fitted to one that is an OpenStack (`--site`): nothing is opened.

What does not apply there is left out, and what was left out is said with the reason. Keys that the command line gives
are the user's, and stay.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from nfvbed.records import VnfKind
from nfvbed.spec.experiment import Experiment
from nfvbed.spec.layout import layout
from nfvbed.spec.rules import Study
from nfvbed.spec.site import SiteSpec
from nfvbed.spec.tests import check_together
from nfvbed.spec.vnf import NATIVE, VnfUse

_EXISTING = VnfUse(vnf="existing", kind=VnfKind.EXISTING)
"""What runs on a cloud already, as it is."""


@dataclass(frozen=True)
class OnboardedPath:
    """The VNFs that a command has onboarded, and left."""

    variant: str
    topology: str
    use: VnfUse


@dataclass(frozen=True)
class SiteState:
    """What is on a site before a run."""

    variants: tuple[str, ...] = ()
    """Data planes that no run changes; empty: those of the experiment are deployed."""
    path: OnboardedPath | None = None


@dataclass
class _Fit:
    """Keys with other values, and what they leave out."""

    keys: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def put(self, key: str, value: object, note: str) -> None:
        self.keys[key] = value
        self.notes.append(note)


def fit_to_site(study: Study, given: Collection[str], state: SiteState) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the experiment's keys that have other values on the site, and lines that say what is left out and why.

    Args:
        study: the experiment as it is written for another site, on this one.
        given: keys that the command line gives.
    """
    if study.simulated or not study.site.has_nova:
        return {}, ()
    experiment, site, found = study.experiment, study.site, _Fit()
    if "variants" not in given:
        _variants(experiment, site, state, found)
    if not {"topologies", "endpoints"} & set(given):
        _topologies(experiment, site, state, found)
    if "vnfs" not in given:
        _vnfs(experiment, site, state, found)
    if "ceilings" not in given and experiment.ceilings and not site.has_ceilings and _goes_without(experiment):
        found.put("ceilings", False, f"no ceilings: instances are what bounds a result on site {site.name}")
    return found.keys, tuple(found.notes)


def _variants(experiment: Experiment, site: SiteSpec, state: SiteState, found: _Fit) -> None:
    there, why = state.variants, f"deployed there: {', '.join(state.variants)}"
    if site.only_variant is not None:
        there, why = (site.only_variant,), f"such a site has {site.only_variant} alone"
    if state.path is not None:
        room = f"nfvbed offboard --site {site.name} makes room for others"
        there, why = (state.path.variant,), f"{state.path.variant} has VNFs; {room}"
    if not there:
        return
    # Several are there side by side in order to be compared.
    kept = there if len(there) > 1 else (tuple(name for name in experiment.variants if name in there) or there)
    if set(kept) == set(experiment.variants):
        return
    left = ", ".join(name for name in experiment.variants if name not in kept)
    found.put("variants", list(kept), f"{', '.join(kept)}{f' without {left}' if left else ''}: {why}")
    if experiment.altered:
        found.keys["altered"] = {name: one.model_dump() for name, one in experiment.altered.items() if name in kept}


def _topologies(experiment: Experiment, site: SiteSpec, state: SiteState, found: _Fit) -> None:
    if experiment.endpoints != "generator":
        return  # its ends are VNFs of this machine: the plan says that the site has no such path
    refused = {name: _unfit(name, site, state) for name in experiment.topologies}
    kept = [name for name, why in refused.items() if not why] or ([state.path.topology] if state.path else [])
    for name, why in refused.items():
        if why and kept and name not in kept:
            found.put("topologies", kept, f"no {name}: {why}")
    if state.path is not None and experiment.chains is not None:
        found.put("chains", None, f"no chains: {_onboarded(site, state.path)}")


def _unfit(topology: str, site: SiteSpec, state: SiteState) -> str:
    if not layout(topology).vnfs:
        return f"frames come through site {site.name} by way of its instances"
    lacking = site.lacks(topology)
    if lacking or state.path is None:
        return lacking
    return "" if topology == state.path.topology else _onboarded(site, state.path)


def _onboarded(site: SiteSpec, path: OnboardedPath) -> str:
    return f"{path.topology} is onboarded on site {site.name}; nfvbed offboard --site {site.name} makes room"


def _vnfs(experiment: Experiment, site: SiteSpec, state: SiteState, found: _Fit) -> None:
    only = site.only_vnf_kind
    if only is None or not experiment.uses:
        return
    kept = tuple(use for use in experiment.uses if use.kind is only and use.forwarding != NATIVE)
    wanted: tuple[VnfUse, ...]
    if state.path is not None:
        wanted, why = (state.path.use,), f"{state.path.use.vnf} ({state.path.use.label}) is onboarded"
    elif kept:
        wanted, why = kept, f"on site {site.name} VNFs are of kind {only.value}"
    else:
        wanted = (_EXISTING if only is VnfKind.EXISTING else VnfUse(kind=only),)
        why = f"on site {site.name} VNFs are of kind {only.value}, so it is {wanted[0].vnf} as that"
    left = [use.label for use in experiment.uses if use not in wanted]
    if left:
        uses = [use.model_dump(mode="json", exclude_defaults=True) for use in wanted]
        found.put("vnfs", uses, f"no VNF {', '.join(left)}: {why}")


def _goes_without(experiment: Experiment) -> bool:
    """Return whether its tests refer to no ceiling."""
    try:
        check_together(experiment.tests, False)
    except ValueError:
        return False
    return True
