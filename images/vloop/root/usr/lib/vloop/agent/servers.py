"""Servers of socket traffic: iperf3, netperf, sockperf."""

import subprocess
import time

from agent.program import read
from agent.refusal import Refusal

_PORTS = {"iperf3": 5201, "netperf": 12865, "sockperf": 11111}
_ARGV = {
    "iperf3": ["iperf3", "--server", "--port"],
    "netperf": ["netserver", "-D", "-4", "-p"],
    "sockperf": ["sockperf", "server", "-i", "0.0.0.0", "-p"],
}
_LISTENS = "0A"
_WAIT_S = 15.0


class Servers:
    """Those that run."""

    def __init__(self) -> None:
        self._running: list[subprocess.Popen] = []

    def start(self, tool: str, port: int | None) -> dict:
        """Start one and wait until it listens."""
        if tool not in _ARGV:
            raise Refusal("there is no such server", observed=repr(tool), fix=f"one of {', '.join(_ARGV)}")
        number = port or _PORTS[tool]
        if listens(number):
            raise Refusal("something listens on this port already", observed=str(number), fix="stop, or another port")
        log = f"/run/{tool}.log"
        with open(log, "wb") as file:
            process = subprocess.Popen(
                [*_ARGV[tool], str(number)], stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT
            )
        self._running.append(process)
        deadline = time.monotonic() + _WAIT_S
        while not listens(number):
            if process.poll() is not None or time.monotonic() > deadline:
                raise Refusal(f"{tool} does not listen", where=log, observed=read(log)[-400:] or f"{process.poll()}")
            time.sleep(0.05)
        return {"tool": tool, "pid": process.pid, "port": number}

    def stop(self) -> None:
        """End all."""
        for process in self._running:
            if process.poll() is None:
                process.kill()
            process.wait()
        self._running.clear()


def listens(port: int) -> bool:
    """Return whether a TCP or UDP socket is bound to the port (procfs: local address, state)."""
    for protocol in ("tcp", "tcp6", "udp", "udp6"):
        for line in read(f"/proc/net/{protocol}").splitlines()[1:]:
            words = line.split()
            bound = int(words[1].rpartition(":")[2], 16) == port
            if bound and (protocol.startswith("udp") or words[3] == _LISTENS):
                return True
    return False
