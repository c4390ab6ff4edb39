"""Requests to a node's first process: commands, services and files, over its Unix socket."""

import base64
import json
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nfvbed.errors import DeployError
from nfvbed.patience import patient

ANSWER_S = 30.0
"""For what is no command."""
_LAST_LINES = 12


@dataclass(frozen=True)
class Command:
    """A program to run in a node."""

    argv: tuple[str, ...]
    user: str = "root"
    environment: tuple[tuple[str, str], ...] = ()
    """Variables beside the default ones; passwords go here or into `input`, as arguments can be read by all."""
    input: str = ""
    timeout_s: float = 60.0


@dataclass(frozen=True)
class Output:
    """Exit status and output of a command."""

    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class ServiceState:
    """One service process of a node."""

    name: str
    pid: int
    """In the node."""
    since: float
    """Seconds since 1970."""
    starts: int
    status: int | None
    """Exit status, negative: the signal; None: it runs."""


class Channel:
    """Requests to one node; each has a connection of its own, so that threads can share the object."""

    def __init__(self, path: Path, node: str) -> None:
        self._path = path
        self.node = node

    def ping(self) -> bool:
        """Return whether the node answers."""
        try:
            self._ask({"do": "ping"}, 5.0)
        except DeployError:
            return False
        return True

    def run(self, command: Command) -> Output:
        """Run a command to its end.

        Raises:
            DeployError: it did not end in its time, or could not be started.
        """
        timeout_s = patient(command.timeout_s)
        answer = self._ask(
            {
                "do": "run",
                "argv": command.argv,
                "user": command.user,
                "environment": dict(command.environment),
                "input": command.input,
                "timeout_s": timeout_s,
            },
            timeout_s + ANSWER_S,
        )
        if answer["late"]:
            raise DeployError(
                f"{command.argv[0]} did not end within {timeout_s:g} s",
                where=f"node {self.node}",
                observed=_last(answer["stderr"] or answer["stdout"]),
                fix="nfvbed devcloud logs shows the services' logs",
            )
        return Output(answer["status"], answer["stdout"], answer["stderr"])

    def check(self, command: Command) -> str:
        """Run a command that must succeed; return what it printed.

        Raises:
            DeployError: it failed; with its last lines.
        """
        output = self.run(command)
        if output.status != 0:
            raise DeployError(
                f"{Path(command.argv[0]).name} failed",
                where=f"node {self.node}: {' '.join(command.argv)}",
                observed=f"exit status {output.status}: {_last(output.stderr or output.stdout)}",
                fix="start again when the cause is removed: nfvbed devcloud start goes on where it failed",
            )
        return output.stdout

    def start(
        self, name: str, argv: Sequence[str], user: str = "root", environment: Mapping[str, str] | None = None
    ) -> bool:
        """Start a service; return False when it ran already."""
        request = {"do": "start", "name": name, "argv": list(argv), "user": user, "environment": environment or {}}
        return bool(self._ask(request, ANSWER_S)["started"])

    def stop(self, name: str, timeout_s: float = 10.0) -> int | None:
        """End a service: SIGTERM, and SIGKILL after the time-out; return its exit status."""
        status = self._ask({"do": "stop", "name": name, "timeout_s": timeout_s}, timeout_s + ANSWER_S)["status"]
        return None if status is None else int(status)

    def services(self) -> tuple[ServiceState, ...]:
        """Return the state of every service that was started."""
        answer = self._ask({"do": "services"}, ANSWER_S)
        return tuple(
            ServiceState(name, one["pid"], one["since"], one["starts"], one["status"]) for name, one in answer.items()
        )

    def write(self, path: str, content: str | bytes, mode: int = 0o644, owner: str = "root") -> None:
        """Write a file of the node.

        Args:
            path: absolute, as the node sees it.
            owner: user, or `user:group`.
        """
        data = content.encode() if isinstance(content, str) else content
        request = {"do": "write", "path": path, "content": base64.b64encode(data).decode(), "mode": mode}
        self._ask({**request, "owner": owner}, ANSWER_S)

    def mkdir(self, path: str, mode: int = 0o755, owner: str = "root") -> None:
        """Make a folder of the node, if it is not there."""
        self._ask({"do": "mkdir", "path": path, "mode": mode, "owner": owner}, ANSWER_S)

    def _ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        try:
            with _connect(self._path, timeout_s) as connection, connection.makefile("rwb") as stream:
                stream.write(json.dumps(request).encode() + b"\n")
                stream.flush()
                line = stream.readline()
        except OSError as failure:
            raise self._gone(str(failure)) from failure
        if not line:
            raise self._gone("the connection was closed")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            what = f"{request['do']} {request.get('name') or request.get('path') or ''}".rstrip()
            raise DeployError(
                f"node {self.node} failed to {what}",
                where=str(request.get("argv") or request.get("path") or ""),
                observed=answer["error"],
                fix="nfvbed devcloud stop, then start",
            )
        return answer

    def _gone(self, observed: str) -> DeployError:
        return DeployError(
            f"node {self.node} does not answer",
            where=str(self._path),
            observed=observed,
            fix="nfvbed devcloud stop, then start",
        )


def _connect(path: Path, timeout_s: float) -> socket.socket:
    """Connect by the folder's handle: a Unix socket's name has at most 107 characters, a folder's may have more."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout_s)
        connection.connect(f"/proc/self/fd/{folder}/{path.name}")
    except OSError:
        connection.close()
        raise
    finally:
        os.close(folder)
    return connection


def _last(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-_LAST_LINES:])
