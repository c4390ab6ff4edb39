"""A generator that frees its ports for a while, for other traffic, and is there again afterwards."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nfvbed.errors import GeneratorError, NfvbedError, SwitchDiedError, VnfDiedError
from nfvbed.traffic.generator import Generator, GeneratorInfo, TrafficRequest, TrafficResult


class ReopenableGenerator(Generator):
    """A generator that can be closed and reopened.

    Args:
        open_: opens one on the same ports; called at once, and again after the ports were free.
    """

    def __init__(self, open_: Callable[[], Generator]) -> None:
        self._open = open_
        self._now = open_()
        self.ports = self._now.ports

    def hello(self) -> GeneratorInfo:
        """Return the description of the generator that is open now."""
        return self._now.hello()

    def run(self, request: TrafficRequest) -> TrafficResult:
        """Run one trial."""
        return self._now.run(request)

    def close(self) -> None:
        """End the generator; idempotent."""
        self._now.close()

    @contextmanager
    def ports_free(self) -> Iterator[None]:
        """Close the generator for the length of a block. After an error that ends deployment or run it stays closed.

        Raises:
            GeneratorError: it does not come up again.
        """
        self._now.close()
        try:
            yield
        except (GeneratorError, SwitchDiedError, VnfDiedError):
            raise
        except NfvbedError:
            self._now = self._open()
            raise
        self._now = self._open()
