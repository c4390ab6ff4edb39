"""A running guest node: started in a workspace, and asked to execute programs."""

import re
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nfvbed.errors import DeployError
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.qemu.binaries import QemuBinaries
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.sites.guest_node import channel, machine
from nfvbed.sites.guest_node.agent import SCHEMA
from nfvbed.sites.guest_node.channel import NodeChannel
from nfvbed.sites.guest_node.files import NodeFiles
from nfvbed.sites.guest_node.machine import NodeMachine, NodePlaces
from nfvbed.sites.guest_node.ramdisk import FAILED, ramdisk
from nfvbed.sites.ownmachine import Output, OwnMachine, Program, ProgramResult

PROCESS = "node"
BOOT_S = 180.0
"""Bound of a start. An emulated one takes about ten seconds; the rest is for a busy machine."""
END_S = 60.0
"""What an interrupted program is given to tidy up."""
_LISTEN_S = 30.0
_ANSWER_S = 120.0
_PIECE_BYTES = 24 * 1024
_LINES = 8
_LOST_TIMER = re.compile(r"Possible timer handling issue on cpu=(\d+) timer-softirq=(\d+)")
"""What a kernel's RCU says of a processor whose timer is due, with how many timer interrupts it has handled."""
_SEARCH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT = {"PATH": _SEARCH, "HOME": "/root", "LANG": "C.UTF-8", "TERM": "dumb"}


class LostTimerError(DeployError):
    """The emulator lost the timer of a processor of the guest node: what sleeps there sleeps for ever."""


class GuestNode(OwnMachine):
    """One guest node. It ends with its workspace, and so with the nfvbed that started it."""

    def __init__(self, process: ManagedProcess, places: NodePlaces) -> None:
        self._process = process
        self._places = places
        self._channel = NodeChannel(places.channel, self._check)
        self._requests = 0
        self.kernel = ""
        """Its release, when it has booted."""
        self.boot_ns = 0

    @classmethod
    def start(
        cls, workspace: Workspace, wanted: NodeMachine, files: NodeFiles, binaries: QemuBinaries, cores: Sequence[int]
    ) -> "GuestNode":
        """Boot a guest node, and wait until its agent answers.

        Raises:
            DeployError: it does not boot; with the last lines of its console.
        """
        places = NodePlaces(workspace.directory)
        places.ramdisk.write_bytes(ramdisk(files, wanted.modules))
        started = time.monotonic_ns()
        command = machine.argv(wanted, files, binaries, places)
        process = workspace.spawn(PROCESS, command, cores=cores, environment=binaries.environment)
        node = cls(process, places)
        node._channel.connect(_LISTEN_S)
        ready = node._channel.receive(time.monotonic() + BOOT_S)
        node.boot_ns = time.monotonic_ns() - started
        if ready.get("event") != "ready" or ready.get("schema") != SCHEMA or ready["refused"]:
            raise DeployError(
                "the guest node did not start as it should", where=str(places.channel), observed=str(ready)
            )
        node.kernel = ready["kernel"]
        return node

    def execute(self, program: Program, output: Output | None = None, timeout_s: float | None = None) -> ProgramResult:
        """Run a program to its end.

        An interrupt (Ctrl-C) is passed on to it, and goes on here when it has ended, or has not within `END_S`.

        Raises:
            DeployError: it cannot be started, does not end in time, or the guest went away.
        """
        request = self._ask(
            "run",
            argv=list(program.argv),
            directory=str(program.directory),
            environment={**ENVIRONMENT, **(program.environment or {})},
        )
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            return self._collect(request, deadline, output)
        except KeyboardInterrupt:
            self._ask("signal", to=request, number=int(signal.SIGINT))
            self._collect(request, time.monotonic() + END_S, output)
            raise

    def read(self, path: Path) -> bytes:
        """Return a file of the guest.

        Raises:
            DeployError: it cannot be read, or the guest went away.
        """
        request = self._ask("read", path=str(path))
        return self._collect(request, time.monotonic() + _ANSWER_S, None).stdout

    def write(self, path: Path, content: bytes) -> None:
        """Make a file in the guest.

        Raises:
            DeployError: it cannot be written, or the guest went away.
        """
        for place in range(0, max(len(content), 1), _PIECE_BYTES):
            piece = channel.encoded(content[place : place + _PIECE_BYTES])
            request = self._ask("write", path=str(path), begin=place == 0, data=piece)
            self._collect(request, time.monotonic() + _ANSWER_S, None)

    def close(self) -> None:
        """End the guest node."""
        self._channel.close()
        self._process.stop()

    def _ask(self, do: str, **keys: Any) -> int:
        self._requests += 1
        self._channel.send({"id": self._requests, "do": do, **keys})
        return self._requests

    def _collect(self, request: int, deadline: float | None, output: Output | None) -> ProgramResult:
        collected: dict[str, bytearray] = {"stdout": bytearray(), "stderr": bytearray(), "file": bytearray()}
        while True:
            message = self._channel.receive(deadline)
            if message.get("id") != request:
                continue
            if message["event"] == "refused":
                raise DeployError("the guest node cannot do it", observed=message["observed"])
            if message["event"] == "ended":
                return ProgramResult(
                    message["status"], bytes(collected["stdout"] + collected["file"]), bytes(collected["stderr"])
                )
            data = channel.data_of(message)
            collected[message["stream"]] += data
            if output is not None:
                output(message["stream"], data)

    def _check(self) -> None:
        """Check that the guest runs.

        Raises:
            LostTimerError: its kernel says so.
            DeployError: QEMU has ended, or its kernel says that it failed.
        """
        said = console_text(self._places.console)
        if self._process.alive():
            lost = lost_timer(said)
            if not lost:
                return
            raise LostTimerError(
                "the guest node has lost the timer of a processor",
                where=str(self._places.console),
                observed=lost,
                fix="again, in a new one: it is QEMU's emulation that now and then loses it",
            )
        failed = [line for line in said if FAILED in line]
        observed = "\n".join(failed or [*self._process.log_tail(_LINES).splitlines(), *said[-_LINES:]])
        raise DeployError(
            "the guest node has ended",
            where=f"exit status {self._process.exit_status}",
            observed=observed or "not a byte on its console",
            fix="with the same end again, report these lines",
        )


def lost_timer(said: Sequence[str]) -> str:
    """Return the line in which a kernel says for the second time that a processor's timer did not come; else nothing.

    Between the two the processor has handled no timer interrupt. Once alone is no proof: so it says of a host that did
    not run it for twenty seconds.
    """
    before = set()
    for line in said:
        found = _LOST_TIMER.search(line)
        if found is None:
            continue
        if found.groups() in before:
            return line
        before.add(found.groups())
    return ""


def console_text(path: Path) -> list[str]:
    """Return the lines of a console that are not empty."""
    try:
        text = path.read_text(errors="replace")
    except FileNotFoundError:
        return []
    return [line.strip() for line in text.splitlines() if line.strip()]
