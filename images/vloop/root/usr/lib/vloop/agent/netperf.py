"""The client's end of socket traffic: concurrent netperf connections, each with a process of its own at both ends."""

import subprocess
import time

from agent import cpus
from agent.refusal import Refusal
from agent.request import checked

_KEYS = {
    "server": str,
    "test": str,
    "connections": int,
    "duration_s": int,
    "server_cpus": int,
    "addresses": list,
    "ports": list,
}
_DEFAULTS = {"test": "TCP_STREAM", "connections": 1, "duration_s": 10, "server_cpus": 1, "addresses": [], "ports": None}
_LIMITS = {"connections": (1, 1024), "duration_s": (1, 600), "server_cpus": (1, 256)}
TESTS = ("TCP_STREAM", "TCP_RR")
_REPORTED = ("THROUGHPUT", "THROUGHPUT_UNITS", "ELAPSED_TIME", "LOCAL_TRANSPORT_RETRANS")
_FORMS = {"TCP_STREAM": "m", "TCP_RR": "x"}
_UNITS = {"TCP_STREAM": "10^6bits/s", "TCP_RR": "Trans/s"}
_END_S = 90.0
_LOOK_S = 0.02


def request(document: dict) -> dict:
    """Return the whole request, checked.

    Raises:
        Refusal: it is none.
    """
    found = checked(document, _KEYS, _DEFAULTS, _LIMITS)
    if found.get("test") not in TESTS:
        raise Refusal("there is no such test", observed=repr(found.get("test")), fix=f"one of {', '.join(TESTS)}")
    if not found.get("server"):
        raise Refusal("netperf needs a server", fix='"server": its address')
    return found


def arguments(found: dict, number: int) -> list[str]:
    """Return the command line of one connection; both of its processes are on a CPU in turn."""
    here = cpus.online()
    place = f"{here[number % len(here)]},{number % found['server_cpus']}"
    words = ["netperf", "-4", "-P", "0", "-H", found["server"], "-t", found["test"], "-l", str(found["duration_s"])]
    return [*words, "-T", place, "-f", _FORMS[found["test"]], "--", "-k", ",".join(_REPORTED)]


def run(found: dict) -> dict:
    """Let all connections run at the same time, and sum up.

    `overlap` is the part of the time, from the first start to the last end, in which all of them ran.

    Raises:
        Refusal: one of them failed; none is left running.
    """
    started, ended = [], {}
    clients: list[subprocess.Popen] = []
    try:
        for number in range(found["connections"]):
            clients.append(
                subprocess.Popen(
                    arguments(found, number),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
            )
            started.append(time.monotonic())
        deadline = time.monotonic() + found["duration_s"] + _END_S
        while len(ended) < len(clients):
            for number, client in enumerate(clients):
                if number not in ended and client.poll() is not None:
                    ended[number] = time.monotonic()
            if time.monotonic() > deadline:
                raise Refusal("netperf does not end", observed=f"{len(clients) - len(ended)} of {len(clients)} run on")
            time.sleep(_LOOK_S)
        reported = [client.communicate()[0] for client in clients]
    except OSError as error:
        raise Refusal("netperf does not start", observed=error.strerror or "") from error
    finally:
        for client in clients:
            if client.poll() is None:
                client.kill()
                client.communicate()
    shares = [
        read(text, client.returncode, _UNITS[found["test"]]) for text, client in zip(reported, clients, strict=True)
    ]
    whole = max(ended.values()) - min(started)
    return {
        "test": found["test"],
        "connections": len(shares),
        "throughput": sum(share["throughput"] for share in shares),
        "least": min(share["throughput"] for share in shares),
        "most": max(share["throughput"] for share in shares),
        "retransmissions": sum(share["retransmissions"] for share in shares),
        "overlap": max(0.0, min(ended.values()) - max(started)) / whole if whole else 0.0,
    }


def read(text: str, status: int, unit: str) -> dict:
    """Read netperf's `KEY=VALUE` lines.

    Raises:
        Refusal: it failed, said less than was asked, or counted in another unit.
    """
    reported = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    missing = [key for key in _REPORTED if key not in reported]
    if status != 0 or missing:
        raise Refusal(f"netperf failed (exit {status})", observed=text.strip()[-400:] or f"no {', '.join(missing)}")
    if reported["THROUGHPUT_UNITS"] != unit:
        raise Refusal("netperf counts in another unit", observed=reported["THROUGHPUT_UNITS"], fix=unit)
    return {
        "throughput": float(reported["THROUGHPUT"]),
        # -1 where the kernel does not say
        "retransmissions": max(0, int(reported["LOCAL_TRANSPORT_RETRANS"])),
    }
