"""QEMU's monitor with requests and answers in order: a small synchronous front of the asynchronous library."""

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from qemu.qmp import ExecuteError, QMPClient, QMPError

from nfvbed.errors import OnboardError
from nfvbed.patience import patient

_ANSWER_S = patient(20.0)
_AGAIN_S = 0.05


class Monitor:
    """A connection to QEMU's monitor; QEMU serves one at a time."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._runner = asyncio.Runner()
        self._client = QMPClient("nfvbed")

    def __enter__(self) -> "Monitor":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def connect(self, timeout_s: float, alive: Callable[[], None]) -> None:
        """Connect, with repeated attempts until QEMU answers.

        QEMU does not answer while one of its vhost-user ports has no peer.

        Args:
            alive: raises when QEMU has ended.

        Raises:
            OnboardError: it did not answer in time.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            alive()
            left = deadline - time.monotonic()
            observed = self._attempt(min(max(left, 0.1), 1.0))
            if not observed:
                return
            if time.monotonic() > deadline:
                raise OnboardError(
                    f"QEMU's monitor does not answer within {timeout_s:g} s",
                    where=str(self._socket),
                    observed=observed,
                    fix="a vhost-user port waits for the switch: see the switch's log in the run directory",
                )
            time.sleep(_AGAIN_S)

    def _attempt(self, timeout_s: float) -> str:
        """Try to connect once; return what failed, nothing if it worked."""
        try:
            self._runner.run(asyncio.wait_for(self._client.connect(str(self._socket)), timeout_s))
        except (QMPError, OSError, TimeoutError) as failure:
            self._client = QMPClient("nfvbed")
            return str(failure) or type(failure).__name__
        return ""

    def execute(self, command: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Execute a command and return its answer.

        Raises:
            OnboardError: QEMU refuses it, or does not answer.
        """
        words = dict(arguments) if arguments else None
        try:
            return self._runner.run(asyncio.wait_for(self._client.execute(command, words), _ANSWER_S))
        except (ExecuteError, QMPError, OSError, TimeoutError) as failure:
            raise OnboardError(
                f"QEMU does not do {command!r}", where=str(self._socket), observed=str(failure) or "no answer in time"
            ) from failure

    def close(self) -> None:
        """Close the connection; idempotent."""
        try:
            self._runner.run(asyncio.wait_for(self._client.disconnect(), _ANSWER_S))
        except (QMPError, OSError, TimeoutError, RuntimeError, EOFError):
            pass  # QEMU ended first
        finally:
            self._runner.close()
