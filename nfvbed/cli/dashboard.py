"""`nfvbed dashboard`: results in a browser, and jobs that make some."""

import gc
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nfvbed.cli.keystone_options import keystone_of, keystone_options
from nfvbed.cli.settings import root_option, store_location, store_option
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import StoreError, UsageError
from nfvbed.host.cores.arrangement import resolve
from nfvbed.host.cores.topology import read_topology
from nfvbed.spec.loader import Project
from nfvbed.store import Store

if TYPE_CHECKING:
    from nfvbed.dashboard.operations import Operations

LAB = "lab"
"""The site whose cores are left alone."""
COLLECTED_AFTER = (100_000, 50, 100)
"""Objects, and collections of each younger generation. A page makes a hundred thousand records that it lets go of by
itself; looking for cycles among them at Python's own pace (700) took a fifth of its time."""
FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(name="dashboard")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    envvar="NFVBED_DASHBOARD_PORT",
    show_default=True,
    help="Port to listen on; 0: a free one.",
)
@click.option(
    "--name", "names", multiple=True, metavar="HOST", help="A further name that browsers ask for; repeatable."
)
@click.option("--tls-cert", type=FILE, help="Certificate, PEM; with --tls-key. Default: no TLS, on loopback alone.")
@click.option("--tls-key", type=FILE, help="Key of the certificate, PEM.")
@click.option("--behind-proxy", is_flag=True, help="A proxy does TLS; needed for other addresses without --tls-cert.")
@click.option(
    "--token-file", type=FILE, help="Token that operators have to give, mode 600; needed for addresses beside loopback."
)
@click.option("--viewer-token-file", type=FILE, help="Token of those who may only read, mode 600.")
@click.option(
    "--operate", is_flag=True, help="Let operators deploy, measure and destroy. Default: results are only read."
)
@keystone_options
@root_option
@store_option
def command(
    host: str,
    port: int,
    names: tuple[str, ...],
    tls_cert: Path | None,
    tls_key: Path | None,
    behind_proxy: bool,
    token_file: Path | None,
    viewer_token_file: Path | None,
    operate: bool,
    root: Path | None,
    store: str | None,
    **keystone: Any,
) -> None:
    """Serve the results as pages and as a JSON API, until interrupted.

    Without --operate the store is only read: a copied nfvbed.sqlite is enough, and no testbed is needed. Without a
    token every account on this machine can read what is served. With --operate only root and the user who serves it
    can change things without one.
    """
    # The libraries of figures take long to import: the help of all verbs must not wait for them.
    from nfvbed.cli.deployed_sites import DeployedSites
    from nfvbed.cli.proposals import measures_in
    from nfvbed.dashboard.access.serveroptions import ServerOptions, access_of, bind, server_of
    from nfvbed.dashboard.app import make_app

    asked = ServerOptions(
        host=host,
        port=port,
        names=names,
        tls=_tls(tls_cert, tls_key),
        behind_proxy=behind_proxy,
        token_file=token_file,
        viewer_token_file=viewer_token_file,
        keystone=keystone_of(keystone),
        operate=operate,
    )
    access = access_of(asked)
    project = open_project(root)
    location = store_location(project, store)
    operations = _operations(project, location) if operate else None
    with Store.open(location, read_only=True, migrated=False) as opened:
        bound, address = bind(asked)
        access = replace(access, cookie=f"{access.cookie}-{bound.getsockname()[1]}")
        sites = DeployedSites(project)
        app = make_app(opened, access, operations=operations, deployments=sites, measures=measures_in(project))
        server = server_of(app, asked, bound)
        _prepare()
        click.echo(f"dashboard of {opened.location}: {address}")
        _leave_the_measured_cores(project)
        server.run(sockets=[bound])


def _prepare() -> None:
    """Make once what the first request would wait for; what stays is looked through no more."""
    from nfvbed.dashboard.rendering import compile_templates
    from nfvbed.records.models import build_models

    build_models()
    compile_templates()
    # What is imported stays: to look through it at every collection costs each page a tenth of its time.
    gc.freeze()
    gc.set_threshold(*COLLECTED_AFTER)


def _tls(tls_cert: Path | None, tls_key: Path | None) -> tuple[Path, Path] | None:
    if tls_cert is None and tls_key is None:
        return None
    if tls_cert is None or tls_key is None:
        raise UsageError(
            "a certificate and its key belong together",
            observed="--tls-cert without --tls-key" if tls_cert else "--tls-key without --tls-cert",
            fix="give both, or neither",
        )
    return tls_cert, tls_key


def _operations(project: Project, location: str) -> "Operations":
    """Return what jobs need; make the store where there is none, or migrate an older one, as they will write to it."""
    from nfvbed.dashboard.operations import Operations

    found = Operations.of(project, location)
    try:
        Store.open(location, read_only=True, migrated=False).close()
    except StoreError:
        Store.open(location).close()
    return found


def _leave_the_measured_cores(project: Project) -> None:
    """Serve from the cores of the lab's own management: never from the switch's, where there is a choice."""
    host = project.load_site(LAB).host if LAB in project.site_names else None
    topology = read_topology()
    if host is not None and len(topology.allowed) > 1:
        os.sched_setaffinity(0, resolve(topology, host.arrangement).control_cores)
