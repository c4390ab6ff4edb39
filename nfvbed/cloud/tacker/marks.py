"""Whether a VNF is ready, by its instances' output: Nova says ACTIVE of a guest long before its functions run."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import openstack.connection

from nfvbed.cloud.instances import PlacedInstance
from nfvbed.cloud.tacker import console
from nfvbed.cloud.tacker.api import Tell
from nfvbed.errors import OnboardError
from nfvbed.spec.machines import ConsoleSpec

_LINES = 200
_TOLD_LINES = 5
_PAUSE_S = 1.0


@dataclass(frozen=True)
class ReadinessLines:
    """The lines that show that a VNF is ready."""

    said: tuple[str, ...]
    """Lines, in the order of the steps."""
    steps: tuple[tuple[str, int], ...]
    """Each step with its time since the one before, ns."""


class Consoles:
    """The consoles of one VNF's instances."""

    def __init__(self, connection: openstack.connection.Connection, instances: Sequence[PlacedInstance]) -> None:
        self._connection = connection
        self._instances = instances

    def wait(self, wanted: ConsoleSpec, name: str, tell: Tell) -> ReadinessLines:
        """Wait until every line has come, in the order of the steps.

        Args:
            wanted: the lines, and the limit of the time for them.
            tell: called with each line that has come.

        Raises:
            OnboardError: an instance says why it will not be ready, or a line does not come in time; with the last
                lines of all consoles.
        """
        began = before = time.monotonic_ns()
        said: list[str] = []
        steps: list[tuple[str, int]] = []
        while True:
            printed = {one.name: console.last_lines(self._connection, one.id, _LINES) for one in self._instances}
            lines = [line for found in printed.values() for line in found]
            for mark in wanted.marks[len(said) :]:
                line = next((one for one in lines if one.startswith(mark.says)), "")
                if not line:
                    break
                now = time.monotonic_ns()
                said.append(line)
                steps.append((mark.step, now - before))
                before = now
                tell(line)
            if len(said) == len(wanted.marks):
                return ReadinessLines(tuple(said), tuple(steps))
            step = wanted.marks[len(said)].step
            why = next((line for line in lines if line.startswith(wanted.failed)), "")
            late = time.monotonic_ns() - began > wanted.within_s * 1_000_000_000
            if why or late:
                observed = why or f"no line that begins with {wanted.marks[len(said)].says!r} in {wanted.within_s:g} s"
                raise _not_ready(name, step, observed, printed)
            time.sleep(_PAUSE_S)


def _not_ready(name: str, step: str, observed: str, printed: dict[str, list[str]]) -> OnboardError:
    told = [f"console of {one}: {' | '.join(lines[-_TOLD_LINES:]) or 'nothing'}" for one, lines in printed.items()]
    return OnboardError(
        f"VNF {name} is not ready",
        where=f"step {step}, after its instances were ACTIVE",
        observed="; ".join((observed, *told)),
        fix="correct the cause and onboard again; what was made of it is removed",
    )
