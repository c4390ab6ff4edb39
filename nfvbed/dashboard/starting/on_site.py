"""What operators can do on a site, and what that changes there: said before anything is started."""

from collections.abc import Mapping
from typing import Final

from nfvbed.dashboard.starting.starting import Action, RunChoices
from nfvbed.errors import UnsupportedError
from nfvbed.records import VnfKind
from nfvbed.spec.confirming import require_confirmed
from nfvbed.spec.loader import Project
from nfvbed.spec.site import SiteSpec

LASTING: Final = (Action.DEPLOY, Action.ONBOARD, Action.OFFBOARD, Action.DESTROY)
"""Buttons about what stays deployed."""
OF_VNFS: Final = (Action.ONBOARD, Action.OFFBOARD)


def refusals(site: SiteSpec) -> Mapping[Action, str]:
    """Return the buttons that lead nowhere on a site, whatever is chosen, with the reason."""
    if not site.keeps_deployments:
        why = "it is a virtual machine that boots for one command and ends with it: nothing stays deployed there"
        return dict.fromkeys(LASTING, why)
    if site.only_vnf_kind is VnfKind.EXISTING:
        return dict.fromkeys(OF_VNFS, "what is measured there runs already, and is others' (onboarding: none)")
    return {}


def require(action: Action, site: SiteSpec) -> None:
    """Refuse an action that a site cannot do, before a job is started.

    Raises:
        UnsupportedError: the site cannot do it.
    """
    why = refusals(site).get(action)
    if why is None:
        return
    possible = ", ".join(other.value for other in Action if other not in refusals(site))
    raise UnsupportedError(
        f"site {site.name} has no {action.value}",
        where=f"deploy/sites/{site.name}.yml",
        observed=why,
        fix=f"choose another site; on this one there are {possible}",
    )


def confirmation(action: Action, site: SiteSpec, typed: str, *, evict: bool = False) -> tuple[str, ...]:
    """Return the arguments that confirm an action; before a whole cloud is removed, its site's name has to be typed.

    Args:
        typed: the text in the field for the name.
        evict: whether it was agreed that what others have there goes too; else the command refuses, and lists it.

    Raises:
        UsageError: another name was typed, or none.
    """
    if action is not Action.DESTROY or not site.is_whole_cloud:
        return ()
    require_confirmed(site.name, typed, f"type {site.name} beside Destroy")
    named = ("--yes", site.name) if site.names_before_destroy else ()
    return (*named, *(("--evict",) if evict else ()))


def changes_of(project: Project, wanted: RunChoices) -> tuple[str, ...]:
    """Return what a deployment on a site makes there, and what of it stays."""
    site = project.load_site(wanted.site)
    chosen = (project.load_variant(name, site) for name in wanted.variants)
    return (f"Site {site.name}: {site.summary}", *site.changes(chosen))
