"""Places for those who are answered at once: a few for each client, and the last ones for operators."""

import threading
from collections import Counter
from collections.abc import Callable

from nfvbed.errors import BusyError


class Places:
    """Places; may be asked from several threads.

    Args:
        whole: how many there are.
        reserved: of them for operators alone.
        of_client: how many one client has at most.
        what: what they are for, in the plural.
    """

    def __init__(self, whole: int, reserved: int, of_client: int, what: str) -> None:
        self._whole = whole
        self._reserved = reserved
        self._of_client = of_client
        self._what = what
        self._taken: Counter[str] = Counter()
        self._one_at_a_time = threading.Lock()

    def take(self, client: str, *, operates: bool) -> Callable[[], None]:
        """Take a place, and return what gives it back; more than once does nothing.

        Args:
            client: whose it is; empty: not known, and not counted for itself.
            operates: whether the reserved ones may be taken too.

        Raises:
            BusyError: there is none.
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
