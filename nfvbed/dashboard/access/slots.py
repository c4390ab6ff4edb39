"""Places for those who are answered at once: a few for each client, and the last ones for operators."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Final

import anyio

from nfvbed.errors import BusyError

OF_OPERATORS: Final = 14
OF_OTHERS: Final = 24
"""Requests that are answered at once; together fewer than the threads that answer them (anyio: 40)."""
OF_CLIENT: Final = 8
"""Requests of one client that are answered at once."""
PATIENCE_S: Final = 15.0
"""How long a request waits for its turn."""


class Slots:
    """A limited number of places; may be asked from several threads.

    Args:
        whole: the number of places.
        reserved: the number of them for operators alone.
        of_client: the most that one client has.
        what: what the places are for, in the plural.
    """

    def __init__(self, whole: int, reserved: int, of_client: int, what: str) -> None:
        self._whole = whole
        self._reserved = reserved
        self._of_client = of_client
        self._what = what
        self._taken: Counter[str] = Counter()
        self._one_at_a_time = threading.Lock()

    def take(self, client: str, *, operates: bool) -> Callable[[], None]:
        """Take a place, and return a function that gives it back; calling it again does nothing.

        Args:
            client: whose it is; empty: not known, and not counted for itself.
            operates: whether the reserved ones may be taken too.

        Raises:
            BusyError: no place is free.
        """
        with self._one_at_a_time:
            most = self._whole if operates else self._whole - self._reserved
            if client and self._taken[client] >= self._of_client:
                raise BusyError(
                    f"one client has at most {self._of_client} {self._what} at once",
                    fix="close some, or load the page again later",
                )
            if self._taken.total() >= most:
                raise BusyError(
                    f"at most {most} {self._what} are answered at once",
                    observed=f"{self._reserved} more are kept for operators" if not operates else "",
                    fix="close some, or load the page again later",
                )
            self._taken[client] += 1
        return self._given_back(client)

    def _given_back(self, client: str) -> Callable[[], None]:
        held = [client]

        def give_back() -> None:
            with self._one_at_a_time:
                if not held:
                    return
                held.clear()
                self._taken[client] -= 1
                self._taken += Counter()  # Clients that have none are forgotten.

        return give_back


class RequestQueue:
    """Requests take turns: those of one client behind each other, and operators' apart from all others'.

    Args:
        patience_s: how long a request waits.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._operators = anyio.CapacityLimiter(OF_OPERATORS)
        self._others = anyio.CapacityLimiter(OF_OTHERS)
        self._clients: dict[str, anyio.CapacityLimiter] = {}

    async def take(self, client: str, *, operates: bool) -> Callable[[], None]:
        """Wait for a turn, and return a function that ends it; calling it again does nothing.

        Args:
            client: whose request it is; empty: not known, and not counted for itself.
            operates: whether it is an operator's.

        Raises:
            BusyError: the turn does not come in time.
        """
        whole = self._operators if operates else self._others
        own = self._clients.setdefault(client, anyio.CapacityLimiter(OF_CLIENT)) if client else None
        held: list[anyio.CapacityLimiter] = []
        turn = object()

        def end() -> None:
            while held:
                held.pop().release_on_behalf_of(turn)
            if own is not None and not own.borrowed_tokens and not own.statistics().tasks_waiting:
                self._clients.pop(client, None)

        try:
            with anyio.fail_after(self._patience_s):
                for limiter in filter(None, (own, whole)):
                    await limiter.acquire_on_behalf_of(turn)
                    held.append(limiter)
        except TimeoutError as error:
            end()
            raise BusyError(
                "too many requests are answered at once",
                observed=f"this one waited {self._patience_s:g} s for its turn",
                fix="load the page again later",
            ) from error
        except BaseException:
            end()
            raise
        return end
