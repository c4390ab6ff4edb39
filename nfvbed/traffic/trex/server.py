"""TRex's own server: started in its folder, with its operator's configuration, and ended with this program."""

import importlib
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nfvbed.traffic.trex import guard

START_S = 90.0
"""Opening NICs takes TRex half a minute."""
ADDRESS = "127.0.0.1"
CLIENT = Path("automation/trex_control_plane/interactive")
"""TRex's Python client, in its folder."""
_AGAIN_S = 0.5
MOST_BYTES = 65_536
"""The largest file of TRex that is read."""


class StartFailed(Exception):
    """An error: TRex did not start; with what to read."""


@dataclass(frozen=True)
class Endpoints:
    """The endpoints of TRex's server, for requests and for reports; both on this host."""

    requests: int
    reports: int


def client_module(folder: Path) -> Any:
    """Import the module of TRex's client, `trex.stl.api`.

    Raises:
        StartFailed: this Python cannot.
    """
    sys.path.insert(0, str(folder / CLIENT))
    try:
        return importlib.import_module("trex.stl.api")
    except ImportError as error:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise StartFailed(f"TRex's client in {folder / CLIENT} does not load with Python {version}: {error}") from error


def _bounded(configuration: Path) -> str:
    """Return the content of TRex's file; this program has only the standard library."""
    with configuration.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES} bytes")
    return content.decode()


def endpoints(configuration: Path) -> Endpoints:
    """Read the server's future endpoints from TRex's file. TRex's module is imported already, with its YAML.

    Raises:
        StartFailed: the file cannot be read, or another TRex is there already.
    """
    yaml = importlib.import_module("yaml")
    try:
        read = yaml.safe_load(_bounded(configuration))[0]
    except (OSError, LookupError, TypeError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise StartFailed(f"TRex's file {configuration} cannot be read: {error}") from error
    found = Endpoints(read.get("zmq_rpc_port", 4501), read.get("zmq_pub_port", 4500))
    for port in (found.requests, found.reports):
        with socket.socket() as tried:
            # The client would take the ports of a TRex that belongs to others.
            if tried.connect_ex((ADDRESS, port)) == 0:
                raise StartFailed(f"TCP port {port} of this host is taken: does another TRex run?")
    return found


def start(folder: Path, configuration: Path, workers: int, software: bool) -> "subprocess.Popen[bytes]":
    """Start TRex in interactive mode. What it prints goes where this program's output goes.

    Args:
        configuration: TRex's file with ports and cores.
        workers: threads for each pair of ports.
        software: TRex counts streams by itself: for NICs that cannot, and for ports that are none of DPDK.
    """
    return guard.start(argv_of(configuration, workers=workers, software=software), folder)


def argv_of(configuration: Path, *, workers: int, software: bool) -> list[str]:
    """Return TRex's command line."""
    argv = ["./t-rex-64", "-i", "--cfg", str(configuration), "-c", str(workers), "--no-scapy-server"]
    # Without the screen that it draws twice a second, and without keys that it would read.
    argv += ["--iom", "0", "--no-key"]
    return argv + (["--software"] if software else [])


def connect(stl: Any, server: "subprocess.Popen[bytes]", at: Endpoints) -> Any:
    """Connect TRex's client as soon as the server answers.

    Raises:
        StartFailed: it ended, or did not answer in time.
    """
    deadline = time.monotonic() + START_S
    while True:
        client = stl.STLClient(server=ADDRESS, sync_port=at.requests, async_port=at.reports)
        try:
            client.connect()
            return client
        except stl.TRexError as error:
            if server.poll() is not None:
                raise StartFailed(f"TRex ended with status {server.returncode}") from error
            if time.monotonic() > deadline:
                raise StartFailed(f"TRex did not answer within {START_S:g} s: {error}") from error
            time.sleep(_AGAIN_S)


def require_ports(client: Any, wanted: tuple[str, ...]) -> None:
    """Make sure that TRex's ports are those of the site's file, in the same order.

    Raises:
        StartFailed: they are others.
    """
    found = tuple(str(client.get_port_attr(port).get("pci_addr", "")) for port in range(len(wanted)))
    if tuple(map(_short, found)) != tuple(map(_short, wanted)):
        raise StartFailed(f"TRex's ports are {', '.join(found)}; the site's file has {', '.join(wanted)}")


def _short(address: str) -> str:
    return address.lower().removeprefix("0000:")
