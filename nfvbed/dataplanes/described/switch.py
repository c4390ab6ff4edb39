"""A described switch in its workspace: its process and commands, what they are filled in with, and what they show."""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import regex

from nfvbed import boundedcommand
from nfvbed.boundedcommand import ProgramEnd
from nfvbed.dataplanes.described.extracts import Extract
from nfvbed.dataplanes.described.options import DescribedOptions, ProcessSpec, ReadySpec
from nfvbed.dataplanes.described.words import Scope, Values, fill, scope_of
from nfvbed.errors import DeployError, NfvbedError, PrerequisiteError, SwitchDiedError, UnsupportedError
from nfvbed.host.ledger.entries import CommandEntry
from nfvbed.host.ledger.processes import ManagedProcess, check_alive
from nfvbed.host.native import build_directory, native_binary
from nfvbed.host.network import napi
from nfvbed.host.testpmd.threads import is_runnable
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.patience import patient
from nfvbed.records import Record, Role, WorkThread
from nfvbed.records.state import NESTED

NAME = "switch"
"""Name of the process in its workspace."""
COMMAND_S = 10.0
"""Time of a command that is no process."""
POLLING_LOOKS = 3
"""How often in a row a polling thread must be seen running: a program's start lets it run for a moment."""
_LOOK_S = 0.02
_LOG_LINES = 12
_KEPT_VARIABLES = ("PATH", "HOME", "LD_LIBRARY_PATH", "NFVBED_PATIENCE")
_STARTER = "nfvbed-exec"
"""Name of the process until it is on its cores and becomes the program."""
DIED = "the switch has ended"


class PortPlace(Record):
    """One port of the switch."""

    name: str
    index: int
    ifindex: int | None = None
    """Interface number of a link."""
    socket: str | None = None
    """Socket of a vhost-user port."""


class HugeMemory(Record):
    """Hugepages of the switch's own."""

    path: str = ""
    """Where they are mounted; empty: they are not."""
    mib: int = 0


class DescribedSpec(Record):
    """All that commands are filled in with; kept with the deployment, so that another process can ask as well."""

    options: Annotated[DescribedOptions, NESTED]
    netns: str
    ports: tuple[PortPlace, ...]
    """In the order of the path: those at the places 2n and 2n + 1 are the ends of one cable."""
    switch_cores: tuple[int, ...]
    control_core: int
    memory: HugeMemory = HugeMemory()


@dataclass(frozen=True)
class PortCounts:
    """What the switch itself counted at a port."""

    rx_packets: int
    tx_packets: int | None
    drops: Mapping[str, int]

    @property
    def all(self) -> dict[str, int]:
        """All of it, by name."""
        sent = {} if self.tx_packets is None else {"tx_packets": self.tx_packets}
        return {"rx_packets": self.rx_packets, **sent, **self.drops}


@dataclass(frozen=True)
class DescribedSwitch:
    """One switch in its workspace."""

    workspace: Workspace
    spec: DescribedSpec

    @property
    def options(self) -> DescribedOptions:
        """What its variant's file says."""
        return self.spec.options

    @property
    def process(self) -> ManagedProcess | None:
        """Its process, the last one that was started; None: the kernel forwards."""
        return None if self.options.process is None else self.workspace.process(NAME)

    def start(self) -> None:
        """Start the process, run the commands, and wait until it is ready.

        Raises:
            SwitchDiedError: the process ended.
            DeployError: a command failed, or it is not ready in time.
            PrerequisiteError: a program is missing.
        """
        self._record_stop()
        deadline = time.monotonic() + patient(ReadySpec.model_fields["within_s"].default)
        ready = self.options.ready
        if ready is not None:
            deadline = time.monotonic() + patient(ready.within_s)
        if self.options.process is not None:
            self._spawn(self.options.process)
        if ready is not None and ready.path is not None:
            path = ready.path
            paths = [Path(fill(path, values)) for values in self._values_of(scope_of([path]))]
            self._wait(deadline, f"{path} does not appear", lambda: all(one.exists() for one in paths))
        self._wait(deadline, "no thread of it forwards", self._forwards)
        self._run_all(self.options.start)
        if ready is not None and ready.run is not None:
            self._wait(deadline, f"{ready.run[0]} does not show that it is ready", lambda: self._shows(ready))

    def stop(self) -> None:
        """Kill the process; of a switch of the kernel, run the commands that end it.

        Raises:
            DeployError: one fails.
        """
        if self.process is not None:
            self.process.kill()
        self._run_all(self.options.stop)

    def check(self) -> None:
        """Check that its process lives.

        Raises:
            SwitchDiedError: it has ended.
        """
        if self.process is not None:
            check_alive(self.process, DIED)

    def check_rules(self) -> None:
        """Check that what the kernel forwards by is still there, where the description says how that is seen (`ready`).

        Raises:
            SwitchDiedError: it is not.
        """
        ready = self.options.ready
        if self.process is None and ready is not None and ready.run is not None and not self._shows(ready):
            raise SwitchDiedError(
                "what the kernel forwards by is gone",
                where=self.spec.netns,
                observed=f"{_where(ready.run)} no longer shows it",
                fix="see who removed it; deploy again",
            )

    def threads(self) -> tuple[WorkThread, ...]:
        """Return the threads of its process that forward, each with its core.

        Raises:
            DeployError: one of them may run on several cores, or on another than the switch's.
        """
        if self.options.process is None or self.process is None or not self.process.alive():
            return ()
        spec, pid = self.options.process.threads, self.process.pid
        named = regex.compile(spec.named)
        found = []
        for tid in sorted(int(task.name) for task in Path(f"/proc/{pid}/task").glob("*")):
            name = napi.thread_name(tid)
            if name in ("", _STARTER) or not named.fullmatch(name, timeout=1.0):
                continue
            core = _core_of(tid, self.spec.switch_cores)
            if core is None:
                raise DeployError(
                    f"thread {name} of the switch is not on a core of its own",
                    where=f"pid {pid}, thread {tid}",
                    observed=f"its cores: {_cores_of(tid)}; those of the switch: {list(self.spec.switch_cores)}",
                    fix="tell the program its cores ({switch_core}, {switch_cores}), or name the threads that forward"
                    " (process.threads.named)",
                )
            found.append(WorkThread(role=Role.SWITCH, pid=pid, tid=tid, core=core, name=name, polling=spec.polling))
        return tuple(found)

    def counts(self) -> dict[str, PortCounts]:
        """Read what it counted at each port, by name; empty where it has no counters of its own.

        Raises:
            SwitchDiedError: its process has ended.
            DeployError: the command fails, or does not show them.
        """
        try:
            return dict(self._counts())
        except NfvbedError:
            self.check()
            raise

    def versions(self) -> dict[str, str]:
        """Return the versions of what is under test, by name."""
        found = {}
        for name, version in self.options.versions.items():
            (values,) = self._values_of(Scope.SWITCH)
            done = self._run(version.run, values, _line(version.input, values))
            found[name] = version.shows.text(done.output + done.errors, values, _where(version.run))
        return found

    def _counts(self) -> Iterator[tuple[str, PortCounts]]:
        spec = self.options.counters
        if spec is None:
            return
        shared: ProgramEnd | None = None
        for port, values in zip(self.spec.ports, self._values_of(Scope.PORT), strict=True):
            if shared is None:
                done = self._run(spec.run, values, _line(spec.input, values))
                shared = done if spec.is_shared else None
            else:
                done = shared

            def count(extract: Extract, output: str = done.output, values: Values = values) -> int:
                return extract.count(output, values, _where(spec.run))

            yield (
                port.name,
                PortCounts(
                    rx_packets=count(spec.rx_packets),
                    tx_packets=None if spec.tx_packets is None else count(spec.tx_packets),
                    drops={name: count(extract) for name, extract in spec.drops.items()},
                ),
            )

    def _record_stop(self) -> None:
        """Leave the commands of the end to the ledger, once: whatever ends the deployment runs them."""
        if any(isinstance(entry, CommandEntry) for entry in self.workspace.ledger.entries):
            return
        # What is recorded last is undone first.
        for command in reversed(self.options.stop):
            for values in self._values_of(scope_of(command)):
                argv = self._argv([fill(word, values) for word in command], in_group=False)
                entry = CommandEntry(argv=tuple(argv), within_s=patient(COMMAND_S), environment=self._environment())
                self.workspace.ledger.record(entry)

    def _spawn(self, spec: ProcessSpec) -> None:
        (once,) = self._values_of(Scope.SWITCH)
        argv: list[str] = []
        for word in spec.run:
            if isinstance(word, str):
                argv.append(fill(word, once))
            else:
                argv += [fill(one, values) for values in self._values_of(word.scope) for one in word.words]
        cores = set(self.spec.switch_cores)
        if any("{control_core}" in word for word in spec.words):
            cores.add(self.spec.control_core)
        argv[0] = located(argv[0], self.options.install)
        self.workspace.spawn(
            NAME, argv, cores=sorted(cores), netns=self.spec.netns, environment=self._filled_environment()
        )

    def _forwards(self) -> bool:
        """Return whether the threads that poll are there and run; threads that sleep need not be waited for."""
        spec = self.options.process
        if spec is None:
            return True
        if not spec.threads.polling:
            return bool(self.threads())
        for _ in range(POLLING_LOOKS):
            found = self.threads()
            if len({thread.core for thread in found}) < len(self.spec.switch_cores) or not all(map(is_runnable, found)):
                return False
            time.sleep(0.005)
        return True

    def _shows(self, ready: ReadySpec) -> bool:
        """Return whether the command of `ready` ends well, for each that it is run for, and shows what it must."""
        run = ready.run or ()
        for values in self._values_of(scope_of(run)):
            done = self._run(run, values, judged=False)
            if done.status != 0:
                return False
            if ready.shows is not None:
                try:
                    ready.shows.text(done.output, values, _where(run))
                except DeployError:
                    return False
        return True

    def _wait(self, deadline: float, what: str, holds: Callable[[], bool]) -> None:
        """Wait until something holds; what is only not so yet, such as a thread's core, may raise meanwhile."""
        while True:
            failure = None
            try:
                if holds():
                    break
            except DeployError as raised:
                failure = raised
            self.check()
            if time.monotonic() > deadline:
                raise failure or self._not_ready(what)
            time.sleep(_LOOK_S)
        self.check()

    def _not_ready(self, what: str) -> DeployError:
        process = self.process
        return DeployError(
            f"the switch is not ready: {what}",
            where=str(process.log) if process is not None else self.spec.netns,
            observed=process.log_tail(_LOG_LINES) if process is not None else "in time",
            fix="a longer ready.within_s, or correct the variant's file",
        )

    def _run_all(self, commands: Sequence[Sequence[str]]) -> None:
        for command in commands:
            for values in self._values_of(scope_of(command)):
                self._run(command, values)

    def _run(self, command: Sequence[str], values: Values, text: str = "", *, judged: bool = True) -> ProgramEnd:
        """Run a command in the switch's namespace, cgroup and beside its cores.

        Args:
            judged: whether a status other than 0 is an error.

        Raises:
            DeployError: it does not.
        """
        argv = self._argv([fill(word, values) for word in command])
        done = boundedcommand.run(argv, within_s=patient(COMMAND_S), text=text, environment=self._environment())
        if judged and done.status != 0:
            where = " ".join(fill(word, values) for word in command)
            raise DeployError("a command of the variant's file fails", where=where, observed=done.said)
        return done

    def _argv(self, words: Sequence[str], *, in_group: bool = True) -> list[str]:
        program = located(words[0], self.options.install)
        place = ["--cgroup", str(self.workspace.cgroup()), "--die-with-parent"] if in_group else []
        cores = ["--cores", str(self.spec.control_core)]
        return [
            str(native_binary("nfvbed-exec")),
            *place,
            *cores,
            "--netns",
            self.spec.netns,
            "--",
            program,
            *words[1:],
        ]

    def _environment(self) -> dict[str, str]:
        """Return all variables of a command: what the file says, and of nfvbed's own only what programs need."""
        kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        return {"LC_ALL": "C.UTF-8", **kept, **self._filled_environment()}

    def _filled_environment(self) -> dict[str, str]:
        (values,) = self._values_of(Scope.SWITCH)
        return {name: fill(word, values) for name, word in self.options.environment.items()}

    def _values_of(self, scope: Scope) -> tuple[Values, ...]:
        """Return what placeholders are filled in with: once, or for each port, or for each cable."""
        spec = self.spec
        once = {
            "id": self.workspace.id,
            "prefix": f"nfvbed-{self.workspace.id}",
            "directory": str(self.workspace.directory),
            "netns": spec.netns,
            "native": str(build_directory()),
            "hugepages": spec.memory.path,
            "hugepages_mib": str(spec.memory.mib),
            "switch_core": str(spec.switch_cores[0]),
            "switch_cores": ",".join(map(str, spec.switch_cores)),
            "control_core": str(spec.control_core),
        }
        if scope is Scope.SWITCH:
            return (once,)
        if scope is Scope.PORT:
            return tuple(once | _of_port(port, spec.ports[port.index ^ 1]) for port in spec.ports)
        cables = zip(spec.ports[::2], spec.ports[1::2], strict=True)
        return tuple(once | _of_cable(number, *ends) for number, ends in enumerate(cables))


def memory_of(workspace: Workspace, mib: int) -> HugeMemory:
    """Reserve a variant's hugepages, where it has any.

    Raises:
        PrerequisiteError: there are too few.
    """
    return HugeMemory(path=str(workspace.hugepages(mib)), mib=mib) if mib else HugeMemory()


def located(program: str, install: str) -> str:
    """Return the path of a program: what has a folder is one, else it is looked for on PATH.

    Raises:
        PrerequisiteError: it is not there.
    """
    path = program if "/" in program else shutil.which(program)
    if path is None or not os.access(path, os.X_OK):
        raise PrerequisiteError(
            f"{program} is not there",
            where="PATH" if path is None else path,
            observed="not found" if path is None else "no such program",
            fix=install or "install it",
        )
    return path


def require_programs(options: DescribedOptions) -> None:
    """Check that all programs of a description are there, where they have no placeholders.

    Raises:
        PrerequisiteError: one is missing.
    """
    for program in options.programs:
        located(program.replace("{native}", str(build_directory())), options.install)


def require_hugepages(options: DescribedOptions, mib: int, variant: str) -> None:
    """Check that a description that names hugepages has some.

    Raises:
        UnsupportedError: it has none.
    """
    if options.uses_hugepages and not mib:
        raise UnsupportedError(
            "a command names {hugepages}, and the variant has none",
            where=f"deploy/variants/{variant}.yml",
            observed="hugepages_mib: 0",
            fix="say hugepages_mib, the memory that the program takes",
        )


def _of_port(port: PortPlace, peer: PortPlace) -> dict[str, str]:
    values = {"port": port.name, "index": str(port.index), "peer": peer.name, "peer_index": str(peer.index)}
    for name, one in (("", port), ("peer_", peer)):
        if one.ifindex is not None:
            values |= {f"{name}ifindex": str(one.ifindex), f"{name}ifindex_hex": f"{one.ifindex:x}"}
    return values if port.socket is None else values | {"socket": port.socket}


def _of_cable(number: int, first: PortPlace, second: PortPlace) -> dict[str, str]:
    values = {"cable": str(number)}
    for name, port in (("first", first), ("second", second)):
        values |= {name: port.name, f"{name}_index": str(port.index)}
        values |= {} if port.socket is None else {f"{name}_socket": port.socket}
    return values


def _line(word: str | None, values: Values) -> str:
    return "" if word is None else f"{fill(word, values)}\n"


def _where(command: Sequence[str]) -> str:
    return " ".join(command)


def _cores_of(tid: int) -> list[int]:
    try:
        return sorted(os.sched_getaffinity(tid))
    except ProcessLookupError:
        return []


def _core_of(tid: int, cores: Sequence[int]) -> int | None:
    """Return the one core of a thread, where it is among these."""
    found = _cores_of(tid)
    return found[0] if len(found) == 1 and found[0] in cores else None


def timed_reset(switch: DescribedSwitch) -> Steps:
    """End the switch and start it again; return how long both take."""
    steps = Steps()
    with steps.timed("reset.kill" if switch.options.process is not None else "reset.remove"):
        switch.stop()
    with steps.timed("reset.start"):
        switch.start()
    return steps
