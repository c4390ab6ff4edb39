"""Loads the guest's own CPUs and memory with sysbench, and gives what it counted.

sysbench 1.0 prints its built-in tests for people only; the lines that are read here are those of 1.0.20.
"""

import os
import re
import subprocess
import time

from agent import cpus
from agent.refusal import Refusal
from agent.request import checked

PROGRAM = "sysbench"
_KEYS = {"test": str, "operation": str, "threads": int, "duration_s": int, "max_prime": int, "block_kib": int}
_DEFAULTS = {"operation": "read", "threads": 1, "duration_s": 10, "max_prime": 10_000, "block_kib": 1}
_LIMITS = {"threads": (1, 256), "duration_s": (1, 600), "max_prime": (3, 1_000_000), "block_kib": (1, 1_048_576)}
_TESTS = ("cpu", "memory")
_OPERATIONS = ("read", "write")
_ENOUGH = "1000T"
"""Memory to go through: more than can be within the time, which alone is to end the test."""
_END_S = 60.0
"""After its time sysbench waits for each thread's last event, which many threads on an emulated CPU make long."""
_START_S = 20.0

_NUMBER = r"\s*([0-9.]+)"
_CPU = {"events_per_s": rf"events per second:{_NUMBER}"}
_MEMORY = {"events_per_s": rf"\({_NUMBER} per second\)", "mib_per_s": rf"\({_NUMBER} MiB/sec\)"}
_EVERY = {
    "elapsed_s": rf"total time:{_NUMBER}s",
    "events": rf"total number of events:{_NUMBER}",
    "event_avg_ms": rf"avg:{_NUMBER}",
    "event_max_ms": rf"max:{_NUMBER}",
    "events_per_thread_stddev": rf"events \(avg/stddev\):\s*[0-9.]+/{_NUMBER}",
}


def run(document: dict) -> dict:
    """Do what a request asks: one run of one test.

    Raises:
        Refusal: the request is none, or sysbench does not do it.
    """
    request = checked(document, _KEYS, _DEFAULTS, _LIMITS)
    if request.get("test") not in _TESTS:
        raise Refusal("sysbench needs a test", observed=repr(request.get("test")), fix=f"one of {', '.join(_TESTS)}")
    if request["operation"] not in _OPERATIONS:
        raise Refusal("there is no such operation", observed=repr(request["operation"]), fix="read or write")
    everywhere = cpus.online()
    try:
        process = subprocess.Popen(
            arguments(request), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    except OSError as error:
        raise Refusal("sysbench does not start", observed=error.strerror or "") from error
    spread(process, request["threads"], everywhere)
    try:
        printed, _ = process.communicate(timeout=request["duration_s"] + _END_S)
    except subprocess.TimeoutExpired as error:
        process.kill()
        process.communicate()
        raise Refusal("sysbench does not end", observed=f"{request['duration_s']} s asked for") from error
    if process.returncode != 0:
        raise Refusal(f"sysbench failed (exit {process.returncode})", observed=printed.strip()[-400:])
    return {**counted(request["test"], printed), "threads": request["threads"], "cpus": everywhere}


def arguments(request: dict) -> list[str]:
    """Return the command line."""
    words = [PROGRAM, request["test"], f"--threads={request['threads']}", f"--time={request['duration_s']}"]
    # A number of events would end it as well.
    words.append("--events=0")
    if request["test"] == "cpu":
        return [*words, f"--cpu-max-prime={request['max_prime']}", "run"]
    words += [f"--memory-oper={request['operation']}", f"--memory-block-size={request['block_kib']}K"]
    return [*words, f"--memory-total-size={_ENOUGH}", "run"]


def spread(process: subprocess.Popen, threads: int, everywhere: list[int]) -> None:
    """Put the working threads on all CPUs in turn.

    The kernel's scheduler does not do it: it moves nothing to or from the CPUs that are kept for forwarding.
    """
    folder, placed = f"/proc/{process.pid}/task", set()
    deadline = time.monotonic() + _START_S
    while len(placed) < threads and process.poll() is None and time.monotonic() < deadline:
        try:
            found = sorted(int(name) for name in os.listdir(folder))
        except FileNotFoundError:
            return
        for thread in found:
            if thread == process.pid or thread in placed:
                continue
            try:
                os.sched_setaffinity(thread, {everywhere[len(placed) % len(everywhere)]})
            except ProcessLookupError:
                continue
            placed.add(thread)
        time.sleep(0.005)


def counted(test: str, printed: str) -> dict:
    """Read what sysbench printed.

    Raises:
        Refusal: a line is missing.
    """
    wanted = {**(_CPU if test == "cpu" else _MEMORY), **_EVERY}
    found = {name: re.search(pattern, printed) for name, pattern in wanted.items()}
    missing = [name for name, match in found.items() if match is None]
    if missing:
        raise Refusal(f"sysbench did not print {', '.join(missing)}", observed=printed.strip()[-400:])
    return {name: float(match[1]) for name, match in found.items() if match is not None}
