"""`nfvbed destroy`: take down what stands, and what dead ones left."""

import click

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import DeployError
from nfvbed.host.reap import abandoned, is_standing, remove_unreadable, workspaces
from nfvbed.host.workspace import Workspace
from nfvbed.sites.catalogue import open_lab
from nfvbed.sites.lab.standing import find_standing


@click.command(name="destroy")
@click.option("--site", default="lab", show_default=True, help="Where: a name in deploy/sites.")
@click.option(
    "--all", "everything", is_flag=True, help="Also run directories whose ledger cannot be read. Default: leave them."
)
@click.option("--dry-run", is_flag=True, help="Say what would be taken down, and change nothing.")
def command(site: str, everything: bool, dry_run: bool) -> None:
    """Take down the standing deployment and whatever an nfvbed that was killed left behind."""
    if dry_run:
        _say_what_would_go()
        return
    project = open_project()
    lab = open_lab(project.load_site(site), project.root)
    try:
        reaped = lab.begin()
        standing = find_standing()
        problems = [problem for item in reaped for problem in item.problems]
        for workspace in [w for w in workspaces() if is_standing(w)]:
            problems += workspace.close()
        problems += remove_unreadable() if everything else []
    finally:
        lab.close()
    if problems:
        raise DeployError("not everything could be removed", observed="; ".join(problems), fix="nfvbed destroy --all")
    if standing is not None:
        click.echo(f"{standing.deployment.variant} ({standing.deployment.topology}) is taken down")
    elif not reaped:
        click.echo("nothing stands on this host")


def _say_what_would_go() -> None:
    standing = [w for w in workspaces() if is_standing(w)]
    dead = abandoned()
    for workspace in (*standing, *dead):
        click.echo(_description(workspace))
    if not standing and not dead:
        click.echo("nothing stands on this host")


def _description(workspace: Workspace) -> str:
    owner = workspace.ledger.owner
    kinds = [entry.kind for entry in workspace.ledger.entries]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    return f"would take down {workspace.directory} ({counts}), made {owner.since} by pid {owner.pid}: {owner.command}"
