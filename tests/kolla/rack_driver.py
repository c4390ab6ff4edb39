"""Deploys or destroys as the command line does, with stages of a test's choice, and without the preflight, which would
find that a network namespace is no rack: `rack_driver.py ROOT deploy|destroy STAGE,STAGE [--inventory FILE]`.

A stage is a playbook of the project, or `kolla:COMMAND`.
"""

import sys
from pathlib import Path

import click
from rich.console import Console

from nfvbed.cli.rack_progress import RackProgress
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import NfvbedError
from nfvbed.signals import end_like_interrupt
from nfvbed.sites.kolla.executor.deploying import RackRequest, deploy
from nfvbed.sites.kolla.executor.destroying import destroy
from nfvbed.sites.kolla.executor.stages import PLAYBOOKS, Stage, kolla, own, with_passwords
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.spec.kollarelease import NEWEST

SILENCE_S = 2.0


def stage(root: Path, name: str) -> Stage:
    """Return a stage; one of the name `secret...` gets the passwords, as Kolla's do."""
    kind, _, command = name.partition(":")
    if kind == "kolla":
        return kolla(command, "Kolla's")
    made = own(name, "a playbook of the test's", root / PLAYBOOKS / f"{name}.yml")
    return with_passwords(made) if name.startswith("secret") else made


def main(root: Path, verb: str, names: str, *words: str) -> None:
    """Run one command."""
    end_like_interrupt()
    project = open_project(root)
    site = project.load_site("rack")
    how = [stage(root, name) for name in names.split(",")]
    progress = RackProgress(Console(stderr=True), SILENCE_S)
    if verb == "destroy":
        for line in destroy(project, site, progress, how):
            click.echo(line)
        return
    given = Path(words[1]) if words else None
    wish = RackRequest(pinning_of(project, site, "ovs-kernel"), site, project.load_kolla_release(NEWEST), given)
    existed = deploy(project, wish, progress, lambda *_: [], how)
    click.echo("was deployed already" if existed else "is deployed")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), *sys.argv[2:])
    except NfvbedError as error:
        click.echo(f"nfvbed: {error}", err=True)
        sys.exit(error.exit_code)
