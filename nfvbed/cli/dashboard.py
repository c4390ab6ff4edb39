"""`nfvbed dashboard`: results in a browser."""

import gc
from pathlib import Path

import click

from nfvbed.cli.settings import root_option, store_location, store_option
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UsageError
from nfvbed.store import Store

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(name="dashboard")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="Port to listen on; 0: a free one."
)
@click.option(
    "--name", "names", multiple=True, metavar="HOST", help="A further name that browsers ask for; repeatable."
)
@click.option("--tls-cert", type=FILE, help="Certificate, PEM; with --tls-key. Default: no TLS, on loopback alone.")
@click.option("--tls-key", type=FILE, help="Key of the certificate, PEM.")
@click.option("--behind-proxy", is_flag=True, help="A proxy does TLS; needed for other addresses without --tls-cert.")
@click.option(
    "--token-file", type=FILE, help="Token that browsers have to give, mode 600; needed for addresses beside loopback."
)
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
    root: Path | None,
    store: str | None,
) -> None:
    """Serve the results as pages and as a JSON API, until interrupted.

    The store is only read: a copied nfvbed.sqlite is enough, and no testbed is needed. Whoever has an account on this
    machine can read what is served without a token.
    """
    if (tls_cert is None) != (tls_key is None):
        raise UsageError(
            "a certificate and its key belong together",
            observed="--tls-cert without --tls-key" if tls_cert else "--tls-key without --tls-cert",
            fix="give both, or neither",
        )
    # The libraries of figures take long to import: the help of all verbs must not wait for them.
    from nfvbed.dashboard.app import make_app
    from nfvbed.dashboard.listening import Listening, access_of, bind, server_of

    asked = Listening(
        host=host,
        port=port,
        names=names,
        tls=(tls_cert, tls_key) if tls_cert and tls_key else None,
        behind_proxy=behind_proxy,
        token_file=token_file,
    )
    access = access_of(asked)
    with Store.open(store_location(open_project(root), store), read_only=True, migrated=False) as opened:
        server = server_of(make_app(opened, access), asked)
        bound, address = bind(asked)
        # What is imported stays: to look through it at every collection costs each page a tenth of its time.
        gc.freeze()
        click.echo(f"dashboard of {opened.location}: {address}")
        server.run(sockets=[bound])
