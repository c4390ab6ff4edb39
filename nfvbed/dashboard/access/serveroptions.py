"""Where the dashboard listens: only this machine, unless its users are known and the connection is private."""

import ipaddress
import socket
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from nfvbed.dashboard.access.connections import (
    AT_ONCE,
    STANDARD,
    Config,
    Connections,
    Limits,
    Listener,
    TimedProtocol,
    limits_of_files,
)
from nfvbed.dashboard.access.keystone import Keystone, KeystoneSpec
from nfvbed.dashboard.access.security import Access
from nfvbed.errors import BusyError, ConfigurationError, UsageError

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
SHORTEST_TOKEN: Final = 20
"""Characters; `openssl rand -hex 16` makes 32."""
LAST_WORDS_S: Final = 2
"""After an interrupt: answers that take longer, as events do, are cut off."""


@dataclass(frozen=True)
class ServerOptions:
    """Where the server listens, and who may ask it: the options of `nfvbed dashboard`."""

    host: str = "127.0.0.1"
    port: int = 0
    """0: a free one."""
    names: tuple[str, ...] = ()
    """Further names by which browsers ask for it."""
    tls: tuple[Path, Path] | None = None
    """Certificate and key."""
    behind_proxy: bool = False
    token_file: Path | None = None
    """File with the operators' token."""
    viewer_token_file: Path | None = None
    keystone: KeystoneSpec | None = None
    """Keystone whose users sign in."""
    operate: bool = False
    """Whether things can be changed."""

    @property
    def is_open(self) -> bool:
        """Whether no user has to sign in."""
        return self.token_file is None and self.viewer_token_file is None and self.keystone is None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def access_of(asked: ServerOptions) -> Access:
    """Return how the dashboard may be reached, after checks of where it listens and who may ask it.

    Raises:
        UsageError: an address other than loopback lacks TLS or a proxy, or a token; or no user could be an operator.
        ConfigurationError: the token file cannot be used.
    """
    if not asked.is_loopback and asked.tls is None and not asked.behind_proxy:
        raise UsageError(
            f"the dashboard does not listen on {asked.host} without TLS",
            where="--host",
            observed="neither --tls-cert and --tls-key, nor --behind-proxy",
            fix="give a certificate and its key, or say with --behind-proxy that a proxy does TLS; or leave --host out",
        )
    if not asked.is_loopback and asked.is_open:
        raise UsageError(
            f"the dashboard does not listen on {asked.host} without a token",
            where="--host",
            observed="no --token-file, and no --keystone",
            fix="write one: (umask 077; openssl rand -hex 16 > FILE), and name it with --token-file FILE",
        )
    _require_some_operator(asked)
    token, viewer = (_token(path) if path else None for path in (asked.token_file, asked.viewer_token_file))
    if token is not None and token == viewer:
        raise ConfigurationError(
            "viewers and operators have the same token",
            where=f"{asked.token_file}, {asked.viewer_token_file}",
            fix="write another one: openssl rand -hex 16",
        )
    own = f"[{asked.host}]" if ":" in asked.host else asked.host
    names = tuple(name.lower() for name in dict.fromkeys((*LOOPBACK_NAMES, own, *asked.names)))
    return Access(
        hosts=names,
        token=token,
        secure=asked.tls is not None or asked.behind_proxy,
        behind_proxy=asked.behind_proxy,
        viewer_token=viewer,
        keystone=Keystone(asked.keystone) if asked.keystone else None,
        operate=asked.operate,
    )


def _require_some_operator(asked: ServerOptions) -> None:
    """Refuse a dashboard on which no user, or every user, could change things.

    Raises:
        UsageError: this dashboard is such a one.
    """
    if not asked.operate or asked.token_file is not None or asked.keystone is not None:
        return
    if asked.viewer_token_file is not None:
        raise UsageError(
            "nothing could be changed",
            where="--operate",
            observed="--viewer-token-file without --token-file",
            fix="give operators a token with --token-file FILE, or leave --operate out",
        )
    if asked.behind_proxy:
        raise UsageError(
            "every user whom the proxy lets through could change things",
            where="--operate",
            observed="--behind-proxy without --token-file: all requests would be those of the proxy's own user",
            fix="give operators a token with --token-file FILE, or let them sign in with --keystone",
        )


def _token(path: Path) -> str:
    """Return the token in a file.

    Raises:
        ConfigurationError: others may read it, or its token is too short.
    """
    try:
        mode, text = path.stat().st_mode, path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            "the token file cannot be read", where=str(path), observed=str(error), fix="name another with --token-file"
        ) from error
    if stat.S_IMODE(mode) & 0o077:
        observed = f"mode {stat.S_IMODE(mode):o}"
        raise ConfigurationError(
            "others may read the token file", where=str(path), observed=observed, fix=f"chmod 600 {path}"
        )
    if len(text) < SHORTEST_TOKEN or not text.isprintable() or " " in text:
        raise ConfigurationError(
            "the token file holds no token that can be used",
            where=str(path),
            observed=f"{len(text)} characters",
            fix=f"write one word of at least {SHORTEST_TOKEN} characters: openssl rand -hex 16",
        )
    return text


def bind(asked: ServerOptions) -> tuple[Listener, str]:
    """Return a socket that is bound, and the address to open.

    Raises:
        BusyError: the port is in use.
        ConfigurationError: this machine has no such address, or may not use the port.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            asked.host, asked.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = Listener(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen()  # A reader of the address may ask at once: requests wait until it serves.
    except OSError as error:
        kinds = BusyError if "in use" in str(error) else ConfigurationError
        raise kinds(
            "the dashboard cannot listen there",
            where=f"{asked.host}:{asked.port}",
            observed=error.strerror or str(error),
            fix="choose another --port (0: a free one), or another --host",
        ) from error
    shown = f"[{asked.host}]" if ":" in asked.host else asked.host
    return bound, f"{'https' if asked.tls else 'http'}://{shown}:{bound.getsockname()[1]}/"


def server_of(app: ASGIApp, asked: ServerOptions, bound: Listener, limits: Limits = STANDARD) -> uvicorn.Server:
    """Return a server that is ready; `run(sockets=[bound])` serves until a signal ends it.

    Args:
        bound: where it listens; it takes connections as the limits say.
        limits: what strangers may take; fewer connections where this process may not open as many files.

    Raises:
        ConfigurationError: the certificate or its key cannot be used.
    """
    certificate, key = asked.tls or (None, None)
    connections = Connections(limits_of_files(limits), behind_proxy=asked.behind_proxy)
    bound.connections = connections
    config = Config(
        app,
        http=TimedProtocol,
        ws="none",
        loop="asyncio",  # another one would take connections past the listener
        backlog=AT_ONCE,
        log_level="warning",
        access_log=False,
        use_colors=False,  # the streams of the command line would show them as escapes
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=limits.idle_s,
        timeout_graceful_shutdown=LAST_WORDS_S,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        lifespan="off",
    )
    config.connections = connections
    try:
        config.load()
    except OSError as error:
        raise ConfigurationError(
            "the certificate and its key cannot be used",
            where=f"{certificate}, {key}",
            observed=error.strerror or str(error),
            fix="give PEM files that belong together with --tls-cert and --tls-key",
        ) from error
    return uvicorn.Server(config)
