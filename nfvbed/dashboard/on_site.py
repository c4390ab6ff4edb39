"""What operators can do on a site, and what that changes there: said before anything is started."""

from collections.abc import Mapping
from typing import Final

from nfvbed.confirming import require_confirmed
from nfvbed.dashboard.starting import Action, Wanted
from nfvbed.errors import UnsupportedError
from nfvbed.records import VnfKind
from nfvbed.spec.loader import Project
from nfvbed.spec.site import CloudSiteSpec, DevcloudSiteSpec, GuestSiteSpec, HostSiteSpec, KollaSiteSpec, SiteSpec

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
    """Refuse what leads nowhere on a site, before a job is started.

    Raises:
        UnsupportedError: it does.
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
    """Return the arguments that confirm an action; before a whole cloud goes its site's name has to be typed.

    Args:
        action: the button.
        site: where.
        typed: what was typed.
        evict: whether it was agreed that what others have there goes too; else the command refuses, and lists it.

    Raises:
        UsageError: another name was, or none.
    """
    if action is not Action.DESTROY or not site.is_whole_cloud:
        return ()
    require_confirmed(site.name, typed, f"type {site.name} beside Destroy")
    named = ("--yes", site.name) if isinstance(site, KollaSiteSpec) else ()
    return (*named, *(("--evict",) if evict else ()))


def changes_of(project: Project, wanted: Wanted) -> tuple[str, ...]:
    """Say what a deployment on a site makes there, and what of it stays."""
    site = project.load_site(wanted.site)
    if isinstance(site, GuestSiteSpec):
        own = _in_node(site)
    elif isinstance(site, DevcloudSiteSpec):
        own = _in_own_cloud(site)
    elif isinstance(site, CloudSiteSpec):
        own = _in_cloud(site)
    else:
        own = _on_host(project, site, wanted)
    return (f"Site {site.name}: {site.summary}", *own)


def _on_host(project: Project, site: SiteSpec, wanted: Wanted) -> tuple[str, ...]:
    found = []
    if isinstance(site, HostSiteSpec):
        pages = {name: project.load_variant(name, site).hugepages_mib for name in wanted.variants}
        needs = ", ".join(f"{name} {mib} MiB" for name, mib in pages.items() if mib)
        own = f"the generator up to {site.generator_hugepages_mib} MiB"
        found.append(f"Hugepages, while it is deployed: {own}{f'; {needs}' if needs else ''}.")
        found.append(
            "Network namespaces, links, a control group, processes pinned to cores, a folder below /run/nfvbed; all "
            "are in a ledger, and Destroy removes them, also after a crash."
        )
    found.append("A deployment stays until it is destroyed; what a run deploys for itself is taken down when it ends.")
    return tuple(found)


def _in_node(site: GuestSiteSpec) -> tuple[str, ...]:
    machine = f"{site.guest.vcpus} vCPUs and {site.guest.memory_mib} MiB"
    return (
        f"A virtual machine of {machine} boots for the command, sees this machine's files, and ends with the command.",
        "Nothing stays deployed, there or here; results are put into this store when the command ends.",
    )


def _in_own_cloud(site: DevcloudSiteSpec) -> tuple[str, ...]:
    return (
        "The cloud is started where it does not run: two minutes, ten or more the very first time. It takes about "
        f"3 GiB of memory and {site.hugepages_mib} MiB of hugepages, and stays.",
        "To deploy a variant lets new instances come to its compute, and to no other; the node of that compute is "
        "started where it has one of its own.",
        f"The generator takes up to {site.generator_hugepages_mib} MiB of hugepages while something is measured.",
        "Offboard lets Tacker remove the VNFs. Destroy takes the whole cloud down, with every instance on it, once the "
        "site's name is typed.",
    )


def _in_cloud(site: CloudSiteSpec) -> tuple[str, ...]:
    ports = " and ".join(port.named for port in site.generator_ports)
    whose = "this machine" if site.generator is None else f"host {site.generator.address}"
    mine = "what Tacker onboarded from here" if site.existing is None else "what is remembered of it here"
    return (
        f"Nothing is deployed in that cloud ({site.os_cloud} in clouds.yaml). While it is measured, the generator has "
        f"{ports} of {whose}.",
        f"Destroy removes {mine}, and touches nothing of others.",
    )
