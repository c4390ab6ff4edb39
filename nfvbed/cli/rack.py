"""What `nfvbed deploy` and `nfvbed destroy` do on a site that kolla-ansible deploys."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from nfvbed.cli.console import Console
from nfvbed.cli.rack_progress import RackProgress
from nfvbed.confirming import require_confirmed
from nfvbed.signals import end_like_interrupt
from nfvbed.sites.kolla.executor import destroying, journal, stages
from nfvbed.sites.kolla.executor.deploying import Wish, deploy, is_another, prepare, require_free
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.measured.tenants import require_own
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.kolla.preflight.checks import examine
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec


def deploy_rack(project: Project, site: KollaSiteSpec, variant: str, options: dict[str, Any]) -> None:
    """Deploy a variant on a rack; another one is taken down before, where that is asked and confirmed.

    Args:
        project: the project.
        site: the rack.
        variant: name of the variant.
        options: of the command, by their names.
    """
    pinning = pinning_of(project, site, variant)
    wish = Wish(
        pinning,
        site,
        project.load_kolla_release(options["release"] or NEWEST),
        Path(options["inventory"]) if options["inventory"] else None,
    )
    places = RackPlaces.of(project.root, site.name)
    if options["dry_run"]:
        _foresee(project, wish, places, redeploy=bool(options["redeploy"]), evict=bool(options["evict"]))
        return
    end_like_interrupt()
    progress = RackProgress(Console(stderr=True))
    prepare(project, wish)  # before another one is taken down for it
    if options["redeploy"] and _has_another(places, wish):
        require_own(places, site.name, evict=options["evict"])
        confirm(site.name, options["confirmed"])
        for line in destroying.destroy(project, site, progress):
            progress.say(line)
    existed = deploy(project, wish, progress, examine)
    if options["as_json"]:
        found = journal.read(places)
        click.echo(json.dumps(found.model_dump(mode="json") if found else {}, indent=2))
        return
    click.echo(f"{pinning.name} {'was deployed already' if existed else 'is deployed'} on site {site.name}")
    click.echo(f"  access: OS_CLIENT_CONFIG_FILE={places.clouds} OS_CLOUD={site.name}")
    click.echo(f"  logs: {places.logs}")
    click.echo(f"  next: nfvbed destroy --site {site.name}")


def destroy_rack(
    project: Project, site: KollaSiteSpec, confirmed: str | None, *, dry_run: bool, evict: bool = False
) -> None:
    """Take a rack's deployment down; its name is asked for.

    Args:
        project: the project.
        site: the rack.
        confirmed: the name, where it was given.
        dry_run: say what would be done, and do nothing.
        evict: also end what others have on it.

    Raises:
        BusyError: others have something on it.
    """
    places = RackPlaces.of(project.root, site.name)
    found = journal.read(places)
    require_own(places, site.name, evict=evict)
    if dry_run or found is None:
        lines = destroying.foresee(project, site.name)
    else:
        confirm(site.name, confirmed)
        end_like_interrupt()
        lines = destroying.destroy(project, site, RackProgress(Console(stderr=True)))
    for line in lines:
        click.echo(line)


def confirm(site: str, given: str | None) -> None:
    """Have a rack's name typed, where it was not given: all that is on it is going to be removed.

    Raises:
        UsageError: it was not.
    """
    if given is None and sys.stdin.isatty():
        click.echo(f"All that runs on site {site} is going to be removed, with its volumes and images.", err=True)
        given = click.prompt(f"Type the site's name ({site}) to go on", err=True)
    require_confirmed(site, given, f"type {site} when asked, or --yes {site}")


def _has_another(places: RackPlaces, wish: Wish) -> bool:
    found = journal.read(places)
    if found is None or not found.on_machines:
        return False
    return found.destroying or is_another(found, wish)


def _foresee(project: Project, wish: Wish, places: RackPlaces, *, redeploy: bool, evict: bool) -> None:
    found = journal.read(places)
    prepare(project, wish)
    if not (redeploy and _has_another(places, wish)):
        require_free(found, wish)
    else:
        require_own(places, wish.site.name, evict=evict)
        for line in destroying.foresee(project, wish.site.name):
            click.echo(line)
    for stage in stages.deploying(project.root):
        known = found.stages.get(stage.name) if found else None
        click.echo(f"{stage.name:18} {known.outcome if known else 'to do':12} {stage.summary}")
