"""The path of what is deployed on a site, as `nfvbed steer` tells it."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from nfvbed.chain import ChainReport
from nfvbed.dashboard.commands import called
from nfvbed.errors import BusyError

FRESH_S: Final = 2.0
"""How long a reading answers who asks again: pages that are loaded at once, and the one after a change."""
QUEUE_S: Final = 30.0
"""How long one waits for others' readings."""

Call = Callable[[Path, list[str], float | None], str]


@dataclass(frozen=True)
class ReadChain:
    """A path, and when it was read."""

    report: ChainReport
    at: datetime
    """UTC."""


class Chains:
    """Reads and changes paths, one at a time; may be called from several threads.

    Args:
        root: of the project.
        call: calls a verb.
    """

    def __init__(self, root: Path, call: Call = called) -> None:
        self._root = root
        self._call = call
        self._one_at_a_time = threading.Lock()
        self._kept: dict[str, tuple[float, ReadChain]] = {}

    def read(self, site: str) -> ReadChain:
        """Return the path on a site.

        Raises:
            NfvbedError: nothing is deployed there, it cannot be read, or another nfvbed is at work.
        """
        return self._asked(site, [], fresh=True)

    def order(self, site: str, names: str) -> ReadChain:
        """Let frames pass the VNFs in another order, and return the path as it is then.

        Args:
            site: where.
            names: of the VNFs, with commas.

        Raises:
            NfvbedError: what `nfvbed steer` failed with; the order is as it was.
        """
        return self._asked(site, ["--order", names])

    def foresee(self, site: str, length: int) -> str:
        """Return what a chain of another length would change.

        Raises:
            NfvbedError: nothing is known of it.
        """
        with self._alone():
            arguments = ["steer", "--site", site, "--length", str(length), "--dry-run"]
            return self._call(self._root, arguments, 60.0).strip()

    def redeploy(self, site: str, length: int) -> ReadChain:
        """Set the chain up again with another length, and return the path as it is then.

        Raises:
            NfvbedError: what `nfvbed steer` failed with.
        """
        return self._asked(site, ["--length", str(length), "--redeploy"])

    def _asked(self, site: str, more: list[str], *, fresh: bool = False) -> ReadChain:
        with self._alone():
            at, kept = self._kept.get(site, (0.0, None))
            if fresh and kept is not None and time.monotonic() - at < FRESH_S:
                return kept
            self._kept.pop(site, None)
            arguments = ["steer", "--site", site, *more, "--json"]
            out = self._call(self._root, arguments, None if more else 60.0)
            found = ReadChain(ChainReport.model_validate_json(out), datetime.now(UTC))
            self._kept[site] = (time.monotonic(), found)
            return found

    def _alone(self) -> "_Alone":
        return _Alone(self._one_at_a_time)


class _Alone:
    """Waits for others, but not for ever."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(timeout=QUEUE_S):
            raise BusyError(
                "the chain is being changed", observed=f"for more than {QUEUE_S:g} s", fix="load the page again"
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()
