"""What `nfvbed deploy` does on a site whose machines are made a cloud in stages."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import click

from nfvbed.cli.console import Console
from nfvbed.cli.rack_options import confirm
from nfvbed.cli.rack_progress import RackProgress
from nfvbed.signals import end_like_interrupt
from nfvbed.sites.stages import CloudOrder, StagedCloud


def deploy_staged(site: str, cloud: StagedCloud, variant: str, options: dict[str, Any]) -> None:
    """Deploy a variant on all machines; another one is taken down before, if that is asked for and confirmed.

    Args:
        options: those of the command, by their names.
    """
    order = CloudOrder(
        variant,
        options["release"],
        Path(options["inventory"]) if options["inventory"] else None,
        replaces=bool(options["redeploy"]),
        evicts=bool(options["evict"]),
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
    click.echo(f"{deployed.variants} {'was deployed already' if deployed.existed else 'is deployed'} on site {site}")
    click.echo(f"  access: OS_CLIENT_CONFIG_FILE={deployed.clouds} OS_CLOUD={site}")
    click.echo(f"  logs: {deployed.logs}")
    click.echo(f"  next: nfvbed destroy --site {site}")
