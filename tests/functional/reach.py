"""Run as another user: says what can be done to files, sockets and processes that are given, as JSON on its input."""

import contextlib
import fcntl
import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path


def main() -> None:
    given = json.load(sys.stdin)
    found = {
        **{path: list(_of_file(path)) for path in given["files"]},
        **{path: list(_of_socket(path)) for path in given["sockets"]},
        **{f"process {pid}": list(_of_process(pid)) for pid in given["processes"]},
        **{f"make {path}": _done({"make": lambda path=path: _make(path)}) for path in given["folders"]},
    }
    json.dump({what: done for what, done in found.items() if done}, sys.stdout)


def _done(tries: dict[str, Callable[[], object]]) -> list[str]:
    done = []
    for name, act in tries.items():
        with contextlib.suppress(OSError):
            act()
            done.append(name)
    return done


def _of_file(path: str) -> Iterator[str]:
    yield from _done({"write": lambda: os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))})
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return
    try:
        yield "read"
        yield from _done(
            {
                "flock": lambda: fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB),
                "lock": lambda: fcntl.lockf(handle, fcntl.LOCK_SH | fcntl.LOCK_NB),
            }
        )
    finally:
        os.close(handle)


def _of_socket(path: str) -> Iterator[str]:
    address = "\0" + path[1:] if path.startswith("@") else path
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        with socket.socket(socket.AF_UNIX, kind) as tried:
            yield from _done({f"connect {kind.name}": lambda tried=tried: tried.connect(address)})


def _of_process(pid: int) -> Iterator[str]:
    yield from _done(
        {
            "signal": lambda: os.kill(pid, 0),
            "trace": lambda: os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR)),
            "schedule": lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid)),
            "limit": lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
        }
    )


def _make(folder: str) -> None:
    path = f"{folder}/of-another-user"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    Path(path).unlink()


if __name__ == "__main__":
    main()
