"""nfvgen as a traffic generator of VSPERF.

VSPERF finds it by its own setting TRAFFICGEN_DIR and runs it in its own Python, so that it uses nothing but Python's
library and VSPERF. What it measures with is the nfvbed that started VSPERF: each request goes to it over a Unix socket
as one line of JSON, and one line comes back.
"""

import json
import os
import socket
from collections import OrderedDict
from typing import Any

from tools.pkt_gen.trafficgen import ITrafficGenerator

SOCKET_VARIABLE = "NFVBED_VSPERF_SOCKET"


class NfvGen(ITrafficGenerator):
    """nfvgen, nfvbed's traffic generator."""

    def connect(self) -> "NfvGen":
        """Open the generator on its ports; the switch under test runs by now."""
        self._ask("connect")
        return self

    def disconnect(self) -> None:
        """Nothing to do: nfvbed ends the generator with VSPERF."""

    def send_cont_traffic(self, traffic: Any = None, duration: float = 30) -> "OrderedDict[str, Any]":
        """Send at maximum load, which is what 100 % means on ports without a line rate."""
        return self._ask("continuous", traffic=self._merged(traffic), duration_s=duration)

    def send_burst_traffic(self, traffic: Any = None, duration: float = 20) -> "OrderedDict[str, Any]":
        """Send a number of frames."""
        return self._ask("burst", traffic=self._merged(traffic), duration_s=duration)

    def send_rfc2544_throughput(
        self, traffic: Any = None, tests: int = 1, duration: float = 20, lossrate: float = 0.0
    ) -> "OrderedDict[str, Any]":
        """Search for the throughput."""
        keys = {"traffic": self._merged(traffic), "duration_s": duration, "loss_percent": lossrate, "tests": tests}
        return self._ask("throughput", **keys)

    def _merged(self, traffic: Any) -> Any:
        merged = dict(self.traffic_defaults)
        merged.update(traffic or {})
        return merged

    def _ask(self, command: str, **keys: Any) -> "OrderedDict[str, Any]":
        path = os.environ.get(SOCKET_VARIABLE)
        if not path:
            raise RuntimeError(f"NfvGen works within `nfvbed run --driver vsperf` only: {SOCKET_VARIABLE} is not set")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(path)
            connection.sendall(json.dumps({"command": command, **keys}).encode() + b"\n")
            with connection.makefile("r") as stream:
                line = stream.readline()
        if not line:
            raise RuntimeError("nfvbed ended while NfvGen waited for it")
        answer = json.loads(line, object_pairs_hook=OrderedDict)
        if "error" in answer:
            raise RuntimeError(f"nfvbed: {answer['error']}")
        result: OrderedDict[str, Any] = answer["result"]
        return result
