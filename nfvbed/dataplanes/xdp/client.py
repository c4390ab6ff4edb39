"""Requests to nfvbed-xdp-switch: one line over its Unix socket, one JSON document back."""

from pathlib import Path
from typing import Any

from nfvbed.errors import DeployError
from nfvbed.host import linesocket
from nfvbed.records import Record

_PATIENCE_S = 60.0
"""Repeated runs of a program take as long as they were asked to."""


class PortCounts(Record):
    """What the switching program counted at one port since it was loaded."""

    name: str
    received: int
    no_way: int
    """Frames that had no cable to go by; they were dropped (XDP_ABORTED)."""


class Floor(Record):
    """Repeated runs of a program on one frame in the kernel (BPF_PROG_TEST_RUN)."""

    verdict: int
    """The program's (enum xdp_action), of the last run."""
    duration_ns: int
    """Time of one run, as the kernel has it: a whole number."""
    cpu_ns: int
    """CPU time of the whole call."""
    repeat: int


class XdpSwitchClient:
    """Requests to one switch."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def listens(self) -> bool:
        """Return whether the switch answers."""
        return linesocket.listens(self._path)

    def counters(self) -> tuple[PortCounts, ...]:
        """Read the counters of all ports.

        Raises:
            DeployError: it does not answer.
        """
        return tuple(PortCounts.model_validate(port) for port in self._ask("counters")["ports"])

    def program(self) -> str:
        """Return the name of the program that its ports run.

        Raises:
            DeployError: it does not answer.
        """
        return str(self._ask("counters")["program"])

    def use(self, program: str) -> None:
        """Switch all of its ports to another program; every frame meets one of the two.

        Raises:
            DeployError: there is none of that name, or the kernel refuses it.
        """
        self._ask(f"program {program}")

    def floor(self, program: str, repeat: int, frame_size_bytes: int) -> Floor:
        """Run a program repeatedly on one frame, on the switch's core.

        Args:
            frame_size_bytes: with the FCS, which the frame in memory has not.

        Raises:
            DeployError: the kernel refuses it.
        """
        return Floor.model_validate(self._ask(f"floor {program} {repeat} {frame_size_bytes - 4}"))

    def _ask(self, line: str) -> dict[str, Any]:
        try:
            answer = linesocket.ask(self._path, line, _PATIENCE_S)
        except (OSError, ValueError) as failure:
            raise DeployError(
                "the XDP switch does not answer", where=str(self._path), observed=f"{line}: {failure!r}"
            ) from failure
        if "error" in answer:
            raise DeployError("the XDP switch refuses", where=line, observed=str(answer["error"]))
        return answer
