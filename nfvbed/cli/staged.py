"""What `nfvbed deploy` does on a site whose machines are made a cloud in stages."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import click

from nfvbed.cli.console import Console
from nfvbed.cli.rack_options import confirm
from nfvbed.cli.rack_progress import RackProgress
from nfvbed.errors import UsageError
from nfvbed.signals import end_like_interrupt
from nfvbed.sites.stages import CloudOrder, StagedCloud


def _tags(given: str | None) -> tuple[str, ...]:
    if given is None:
        return ()
    found = tuple(tag.strip() for tag in given.split(","))
    if not all(found):
        raise UsageError("--tags: there is a tag without a name", observed=repr(given), fix="--tags keystone,glance")
    return found


def deploy_staged(site: str, cloud: StagedCloud, variant: str, options: dict[str, Any]) -> None:
    """Deploy a variant on all machines; another one is taken down before, if that is asked for and confirmed."""
    order = CloudOrder(
        variant,
        options["release"],
        Path(options["inventory"]) if options["inventory"] else None,
        replaces=bool(options["redeploy"]),
        evicts=bool(options["evict"]),
        tags=_tags(options["tags"]),
    )
    if options["dry_run"]:
        for line in cloud.foresee(order):
            click.echo(line)
        return
    end_like_interrupt()
    deployed = cloud.deploy(order, partial(confirm, site, options["confirmed"]), RackProgress(Console(stderr=True)))
    if options["as_json"]:
        click.echo(json.dumps(deployed.record, indent=2))
        return
    if deployed.tags and not deployed.existed:
        click.echo(f"{', '.join(deployed.tags)} of {deployed.variants} are deployed on site {site}: no cloud yet")
        click.echo(f"  logs: {deployed.logs}")
        click.echo(f"  next: nfvbed deploy {variant} --site {site}, which goes on; or nfvbed destroy --site {site}")
        return
    click.echo(f"{deployed.variants} {'was deployed already' if deployed.existed else 'is deployed'} on site {site}")
    click.echo(f"  access: OS_CLIENT_CONFIG_FILE={deployed.clouds} OS_CLOUD={site}")
    click.echo(f"  logs: {deployed.logs}")
    click.echo(f"  next: nfvbed destroy --site {site}")
