"""`nfvbed deploy`: set up a variant and leave it standing."""

import json

import click

from nfvbed.cli.support import require_host
from nfvbed.cli.vnf_options import plan_of
from nfvbed.deploy.lab.standing import find_standing
from nfvbed.errors import UnsupportedError, UsageError
from nfvbed.onboard.sites import open_site
from nfvbed.records import Deployment
from nfvbed.spec.loader import Project
from nfvbed.units import NS_PER_S


@click.command(name="deploy")
@click.argument("variant", metavar="VARIANT")
@click.option("--site", default="lab", show_default=True, help="Where: a name in deploy/sites.")
@click.option("--topology", default="p2p", show_default=True, help="What is connected to what.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, probe the host, and change nothing that stays.")
@click.option("--json", "as_json", is_flag=True, help="Print the deployment's record as JSON.")
def command(variant: str, site: str, topology: str, dry_run: bool, as_json: bool) -> None:
    """Set up VARIANT and leave it standing, until `nfvbed destroy`.

    `run` and `trace` of the same variant and topology then use it as it is; others are refused. To deploy what stands
    already changes nothing.
    """
    project = Project()
    wanted = project.load_variant(variant)
    if plan_of(topology):
        raise UsageError(
            f"topology {topology} has VNFs, and is deployed with them",
            fix=f"nfvbed onboard vloop --variant {variant} --topology {topology}",
        )
    lab = open_site(project.load_site(site), project.root)
    if topology not in wanted.topologies:
        raise UnsupportedError(
            f"variant {variant} has no topology {topology!r}",
            observed=f"it has {', '.join(wanted.topologies)}",
            fix="choose one of these with --topology",
        )
    if dry_run:
        standing = find_standing()
        if standing is not None and not standing.is_same(wanted, topology):
            raise standing.in_the_way(variant)
        if standing is not None:
            click.echo(f"{variant} ({topology}) stands already: nothing would be done")
            return
        support = lab.require(wanted)
        state = f"this host is {support.readiness} for it. {support.reason}"
        click.echo(f"{variant} ({topology}) would be deployed; {state}".strip())
        return
    try:
        require_host(lab, wanted)
        deployment, stood = lab.deploy_to_stay(wanted, topology)
    finally:
        lab.close()
    if as_json:
        click.echo(json.dumps(deployment.model_dump(mode="json"), indent=2))
    else:
        _print(deployment, stood)


def _print(deployment: Deployment, stood: bool) -> None:
    click.echo(f"{deployment.variant} ({deployment.topology}) {'stood already' if stood else 'stands'}")
    for port in deployment.ports:
        click.echo(f"  port {port.spec} ({port.kind})" + (f" in {port.netns}" if port.netns else ""))
    for name, address in deployment.control.items():
        click.echo(f"  {name}: {address}")
    click.echo(f"  logs and sockets: {deployment.run_directory}")
    if not stood:
        steps = ", ".join(f"{name.removeprefix('deploy.')} {ns / NS_PER_S:.2f} s" for name, ns in deployment.steps)
        click.echo(f"  took: {steps}")
    click.echo("  next: nfvbed trace, nfvbed run, nfvbed destroy")
