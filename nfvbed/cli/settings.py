"""What several verbs share: where the data and the results are."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from nfvbed.cli.completion import STORE
from nfvbed.cli.no_secrets import without_password
from nfvbed.cli.places import DEFAULT_STORE, store_below
from nfvbed.spec.loader import Project

if TYPE_CHECKING:
    from nfvbed.store import Store

Function = TypeVar("Function", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def root_option(function: Function) -> Function:
    """Add `--root`; the parameter is named `root`."""
    option = click.option(
        "--root",
        type=click.Path(path_type=Path),
        help="Folder with deploy/ and vsperf-conf/. Default: $NFVBED_ROOT or the checkout.",
    )
    return option(function)


def store_option(function: Function) -> Function:
    """Add `--store`; the parameter is named `store`."""
    option = click.option(
        "--store",
        type=STORE,
        metavar="FILE|URL",
        callback=without_password,
        help="Results: a file, or a PostgreSQL URL. Default: $NFVBED_STORE or results/nfvbed.sqlite in the root.",
    )
    return option(function)


def store_location(project: Project, store: str | None) -> str:
    """Return the file or URL of a project's results, as `store_below` says."""
    return store_below(project.root, store)


def open_store(project: Project, store: str | None, *, read_only: bool = True) -> "Store":
    """Open the store of results.

    Raises:
        StoreError: there are none yet (read_only), or they cannot be used.
        BusyError: another nfvbed writes to them.
    """
    from nfvbed.store import Store
    from nfvbed.store.private import FOLDER, tighten

    location, own = store_location(project, store), project.root / DEFAULT_STORE
    if not read_only and Path(location) == own:
        tighten(own.parent, FOLDER, say)
    return Store.open(location, read_only=read_only, tell=say)


def say(words: str) -> None:
    """Say something of the results beside the output: what of them cannot be read, or that others could open them."""
    click.echo(f"nfvbed: {words}", err=True)
