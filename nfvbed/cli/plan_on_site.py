"""What a site can never have of a plan, asked before anything begins, as the run asks it."""

from pathlib import Path

from nfvbed.cli.entering import site_of
from nfvbed.errors import NfvbedError, OnboardError, UnsupportedError
from nfvbed.plan.cells import DeploymentKey
from nfvbed.plan.onsite import lacks
from nfvbed.plan.plan import Plan
from nfvbed.sites.catalogue import machine_of
from nfvbed.sites.site import Site
from nfvbed.spec.rules import Study
from nfvbed.spec.variant import Variant


def impossible(study: Study, plan: Plan, root: Path) -> tuple[dict[str, str], str]:
    """Return the reasons by cell, and why the site itself was not asked (empty: it was); nothing is changed."""
    found = {} if study.simulated else {cell.id: lacks(study.site, cell) for cell in plan.cells}
    if not study.simulated and machine_of(study.site, root) is not None:
        return _said(found), ""  # its machine boots for the run, and is the one that can be asked
    try:
        site = site_of(study, root, 0)
    except UnsupportedError as failure:
        return _said(found), f"site {study.site.name} is not asked: {failure.what}; {failure.fix}"
    variants = {one.name: one for one in study.variants}
    known: dict[DeploymentKey, str] = {}
    for cell in plan.cells:
        key = cell.deployment
        if key not in known:
            known[key] = _refused(site, variants[cell.variant], key, plan)
        found[cell.id] = found.get(cell.id) or known[key]
    return _said(found), ""


def _refused(site: Site, variant: Variant, key: DeploymentKey, plan: Plan) -> str:
    try:
        site.require_possible(variant, key.topology, plan.choice(key), key.role)
    except (UnsupportedError, OnboardError) as failure:
        return _shown(failure)
    return ""


def _shown(failure: NfvbedError) -> str:
    return ": ".join(filter(None, (failure.what, failure.observed)))


def _said(found: dict[str, str]) -> dict[str, str]:
    return {cell: reason for cell, reason in found.items() if reason}
