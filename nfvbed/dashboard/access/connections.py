"""Connections: how many there are, of whom, and how long one may take to ask and to be answered.

Who opens many and sends nothing is left with few, and those who work have the others: of one client's connections the
one that has waited longest goes when another comes. uvicorn itself counts connections that send nothing as requests,
and waits for a request's head for ever (docs/adr/0028-limits-of-the-dashboard.md).
"""

import asyncio
import contextlib
import ipaddress
import resource
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from nfvbed.dashboard.access import peers

FILES: Final = 2048
"""Files that the server may have open, where the machine lets it."""
OTHER_FILES: Final = 256
"""Files of those that are kept back for the store, pictures, jobs and programs."""
AT_ONCE: Final = 128
"""Connections that are taken before the others are looked after again."""
WAITING: Final = 2048
"""Connections that the kernel keeps until they are taken; it may have a lower bound (net.core.somaxconn)."""
NETWORK: Final = 64
"""Bits of an IPv6 address that are one client's: a host with one address has a network of them."""


@dataclass(frozen=True)
class Limits:
    """The most that clients may take of the server: connections and times."""

    connections: int = 1024
    of_client: int = 64
    """Connections."""
    request_s: float = 10.0
    """From the opening of a connection, or a later request's first byte, until the request is there as a whole."""
    idle_s: int = 5
    """From an answer to the next request."""
    answer_s: float = 30.0
    """For which an answer waits for a reader that takes nothing."""


STANDARD: Final = Limits()


def limits_of_files(limits: Limits) -> Limits:
    """Return the limits as the number of files that this process may open allows; it is raised as far as it may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    room = FILES if soft == resource.RLIM_INFINITY else soft
    return replace(limits, connections=min(limits.connections, max(room - OTHER_FILES, room // 2)))


def client_at(address: str, user: int | None) -> str:
    """Return whose an address is: within this machine the user's whose program it is, elsewhere the address's."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    known = getattr(known, "ipv4_mapped", None) or known
    if known.is_loopback:
        return f"user {'unknown' if user is None else user}"
    return str(ipaddress.ip_network((known, NETWORK), strict=False)) if known.version == 6 else str(known)


class Connection(socket.socket):
    """A connection that was accepted."""

    client = ""
    """Whose it is."""
    user: int | None = None
    """User id of its program, where that is on this machine."""
    has_asked = False
    is_busy = False
    """Whether an answer is being made or sent."""
    abort: Callable[[], None] | None = None
    """Ends it; None: TLS is not agreed yet."""
    file = -1
    """Its number while it is open."""
    is_closed: Callable[["Connection"], None] | None = None

    def drop(self) -> None:
        """End it at once."""
        if self.abort is not None:
            self.abort()
            return
        with contextlib.suppress(OSError):
            self.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close it, and say so."""
        super().close()
        if self.is_closed is not None:
            self.is_closed(self)
            self.is_closed = None


class Connections:
    """All connections of a server.

    Args:
        behind_proxy: all connections are the proxy's, so clients cannot be told apart.
    """

    def __init__(self, limits: Limits, *, behind_proxy: bool = False) -> None:
        self.limits = limits
        self._behind_proxy = behind_proxy
        self._of: dict[str, dict[Connection, None]] = {}
        """By client, those that have waited longest first."""
        self._by_file: dict[int, Connection] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return sum(len(own) for own in self._of.values())

    def holds(self, connection: Connection) -> bool:
        """Return whether a connection is counted."""
        return connection in self._of.get(connection.client, {})

    def take(self, taken: Connection, address: tuple[Any, ...]) -> bool:
        """Count a connection in; return False where there is no room for it."""
        here = taken.getsockname()
        taken.user = peers.user_between((address[0], address[1]), (here[0], here[1]))
        taken.client = "" if self._behind_proxy else client_at(address[0], taken.user)
        own = self._of.get(taken.client, {})
        of_client = self.limits.connections if self._behind_proxy else self.limits.of_client
        if len(own) >= of_client and not self._make_room((own,)):
            return False
        greedy = sorted(self._of.values(), key=len, reverse=True)
        if len(self) >= self.limits.connections and not self._make_room(greedy):
            return False
        self._of.setdefault(taken.client, {})[taken] = None
        taken.file = taken.fileno()
        self._by_file[taken.file] = taken
        taken.is_closed = self._forget
        return True

    def at(self, transport: asyncio.BaseTransport) -> Connection:
        """Return the connection of a transport."""
        return self._by_file[transport.get_extra_info("socket").fileno()]

    def waits(self, connection: Connection) -> None:
        """Note that an answer has been sent: it has waited less long than all others now."""
        if self.holds(connection):
            own = self._of[connection.client]
            del own[connection]
            own[connection] = None

    def _make_room(self, groups: Iterable[dict[Connection, None]]) -> bool:
        """End the connection that has waited longest, one that has never asked first; return whether there was one."""
        for own in groups:
            idle = [one for one in own if not one.is_busy]
            victim = next((one for one in idle if not one.has_asked), next(iter(idle), None))
            if victim is not None:
                self._discard(victim)
                victim.drop()
                return True
        return False

    def _discard(self, connection: Connection) -> None:
        own = self._of.get(connection.client, {})
        own.pop(connection, None)
        if not own:
            self._of.pop(connection.client, None)

    def _forget(self, connection: Connection) -> None:
        self._discard(connection)
        if self._by_file.get(connection.file) is connection:
            del self._by_file[connection.file]


class Listener(socket.socket):
    """A socket that takes connections as its limits allow."""

    connections: Connections | None = None
    """None: it takes all."""

    def listen(self, backlog: int = WAITING) -> None:
        """Listen; more may wait to be taken than are taken at once, as who does not fit in waits for a second."""
        super().listen(max(backlog, WAITING))

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection.

        Raises:
            ConnectionAbortedError: there is no room for it; it is closed.
        """
        plain, address = super().accept()
        taken = Connection(fileno=plain.detach())
        if self.connections is None:
            return taken, address
        if not self.connections.take(taken, address):
            taken.close()
            raise ConnectionAbortedError
        asyncio.get_running_loop().call_later(self.connections.limits.request_s, _drop_unless_agreed, taken)
        return taken, address


def _drop_unless_agreed(taken: Connection) -> None:
    if taken.abort is None and taken.fileno() >= 0:
        taken.drop()


class Config(uvicorn.Config):
    """uvicorn's settings, and the connections."""

    connections: Connections


class _TimeLimit:
    """A time limit that begins and ends again and again."""

    def __init__(self, seconds: float, late: Callable[[], None]) -> None:
        self._seconds = seconds
        self._late = late
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Begin, unless it has."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._late)

    def end(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class TimedProtocol(H11Protocol):
    """HTTP/1.1 whose requests have to arrive, and whose answers have to be taken, in time."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for a request."""
        assert isinstance(transport, asyncio.Transport) and isinstance(self.config, Config)
        super().connection_made(transport)
        self._all = self.config.connections
        self._own = self._all.at(transport)
        self._own.abort = transport.abort
        self.app_state = {**self.app_state, "client": self._own.client, "user": self._own.user}
        self._incoming = _TimeLimit(self._all.limits.request_s, transport.abort)
        self._outgoing = _TimeLimit(self._all.limits.answer_s, transport.abort)
        self._incoming.begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers of both directions."""
        self._incoming.end()
        self._outgoing.end()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came; wait for the rest of the request, if there is one."""
        super().data_received(data)
        self._note()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._all.waits(self._own)
        self._note()

    def pause_writing(self) -> None:
        """Wait for a reader that takes nothing."""
        super().pause_writing()
        self._outgoing.begin()

    def resume_writing(self) -> None:
        """The client takes bytes again."""
        self._outgoing.end()
        super().resume_writing()

    def _note(self) -> None:
        self._own.has_asked = self.cycle is not None
        self._own.is_busy = self.cycle is not None and not self.cycle.response_complete
        state = self.conn.their_state
        if state is h11.SEND_BODY or (state is h11.IDLE and self.conn.trailing_data[0]):
            self._incoming.begin()
        elif self.cycle is not None:
            self._incoming.end()
