"""Who is signed in. A browser has the number of its session in a signed cookie; what it stands for is known here alone.

So a session ends here, and a copy of its cookie is worth nothing: signed cookies alone, which hold all themselves,
cannot be taken back. All sessions end with the server.
"""

import hashlib
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from nfvbed.dashboard.people.roles import Role

LONGEST: Final = timedelta(hours=8)
"""Length of a session: who loses a role, or whose token was changed elsewhere, keeps it here for so long at most."""
IDLE: Final = timedelta(hours=1)
"""Time without a request; a page that follows what runs by itself makes none."""
MOST_SESSIONS: Final = 1000
OF_CLIENT: Final = 100
"""Sessions from one client."""


@dataclass(frozen=True)
class SignedInUser:
    """Who has signed in."""

    user: str
    """With the domain, where it is not the default one; empty: a user who knows a token."""
    role: Role
    until: datetime


@dataclass(frozen=True)
class _Session:
    who: SignedInUser
    client: str
    used: datetime


class Sessions:
    """Who is signed in; may be asked from several threads."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now
        self._known: dict[str, _Session] = {}
        """By digest of their numbers, the oldest first."""
        self._one_at_a_time = threading.Lock()

    def add(self, who: SignedInUser, client: str = "") -> str:
        """Begin a session of a user who has signed in, and return its number.

        Where there are too many sessions, the oldest one goes: of the same client, else of a viewer, else of an
        operator.

        Args:
            client: where the user signs in from; empty: not known, and not counted for itself.
        """
        number = secrets.token_hex(32)
        now = self._now()
        with self._one_at_a_time:
            self._known = {key: one for key, one in self._known.items() if not self._has_ended(one)}
            own = [key for key, one in self._known.items() if client and one.client == client]
            for key in (*own[: max(0, len(own) - OF_CLIENT + 1)], *self._surplus()):
                self._known.pop(key, None)
            session = _Session(replace(who, until=min(who.until, now + LONGEST)), client, now)
            self._known[_digest(number)] = session
        return number

    def of(self, number: str, *, use: bool = True) -> SignedInUser | None:
        """Return the user of a session; None: there is no such session, or it has ended.

        Args:
            use: whether the user asks for something, so that the session is not idle.
        """
        if not number:
            return None
        key = _digest(number)
        with self._one_at_a_time:
            found = self._known.get(key)
            if found is None or self._has_ended(found):
                self._known.pop(key, None)
                return None
            if use:
                self._known[key] = replace(found, used=self._now())
            return found.who

    def end(self, number: str) -> None:
        """End a session; one that is not known is no error."""
        with self._one_at_a_time:
            self._known.pop(_digest(number), None)

    def _has_ended(self, session: _Session) -> bool:
        return self._now() >= min(session.who.until, session.used + IDLE)

    def _surplus(self) -> list[str]:
        """Return the sessions that go for a new one."""
        surplus = max(0, len(self._known) - MOST_SESSIONS + 1)
        oldest = sorted(self._known, key=lambda key: self._known[key].who.role is Role.OPERATOR)
        return oldest[:surplus]


def _digest(number: str) -> str:
    # Looked up by its digest, a number cannot be guessed by how long the answer takes.
    return hashlib.sha256(number.encode()).hexdigest()
