"""Takes a rack's deployment down, stage by stage, as it was deployed."""

import shutil
from collections.abc import Sequence

from nfvbed.sites.kolla.executor import journal as journals
from nfvbed.sites.kolla.executor import passwords, running, stages
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.executor.running import Rack
from nfvbed.sites.kolla.executor.stages import Stage
from nfvbed.sites.kolla.executor.toolset import Toolset
from nfvbed.sites.kolla.executor.vault import Vault
from nfvbed.sites.stages import Observer
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec


def foresee(project: Project, site: str) -> tuple[str, ...]:
    """Return lines that say what `destroy` would do."""
    found = journals.read(RackPlaces.of(project.root, site))
    if found is None:
        return (f"nothing is deployed on site {site}",)
    wanted = _needed(stages.destroying(project.root), found)
    return (f"would take down {found.variant} on site {site}: {', '.join(one.name for one in wanted) or 'nothing'}",)


def destroy(
    project: Project, site: KollaSiteSpec, observer: Observer, how: Sequence[Stage] | None = None
) -> tuple[str, ...]:
    """Take down all that an earlier command deployed, wherever that stopped; return lines that say what was.

    The user has confirmed it: see `nfvbed.spec.confirming`.

    Args:
        how: stages in place of nfvbed's, for tests.

    Raises:
        BusyError: another nfvbed is at work.
        ConfigurationError: the passwords' vault does not open.
        PrerequisiteError: kolla-ansible or a playbook is missing.
        StageFailed, InterruptedRunError: it stopped; the same command goes on there.
    """
    places = RackPlaces.of(project.root, site.name)
    with places.taken():
        found = journals.read(places)
        if found is None:
            return (f"nothing is deployed on site {site.name}",)
        running.end_leftovers(found, observer)
        tools = Toolset.of(project.root, project.load_kolla_release(found.release))
        vault = Vault.of(site, tools)
        passwords.require_readable(places, vault)
        wanted = _needed(stages.destroying(project.root) if how is None else how, found)
        running.require_playbooks(wanted)
        if wanted:
            found = found.model_copy(update={"destroying": True})
            journals.write(places, found)
            if not places.passwords.exists():  # Kolla's commands all want some; taking down uses none
                passwords.ensure(places, vault, used=False)
            scrub = passwords.scrubber(places, vault)
            running.run_stages(Rack(project.root, site, places, tools, observer), wanted, found, scrub)
        forget_cloud(places)
    return (f"{found.variant} on site {site.name} is taken down; its passwords are kept",)


def forget_cloud(places: RackPlaces) -> None:
    """Remove what is written down of a cloud that is gone, with all that was onboarded on it; passwords are kept."""
    for path in (places.clouds, places.kolla_clouds, places.undeployed):
        path.unlink(missing_ok=True)
    shutil.rmtree(places.cloud, ignore_errors=True)
    journals.forget(places)


def _needed(plan: Sequence[Stage], found: Journal) -> tuple[Stage, ...]:
    """Return the stages that undo what was begun."""
    return tuple(stage for stage in plan if not stage.undoes or stage.undoes in found.ever_begun)
