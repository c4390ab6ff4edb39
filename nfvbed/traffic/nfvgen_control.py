"""Requests to one nfvgen process, over as many connections as they take.

nfvgen does not mind when a connection ends: a trial goes on, and its counts are kept until the next one starts. So a
connection that is lost on the way to another host is made again, and what was asked is asked again. One request cannot
simply be repeated: whether a lost `start` was heard is not known. What it began is stopped, and it begins again.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from nfvbed.errors import BusyError, GeneratorError
from nfvbed.patience import patient
from nfvbed.traffic.nfvgen_channel import ChannelClosed, ChannelSilent, NfvgenChannel, connect
from nfvbed.traffic.nfvgen_protocol import Answer

POLL_INTERVAL_S = 0.005
AGAIN_INTERVAL_S = 0.5
"""Between attempts to reach another host again."""
SILENCES = 3
"""Connections over which one request may find no answer before the generator itself counts as stuck."""
ANSWER_TIMEOUT_S = patient(5.0)
LOG_LINES = 15
MAX_WORDS = 300
"""Characters of a line of its output that go into a message."""
BUSY_EXIT = 13
"""nfvgen's exit status when another one answers on its socket."""


class GeneratorProcess(Protocol):
    """The client's view of the process that its owner started."""

    @property
    def pid(self) -> int:
        """Process id."""

    @property
    def exit_status(self) -> int | None:
        """Exit status; None while it runs or when it cannot be known."""

    def alive(self) -> bool:
        """Return whether the process runs; True also where that cannot be known now."""

    def log_tail(self, lines: int = ...) -> str:
        """Return the last lines of its output."""

    def stop(self) -> None:
        """End it for certain; idempotent."""


@dataclass(frozen=True)
class ControlPath:
    """The way to the control socket of a process."""

    connect: Callable[[], NfvgenChannel]
    """Connects; raises `OSError` or `ChannelClosed` where that may work later, another `NfvbedError` where not."""
    again_s: float = 0.0
    """How long a lost connection may take to come back; 0: it is on this machine, and none is lost."""
    reset: Callable[[], None] | None = None
    """Lets go of what may be dead, before it is connected again."""

    @property
    def is_here(self) -> bool:
        """Whether the generator is a process of this machine."""
        return self.again_s == 0

    @classmethod
    def to_socket(cls, path: Path) -> "ControlPath":
        """Return the way to a generator on this machine."""
        return cls(lambda: connect(path))


class NfvgenControl:
    """The conversation with one nfvgen process.

    Args:
        where: place of the socket, for messages.
        program: name of the program, for messages: other programs speak the protocol too.
    """

    def __init__(self, process: GeneratorProcess, way: ControlPath, where: str, program: str = "nfvgen") -> None:
        self.process = process
        self.program = program
        self.way = way
        self.reconnections = 0
        """How often the connection was lost and made again."""
        self._socket = where
        self._channel: NfvgenChannel | None = None

    @property
    def is_open(self) -> bool:
        """Whether it can be asked."""
        return self._channel is not None

    @property
    def where(self) -> str:
        """Process and socket, for messages."""
        return f"process {self.process.pid}, {self._socket}"

    def open(self, deadline: float, start_timeout_s: float) -> None:
        """Connect for the first time.

        Args:
            deadline: end of the wait for its start, on the monotonic clock.
            start_timeout_s: the same limit in s, for the message.

        Raises:
            GeneratorError: it ended before it was ready, or was not ready in time.
        """
        channel = self._connect(deadline, POLL_INTERVAL_S, f"{self.program} ended before it was ready")
        if isinstance(channel, str):
            raise GeneratorError(
                f"{self.program} was not ready within {start_timeout_s:g} s",
                where=self._socket,
                observed=self._log_end(),
                fix="see whether the other side of its ports runs",
            )
        self._channel = channel

    def ask(self, command: str, **keys: Any) -> Answer:
        """Send one request, and again if the connection was lost and came back; return the answer.

        Raises:
            GeneratorError: it ended, does not answer, or the connection does not come back.
        """
        silences = 0
        while True:
            if self._channel is None:
                raise GeneratorError(f"{self.program} was closed already", where=self._socket)
            try:
                return self._channel.request(command, ANSWER_TIMEOUT_S, **keys)
            except ChannelSilent as error:
                silences += 1
                if self.way.is_here or silences == SILENCES:
                    raise
                self._come_back(command, error)
            except ChannelClosed as error:
                self._come_back(command, error)
            if command == "start":
                self.ask("stop")

    def sleep(self, seconds: float) -> None:
        """Sleep without using the CPU; end early when the connection ends.

        Raises:
            GeneratorError: so did the generator, on this machine; elsewhere the next request finds out.
        """
        if self._channel is not None and self._channel.wait_closed(seconds) and self.way.is_here:
            self._wait_for_exit(1.0)
            if not self.process.alive():
                raise self._ended(f"{self.program} ended in the middle of a trial")

    def quit(self) -> None:
        """Ask the generator to quit, and wait briefly; whatever it answers, its owner ends it for certain."""
        channel, self._channel = self._channel, None
        if channel is None:
            return
        try:
            channel.request("quit", 2.0)
            self._wait_for_exit(3.0)
        except GeneratorError:
            pass  # Dead, stuck or garbled.
        finally:
            channel.close()

    def _come_back(self, command: str, lost: GeneratorError) -> None:
        """Reconnect after a lost connection.

        Raises:
            GeneratorError: the generator ended, is on this machine, or cannot be reached in time.
        """
        if self.way.is_here:
            self._wait_for_exit(1.0)
            if self.process.alive():
                raise lost
            raise self._ended(f"{self.program} ended during {command}") from lost
        if self._channel is not None:
            self._channel.close()
        if self.way.reset is not None:
            self.way.reset()
        channel = self._connect(
            time.monotonic() + self.way.again_s, AGAIN_INTERVAL_S, f"{self.program} ended during {command}"
        )
        if isinstance(channel, str):
            raise GeneratorError(
                f"the connection to the generator was lost during {command}, and did not come back within"
                f" {self.way.again_s:g} s",
                where=self.where,
                observed=channel,
                fix="see to the network and the host, then go on with the run (run --resume): what it has measured"
                " is kept",
            ) from lost
        self._channel = channel
        self.reconnections += 1

    def _connect(self, deadline: float, interval_s: float, ended: str) -> NfvgenChannel | str:
        """Connect until it works, the process has ended or the time is over; then return the obstacle."""
        while True:
            if not self.process.alive():
                raise self._ended(ended)
            try:
                return self.way.connect()
            except (FileNotFoundError, ConnectionRefusedError, ChannelClosed) as error:
                failure = str(error)  # Not there yet.
            except OSError as error:
                raise GeneratorError(
                    f"cannot connect to {self.program}", where=self._socket, observed=str(error)
                ) from error
            if time.monotonic() > deadline:
                return failure
            time.sleep(interval_s)

    def _wait_for_exit(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while self.process.alive() and time.monotonic() < deadline:
            time.sleep(POLL_INTERVAL_S)

    def _ended(self, what: str) -> GeneratorError | BusyError:
        status = self.process.exit_status
        if status == BUSY_EXIT:
            return BusyError(
                f"another {self.program} holds the socket",
                where=self.where,
                observed=self._log_end(),
                fix="wait for the other run, or end it if it is yours",
            )
        return GeneratorError(
            what,
            where=self.where,
            observed=f"exit status {'unknown' if status is None else status}; its log ends:\n{self._log_end()}",
        )

    def _log_end(self) -> str:
        # The exit document is among them, on one line with all its latency counts.
        lines = [_cut(line) for line in self.process.log_tail(LOG_LINES).strip().splitlines()]
        return "\n".join(lines) or "(nothing on its output)"


def _cut(line: str) -> str:
    return line if len(line) <= MAX_WORDS else line[:MAX_WORDS] + "..."
