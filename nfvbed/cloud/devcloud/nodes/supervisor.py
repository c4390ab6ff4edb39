"""The first process of a node: starts services and commands on request, keeps their status, and reaps orphans.

It runs on the Python of the private root, in the node's namespaces, and imports nothing but the standard library. A
request is a line of JSON on a Unix socket, and so is the answer. When it ends, the kernel ends all that it started.
"""

import base64
import grp
import json
import os
import pwd
import resource
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any

SOCKET = "/run/nfvbed/socket"
LOGS = "/var/log/nfvbed"
OPEN_FILES = 65536
"""Erlang and MariaDB size tables by this limit."""
PATH = "/opt/tacker/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ORPHANS_S = 5.0
"""Within which processes that were killed are gone."""


class Children:
    """Exit statuses of all that ended, also of what others started: as pid 1 this process inherits every orphan."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ended: dict[int, int] = {}
        self._wanted: set[int] = set()

    def reap_for_ever(self) -> None:
        """Wait for children; blocks while there are none."""
        while True:
            try:
                pid, status = os.waitpid(-1, 0)
            except ChildProcessError:
                time.sleep(0.05)
                continue
            with self._changed:
                self._ended[pid] = os.waitstatus_to_exitcode(status)
                # Orphans' statuses are not asked for; the last are kept in case their process is about to be expected.
                for old in [p for p in self._ended if p not in self._wanted][:-64]:
                    del self._ended[old]
                self._changed.notify_all()

    def expect(self, pid: int) -> None:
        """Keep the exit status of this process."""
        with self._changed:
            self._wanted.add(pid)

    def forget(self, pid: int) -> None:
        """Forget the exit status of this process: ids are used again."""
        with self._changed:
            self._wanted.discard(pid)
            self._ended.pop(pid, None)

    def status(self, pid: int, timeout_s: float = 0.0) -> int | None:
        """Return the exit status; None when it still runs after the time-out."""
        with self._changed:
            self._changed.wait_for(lambda: pid in self._ended, timeout_s)
            return self._ended.get(pid)


class Supervisor:
    """Answers requests."""

    def __init__(self, children: Children) -> None:
        self._children = children
        self._services: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to one request."""
        work = getattr(self, "do_" + request.pop("do"))
        found: dict[str, Any] = work(**request)
        return found

    def do_ping(self) -> dict[str, Any]:
        """Answer that the supervisor runs."""
        return {"pid": os.getpid()}

    def do_write(self, path: str, content: str, mode: int, owner: str) -> dict[str, Any]:
        """Write a file in one step, making its folder."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        user, _, group = owner.partition(":")
        draft = target.with_name("." + target.name + ".new")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(base64.b64decode(content))
        _own(draft, user, group)
        draft.chmod(mode)
        draft.rename(target)
        return {}

    def do_mkdir(self, path: str, mode: int, owner: str) -> dict[str, Any]:
        """Make a folder."""
        Path(path).mkdir(parents=True, exist_ok=True)
        user, _, group = owner.partition(":")
        _own(Path(path), user, group)
        Path(path).chmod(mode)
        return {}

    def do_start(
        self, name: str, argv: list[str], user: str = "root", environment: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """Start a service in its user's home, where some write files; nothing to do when it runs."""
        with self._lock:
            known = self._services.get(name)
            if known and self._children.status(known["pid"]) is None:
                return {"pid": known["pid"], "started": False}
            if known:
                _end_orphans(known["pid"])
            with Path(f"{LOGS}/{name}.log").open("ab") as log, Path("/dev/null").open("rb") as nothing:
                pid = self._spawn(argv, user, environment, (nothing, log, log))
            starts = (known["starts"] if known else 0) + 1
            self._services[name] = {"pid": pid, "since": time.time(), "starts": starts, "argv": argv}
        return {"pid": pid, "started": True}

    def do_stop(self, name: str, timeout_s: float = 10.0) -> dict[str, Any]:
        """End a service and what it started; return its exit status."""
        known = self._services.get(name)
        if known is None:
            return {"status": None}
        for signal_number, wait_s in ((signal.SIGTERM, timeout_s), (signal.SIGKILL, 5.0)):
            try:
                os.killpg(known["pid"], signal_number)
            except ProcessLookupError:
                break
            if self._children.status(known["pid"], wait_s) is not None:
                break
        return {"status": self._children.status(known["pid"])}

    def do_services(self) -> dict[str, Any]:
        """Return the state of all services."""
        return {
            name: {**known, "status": self._children.status(known["pid"])} for name, known in self._services.items()
        }

    def do_run(
        self, argv: list[str], user: str, environment: dict[str, str], input: str, timeout_s: float
    ) -> dict[str, Any]:
        """Run a command to its end."""
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            stdin.write(input.encode())
            stdin.seek(0)
            pid = self._spawn(argv, user, environment, (stdin, out, err))
            status = self._children.status(pid, timeout_s)
            late = status is None
            if late:
                os.killpg(pid, signal.SIGKILL)
                status = self._children.status(pid, 5.0)
            out.seek(0)
            err.seek(0)
            texts = {"stdout": out.read().decode(errors="replace"), "stderr": err.read().decode(errors="replace")}
        self._children.forget(pid)
        return {"status": status, "late": late, **texts}

    def _spawn(
        self, argv: list[str], user: str, environment: dict[str, str] | None, streams: tuple[IO[bytes], ...]
    ) -> int:
        entry = pwd.getpwnam(user)
        home = {"HOME": entry.pw_dir, "USER": user, "LOGNAME": user}
        stdin, stdout, stderr = streams
        process = subprocess.Popen(
            argv,
            env={"PATH": PATH, "LANG": "C.UTF-8", **MARKS, **home, **(environment or {})},
            **_identity(entry),
            cwd=entry.pw_dir if Path(entry.pw_dir).is_dir() else "/",
            start_new_session=True,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
        )
        process.returncode = 0  # the reaper has the status; subprocess must not wait for it
        self._children.expect(process.pid)
        return process.pid


def _end_orphans(leader: int) -> None:
    """End what an ended service had started: it may hold the ports that the next one listens on.

    No other process gets a number while a group has it: where there is a process of that number, the group is its own.
    """
    deadline = time.monotonic() + ORPHANS_S
    while time.monotonic() < deadline and not Path(f"/proc/{leader}").exists():
        try:
            os.killpg(leader, signal.SIGKILL)
        except ProcessLookupError:
            return
        time.sleep(0.05)


def _identity(entry: pwd.struct_passwd) -> dict[str, Any]:
    """Return the user and groups of a program; nothing for the supervisor's own user, where that is not root."""
    if os.geteuid() == entry.pw_uid != 0:
        return {}
    groups = os.getgrouplist(entry.pw_name, entry.pw_gid)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": groups}


def _own(path: Path, user: str, group: str) -> None:
    entry = pwd.getpwnam(user)
    os.chown(path, entry.pw_uid, grp.getgrnam(group).gr_gid if group else entry.pw_gid)


MARKS = {name: value for name, value in os.environ.items() if name.startswith("NFVBED_")}


def _serve(supervisor: Supervisor, connection: socket.socket) -> None:
    with connection, connection.makefile("rwb") as stream:
        for line in stream:
            try:
                answer = supervisor.answer(json.loads(line))
            except (OSError, KeyError, ValueError, TypeError, AttributeError, subprocess.SubprocessError) as failure:
                answer = {"error": f"{type(failure).__name__}: {failure}"}
            stream.write(json.dumps(answer).encode() + b"\n")
            stream.flush()


def main() -> None:
    """Listen until the node ends."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(OPEN_FILES, most), most))
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    children = Children()
    threading.Thread(target=children.reap_for_ever, daemon=True).start()
    supervisor = Supervisor(children)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    draft = Path(SOCKET + ".new")
    draft.unlink(missing_ok=True)
    listener.bind(str(draft))
    draft.chmod(0o600)
    listener.listen(64)
    draft.rename(SOCKET)
    # A signal that came just before `accept` would be noticed with the next connection only.
    wake, woken = socket.socketpair()
    woken.setblocking(False)
    signal.set_wakeup_fd(woken.fileno())
    while True:
        ready, _, _ = select.select([listener, wake], [], [])
        if listener in ready:
            connection, _ = listener.accept()
            threading.Thread(target=_serve, args=(supervisor, connection), daemon=True).start()


if __name__ == "__main__":
    main()
