"""Options of `nfvbed dashboard` about people who sign in with users of an OpenStack."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from nfvbed.errors import UsageError

if TYPE_CHECKING:
    from nfvbed.dashboard.access.keystone import KeystoneSpec

Command = TypeVar("Command", bound=Callable[..., Any])


def keystone_options(command: Command) -> Command:
    """Add the options of Keystone."""
    for option in (
        click.option(
            "--keystone-ca", type=click.Path(dir_okay=False, path_type=Path),
            help="Certificates, PEM, that Keystone's own is checked with. Default: the system's.",
        ),
        click.option(
            "--keystone-operator-role", default="admin", show_default=True, metavar="ROLE",
            help="Role of operators in the project; users with another role there are viewers.",
        ),
        click.option(
            "--keystone-domain", default="Default", show_default=True, metavar="NAME",
            help="Domain of the project, and of users who name none.",
        ),
        click.option("--keystone-project", metavar="NAME", help="Project in which users need a role."),
        click.option(
            "--keystone", metavar="URL",
            help="Let users of an OpenStack sign in: its Keystone, https://HOST:5000/v3. Default: tokens alone.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def keystone_of(options: dict[str, Any]) -> "KeystoneSpec | None":
    """Return the Keystone that the options ask for; None: they ask for none.

    Raises:
        UsageError: Keystone without a project, or the other way round.
        ConfigurationError: Keystone cannot be asked safely.
    """
    from nfvbed.dashboard.access.keystone import KeystoneSpec

    url, project = options["keystone"], options["keystone_project"]
    if url is None and project is None:
        return None
    if url is None or project is None:
        raise UsageError(
            "a Keystone and a project belong together",
            observed="--keystone-project without --keystone"
            if url is None
            else "--keystone without --keystone-project",
            fix="give both, or neither",
        )
    return KeystoneSpec(
        url=url,
        project=project,
        domain=options["keystone_domain"],
        operator_role=options["keystone_operator_role"],
        ca_file=options["keystone_ca"],
    )
