"""How long the steps of a deployment take."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class Steps:
    """Timed steps, in order."""

    def __init__(self) -> None:
        self._done: list[tuple[str, int]] = []

    @property
    def done(self) -> tuple[tuple[str, int], ...]:
        """Name and duration in ns of each step."""
        return tuple(self._done)

    def add(self, steps: Iterable[tuple[str, int]]) -> None:
        """Append steps that were timed elsewhere."""
        self._done += steps

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Time the block; a step that fails is not recorded."""
        started = time.monotonic_ns()
        yield
        self._done.append((step, time.monotonic_ns() - started))
