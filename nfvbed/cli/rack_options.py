"""Options of `nfvbed deploy` and `nfvbed destroy` that are for sites of kind kolla alone."""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from nfvbed.cli.completion import RELEASE
from nfvbed.errors import UsageError
from nfvbed.spec.confirming import require_confirmed
from nfvbed.spec.kollarelease import NEWEST

Command = TypeVar("Command", bound=Callable[..., Any])

CONFIRMED = click.option("--yes", "confirmed", metavar="NAME", help="Rack: its name, in place of typing it when asked.")
EVICT = click.option(
    "--evict", is_flag=True, help="With the cloud, also remove what others have on it. Default: refuse."
)


def rack_options(command: Command) -> Command:
    """Add the options of `nfvbed deploy` for sites of kind kolla."""
    for option in (
        CONFIRMED,
        EVICT,
        click.option("--redeploy", is_flag=True, help="Rack: take another variant down first; asks for the name."),
        click.option(
            "--release", type=RELEASE, metavar="NAME", help=f"Rack: a name in kolla/releases. Default: {NEWEST}."
        ),
        click.option(
            "--tags",
            metavar="TAGS",
            help="Rack: Kolla's own tags, with commas: deploy these services, and stop there. Without it the same"
            " command goes on.",
        ),
        click.option("--inventory", metavar="FILE", help="Rack: an inventory of your own. Default: a rendered one."),
    ):
        command = option(command)
    return command


def refuse_rack_options(options: dict[str, Any]) -> None:
    """Refuse the options of a rack for another site.

    Raises:
        UsageError: one of them is given.
    """
    given = [name for name, value in options.items() if value]
    if given:
        shown = ", ".join(f"--{'yes' if name == 'confirmed' else name}" for name in given)
        raise UsageError(f"{shown}: of sites of kind kolla alone", fix="leave it out, or --site with such a site")


def confirm(site: str, given: str | None) -> None:
    """Ask for a site's name where it was not given: everything on the site is going to be removed.

    Raises:
        UsageError: the name is not that of the site.
    """
    if given is None and sys.stdin.isatty():
        click.echo(f"All that runs on site {site} is going to be removed, with its volumes and images.", err=True)
        given = click.prompt(f"Type the site's name ({site}) to go on", err=True)
    require_confirmed(site, given, f"type {site} when asked, or --yes {site}")
