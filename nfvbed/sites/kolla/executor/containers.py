"""The containers of a rack that are not healthy after a stage failed, with their own last lines.

Ansible says that there was no answer at a port. Why is in the log of the container that should have. With them come the
containers of the role whose task failed, on its machine, and what an engine says that does not answer.
"""

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import NfvbedError
from nfvbed.host.remote.connection import SshHost
from nfvbed.patience import patient
from nfvbed.records import Record
from nfvbed.sites.kolla.executor.events import TaskFailure
from nfvbed.sites.kolla.executor.scrub import Scrubber
from nfvbed.spec.remote import RemoteHostSpec
from nfvbed.spec.site import KollaSiteSpec

_SCRIPT = Path(__file__).with_name("containerlogs.py")
_TIME_LIMIT_S = patient(60.0)
_AT_ONCE = 16
_SHOWN, _LINES_SHOWN, _WIDTH = 3, 6, 300
_ROLE = re.compile(r"[a-z][\w-]*")
_PLAY = "Apply role "


class FailingContainer(Record):
    """A container that is not healthy, or is of the role that failed."""

    name: str
    state: str
    """State in the engine's words: `restarting`, `exited`, ..."""
    status: str
    """The same with its exit status or its health, and since when."""
    said: tuple[str, ...] = ()
    """Last lines of its output."""
    unit: str
    """Its unit of systemd."""
    journal: tuple[str, ...] = ()
    """Last lines of the unit's journal."""
    file: tuple[str, ...] = ()
    """Last lines of its service's own file; none where it has no file of its name."""

    @property
    def rank(self) -> int:
        """How surely it is a fault: what starts may only be slow, and what is healthy only say more."""
        if self.state in ("restarting", "dead"):
            return 0
        if "health: starting" in self.status:
            return 2
        return 3 if self.is_healthy else 1

    @property
    def is_healthy(self) -> bool:
        """Whether it runs, as far as its own check says."""
        return self.state == "running" and "(unhealthy)" not in self.status and "health: starting" not in self.status

    @property
    def lines(self) -> tuple[str, ...]:
        """All of its last lines, each with its source."""
        sources = (("", self.said), (f"{self.unit}: ", self.journal), ("its file: ", self.file))
        return tuple(f"{source}{line}" for source, lines in sources for line in lines)


class _MachineAnswer(Record):
    """The answer of one machine."""

    engine: str | None
    containers: tuple[FailingContainer, ...]
    refused: str = ""
    """What its engine said in place of a list."""
    journal: tuple[str, ...] = ()
    """Last lines of the engine's unit, where it said no list."""


@dataclass(frozen=True)
class FailingContainers:
    """What the machines answered about their containers."""

    of_machines: tuple[tuple[str, FailingContainer], ...] = ()
    """Each container with its machine's name; the likeliest cause first."""
    not_asked: tuple[str, ...] = ()
    """Machines that could not be asked, each with the reason, and lines of their engines after it."""

    def shown(self) -> tuple[str, ...]:
        """Return lines for an error: the likeliest causes, and the names of the others."""
        shown = list[str]()
        for machine, one in self.of_machines[:_SHOWN]:
            shown.append(f"container {one.name} on {machine}: {one.status or one.state}")
            own = [*one.said[-_LINES_SHOWN:], *(f"its file: {line}" for line in one.file[-_LINES_SHOWN:])]
            of_unit = [f"{one.unit}: {line}" for line in one.journal[-_LINES_SHOWN:] if line not in one.said]
            shown += [f"  {line[:_WIDTH]}" for line in (*(own or ["it said nothing"]), *of_unit)]
        others = [f"{one.name} on {machine}" for machine, one in self.of_machines[_SHOWN:]]
        if others:
            shown.append(f"not healthy either: {', '.join(others)}")
        return (*shown, *self.not_asked)


def ask_all(site: KollaSiteSpec, failures: Sequence[TaskFailure], scrub: Scrubber) -> FailingContainers:
    """Ask all machines of Kolla's at the same time; nothing is changed there.

    Args:
        failures: the machines and containers that they name come first; machines that could not be reached are not
            asked.
    """
    dead = {one.host for one in failures if one.unreachable}
    ways = {name: site.reached(name) for name, host in site.hosts.items() if "generator" not in host.roles}
    asked = {name: way for name, way in ways.items() if way is not None and name not in dead}
    found, not_asked = list[tuple[str, FailingContainer]](), list[str]()
    with tempfile.TemporaryDirectory(prefix="nfvbed-") as folder, ThreadPoolExecutor(_AT_ONCE) as pool:
        roles = {name: _roles_on(name, failures) for name in asked}
        answers = {name: pool.submit(_ask, way, Path(folder), roles[name]) for name, way in asked.items()}
        for name, answer in answers.items():
            try:
                told = answer.result()
                found += [(name, _scrubbed(one, scrub)) for one in told.containers]
                if told.refused:
                    not_asked.append(f"{told.engine} of {name} does not answer: {scrub(told.refused)}")
                    own = scrub("\n".join(told.journal[-_LINES_SHOWN:])).splitlines()
                    not_asked += [f"  {told.engine}.service: {line[:_WIDTH]}" for line in own]
            except (NfvbedError, ValueError) as failure:
                said = failure.what if isinstance(failure, NfvbedError) else "what it printed cannot be read"
                not_asked.append(f"containers of {name} are not known: {scrub(said)}")
    found.sort(key=lambda pair: _order(pair[0], pair[1], failures))
    return FailingContainers(tuple(found), tuple(not_asked))


def _roles_on(machine: str, failures: Sequence[TaskFailure]) -> list[str]:
    """Return the names of Kolla's roles whose task failed on a machine.

    A role that others share, as `service-check-containers`, works for the one that the play names.
    """
    here = [one for one in failures if one.host == machine]
    named = [one.role for one in here] + [one.play.removeprefix(_PLAY) for one in here]
    return sorted({name for name in named if _ROLE.fullmatch(name)})


def _ask(way: RemoteHostSpec, folder: Path, roles: Sequence[str]) -> _MachineAnswer:
    with SshHost(way, folder) as host:
        answer = host.run(["python3", "-", *roles], data=_SCRIPT.read_bytes(), timeout_s=_TIME_LIMIT_S)
    return _MachineAnswer.model_validate(json.loads(answer.text))


def _order(
    machine: str, container: FailingContainer, failures: Sequence[TaskFailure]
) -> tuple[bool, bool, int, bool, str]:
    words = " ".join(f"{one.role} {one.task} {one.said}" for one in failures).lower().replace("-", "_")
    named = container.name.lower().replace("-", "_") in words
    elsewhere = machine not in {one.host for one in failures}
    return container.is_healthy, not named, container.rank, elsewhere, container.name


def _scrubbed(container: FailingContainer, scrub: Scrubber) -> FailingContainer:
    def clean(lines: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(scrub("\n".join(lines)).splitlines())

    return container.model_copy(
        update={"said": clean(container.said), "journal": clean(container.journal), "file": clean(container.file)}
    )


def whole(found: FailingContainers) -> Iterator[str]:
    """List all that is known, for the stage's log."""
    for machine, one in found.of_machines:
        yield f"container {one.name} on {machine}: {one.status or one.state}"
        yield from (f"  {line}" for line in one.lines)
    yield from found.not_asked
