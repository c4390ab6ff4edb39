"""`nfvbed steer`: the path of what is deployed, and the order of its VNFs."""

import click
from rich.table import Table

from nfvbed.cli.completion import SITE
from nfvbed.cli.console import Console
from nfvbed.cli.entering import open_site
from nfvbed.cli.onboarded import onboarded
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UsageError
from nfvbed.measure.chainreading import read_chain
from nfvbed.records import Deployment
from nfvbed.records.chain import ChainReport, order_of
from nfvbed.sites.deployed import DeploymentRecord
from nfvbed.sites.site import Site
from nfvbed.spec.layout import MAX_CHAIN


@click.command(name="steer")
@click.option("--site", type=SITE, default="lab", show_default=True, help="Site: a name in deploy/sites.")
@click.option(
    "--order", metavar="VNF,VNF", help="Every VNF, from outside port 0 to port 1. Default: show the path as it is."
)
@click.option("--length", type=click.IntRange(1, MAX_CHAIN), help="Number of VNFs in the chain, which is set up again.")
@click.option("--redeploy", is_flag=True, help="Confirm that --length takes down what is deployed.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the path as JSON.")
def command(site: str, order: str | None, length: int | None, redeploy: bool, dry_run: bool, as_json: bool) -> None:
    """Show the deployed path with its VNFs, counters and rules, or change the order of its VNFs.

    The VNFs and the switch run on; the rules are exchanged all at once, and begin to count at 0. It is done when frames
    come through in both directions; where none do, the order is changed back. On Open vSwitch alone: other data planes
    join their ports once. A chain of another length is set up again, and only with --redeploy.
    """
    if order is not None and length is not None:
        raise UsageError("an order is of the VNFs that run", observed="--order and --length", fix="one after the other")
    project = open_project()
    place = open_site(project.load_site(site), project.root)
    found = onboarded(place)
    try:
        deployment = place.deploy(found.variant, found.deployment.topology, vnf=found.vnf)
        try:
            if order is not None:
                deployment = _ordered(place, deployment, order.split(",") if order else [], dry_run)
            elif length is not None:
                deployment = _of_length(place, deployment, length, redeploy and not dry_run, dry_run)
            if not dry_run:
                _print(read_chain(place, _found_again(place, found), deployment), as_json)
        finally:
            place.destroy(deployment)
    finally:
        place.close()


def _ordered(place: Site, deployment: Deployment, names: list[str], dry_run: bool) -> Deployment:
    vnfs = [handle.name for handle in deployment.vnfs]
    order, chain = order_of(names, vnfs), place.chain(deployment)
    if not dry_run:
        return chain.apply(order)
    chain.require_free()
    now = ", ".join(vnfs[vnf] for vnf in deployment.order or range(len(vnfs)))
    where = f"{deployment.variant} ({deployment.topology})"
    same = "the order is the same: rules are written again" if now == ", ".join(names) else f"instead of {now}"
    click.echo(f"{where}: frames from port 0 would pass {', '.join(names)}; {same}")
    return deployment


def _of_length(place: Site, deployment: Deployment, length: int, agreed: bool, dry_run: bool) -> Deployment:
    chain = place.chain(deployment)
    if dry_run:
        click.echo(chain.foresee(length))
        return deployment
    if not agreed:
        raise UsageError(
            "a chain of another length is set up again",
            where=f"--length {length}",
            observed=chain.foresee(length),
            fix="agree with --redeploy",
        )
    return chain.redeploy(length, lambda line: click.echo(line, err=True))


def _found_again(place: Site, found: DeploymentRecord) -> DeploymentRecord:
    return place.find_deployed() or found


def _print(report: ChainReport, as_json: bool) -> None:
    if as_json:
        click.echo(report.model_dump_json(indent=2))
        return
    console = Console()
    path = " - ".join(("port 0", *report.path, "port 1"))
    console.print(f"{report.variant} ({report.topology}) on site {report.site}: {path}", highlight=False)
    console.print(_hops(report))
    if report.uncounted:
        console.print(f"no hop is counted: {report.uncounted}", highlight=False)
    if report.cables:
        console.print(_cables(report))
    if report.fixed:
        console.print(f"The order is fixed: {report.fixed}.", highlight=False)


def _hops(report: ChainReport) -> Table:
    table = Table(title="Hops, since their ports were last connected", title_justify="left")
    for heading in ("hop", "frames in", "frames out", "drops"):
        table.add_column(heading, justify="right" if heading.startswith("frames") else "left")
    for hop in report.hops:
        drops = ", ".join(f"{name} {count}" for name, count in hop.drops.items() if count)
        table.add_row(hop.name, *("-" if n is None else str(n) for n in (hop.rx_packets, hop.tx_packets)), drops)
    return table


def _cables(report: ChainReport) -> Table:
    table = Table(title="Rules, since they were written", title_justify="left")
    for heading in ("joined ports", "frames to port 1", "frames to port 0", "cookies"):
        table.add_column(heading, justify="right" if heading.startswith("frames") else "left")
    for cable in report.cables:
        counts = (str(cable.forward_packets), str(cable.backward_packets))
        table.add_row(f"{cable.first} - {cable.second}", *counts, ", ".join(map(str, cable.cookies)))
    return table
