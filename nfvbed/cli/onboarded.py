"""What the verbs on onboarded VNFs share: the deployment that has them, and how it is shown."""

import json

import click

from nfvbed.errors import UsageError
from nfvbed.records import Deployment
from nfvbed.records.state import shown
from nfvbed.sites.deployed import DeploymentRecord
from nfvbed.sites.site import Site
from nfvbed.spec.pcrf import NEXTEPC


def onboarded(site: Site) -> DeploymentRecord:
    """Return the deployment on a site, with the VNFs that an earlier command left on it.

    Raises:
        UsageError: nothing is deployed there, or no VNF is.
    """
    found = site.find_deployed()
    if found is None or found.vnf is None:
        have = "nothing is deployed" if found is None else f"{found.variant.name} is deployed, without VNFs"
        raise UsageError(f"no VNF is onboarded on site {site.name}", observed=have, fix="nfvbed onboard VNF first")
    return found


def show(deployment: Deployment, line: str, as_json: bool) -> None:
    """Print what came of a verb: the deployment's record as JSON, or a line and its VNFs."""
    if as_json:
        click.echo(json.dumps(deployment.model_dump(mode="json"), indent=2))
        return
    click.echo(line)
    show_vnfs(deployment)


def show_vnfs(deployment: Deployment) -> None:
    """Print the VNFs, each with where it runs and can be reached."""
    for handle in deployment.vnfs:
        accelerator = f", {handle.accelerator}" if handle.accelerator != "none" else ""
        shared = ", a core shared with others" if handle.shares_core else ""
        cores = f"; cores {', '.join(map(str, handle.cores))}" if handle.cores else ""
        click.echo(f"  {handle.name}: {handle.kind}, {handle.forwarding}{accelerator}{cores}{shared}")
        if "attached" in handle.facts:
            click.echo(f"    bearers: {handle.facts['attached']} attached, {handle.facts['synthetic']} synthetic")
            click.echo(f"    PCRF: {handle.facts.get('pcrf', NEXTEPC)}")
        for name, address in shown(handle.control):
            click.echo(f"    {name}: {address}")
