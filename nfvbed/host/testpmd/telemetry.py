"""DPDK's telemetry socket (version 2, SOCK_SEQPACKET): counters as JSON from a running DPDK program."""

import json
import socket
from pathlib import Path
from typing import Any

from nfvbed.errors import DeployError
from nfvbed.patience import patient

PATIENCE_S = patient(5.0)
_HELLO_BYTES = 1024


def socket_path(runtime_directory: Path, file_prefix: str) -> Path:
    """Return the socket of a DPDK program with that prefix; `runtime_directory` is its RUNTIME_DIRECTORY."""
    return runtime_directory / "dpdk" / file_prefix / "dpdk_telemetry.v2"


def ask(path: Path, request: str) -> Any:
    """Ask one question ("/ethdev/stats,0") and return the answer's value.

    Raises:
        DeployError: nothing answers, or nothing of that name is known.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.settimeout(PATIENCE_S)
            connection.connect(str(path))
            longest = int(json.loads(connection.recv(_HELLO_BYTES))["max_output_len"])
            connection.send(request.encode())
            answer = json.loads(connection.recv(longest))
    except (OSError, ValueError, KeyError) as failure:
        where = f"{path} {request}"
        raise DeployError("DPDK's telemetry does not answer", where=where, observed=repr(failure)) from failure
    value = answer.get(request.partition(",")[0])
    if value is None:
        raise DeployError("DPDK's telemetry does not know that", where=f"{path} {request}", observed="null")
    return value
