"""TRex's own server: started in its folder, with the configuration that its operator wrote, and ended with this."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

START_S = 90.0
"""Opening NICs takes TRex half a minute."""
ADDRESS = "127.0.0.1"
CLIENT = Path("automation/trex_control_plane/interactive")
"""TRex's Python client, in its folder."""
_AGAIN_S = 0.5
_END_S = 10.0


class StartFailed(Exception):
    """TRex did not start; with what is to be read."""


def start(folder: Path, configuration: Path, workers: int, software: bool) -> "subprocess.Popen[bytes]":
    """Start TRex in interactive mode. What it prints goes where this program's output goes.

    Args:
        folder: of TRex.
        configuration: TRex's file with ports and cores.
        workers: threads for each pair of ports.
        software: for ports that are no NICs of DPDK.
    """
    argv = ["./t-rex-64", "-i", "--cfg", str(configuration), "-c", str(workers), "--no-scapy-server"]
    # Of this program's process group: who ends that, ends TRex.
    return subprocess.Popen(
        argv + (["--software"] if software else []), cwd=folder, stdin=subprocess.DEVNULL, stdout=sys.stderr
    )


def connect(stl: Any, server: "subprocess.Popen[bytes]") -> Any:
    """Connect TRex's client as soon as the server answers.

    Raises:
        StartFailed: it ended, or did not answer in time.
    """
    deadline = time.monotonic() + START_S
    while True:
        client = stl.STLClient(server=ADDRESS)
        try:
            client.connect()
            return client
        except stl.TRexError as error:
            if server.poll() is not None:
                raise StartFailed(f"TRex ended with status {server.returncode}") from error
            if time.monotonic() > deadline:
                raise StartFailed(f"TRex did not answer within {START_S:g} s: {error}") from error
            time.sleep(_AGAIN_S)


def end(server: "subprocess.Popen[bytes]") -> None:
    """End it for certain."""
    server.terminate()
    try:
        server.wait(_END_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def require_ports(client: Any, wanted: tuple[str, ...]) -> None:
    """Make sure that TRex's ports are those of the site's file, in that order.

    Raises:
        StartFailed: they are others.
    """
    found = tuple(str(client.get_port_attr(port).get("pci_addr", "")) for port in range(len(wanted)))
    if tuple(map(_short, found)) != tuple(map(_short, wanted)):
        raise StartFailed(f"TRex's ports are {', '.join(found)}; the site's file has {', '.join(wanted)}")


def _short(address: str) -> str:
    return address.lower().removeprefix("0000:")
