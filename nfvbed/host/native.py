"""Where the programs of `native/` are built."""

import functools
import os
import subprocess
from pathlib import Path

from nfvbed.errors import PrerequisiteError
from nfvbed.host.identity import this_node

_PLACES = {
    "nfvbed-exec": "exec/nfvbed-exec",
    "nfvbed-coredistance": "coredistance/nfvbed-coredistance",
    "nfvbed-corepace": "corepace/nfvbed-corepace",
    "nfvbed-steal": "steal/nfvbed-steal",
    "nfvgen": "nfvgen/nfvgen",
    "nfvbed-yield": "yield/nfvbed-yield.so",
    "nfvbed-enb": "enb/nfvbed-enb",
    "nfvbed-sctp": "sctp/nfvbed-sctp.so",
    "nfvbed-raw-forwarder": "forwarders/nfvbed-raw-forwarder",
    "nfvbed-xdp-forwarder": "forwarders/nfvbed-xdp-forwarder",
    "nfvbed-xdp-switch": "xdpswitch/nfvbed-xdp-switch",
    "nfvbed-balancer": "balancer/nfvbed-balancer",
    "nfvbed-balancer-simulation": "balancer/nfvbed-balancer-simulation",
    "nfvbed-queue-ends": "balancer/nfvbed-queue-ends",
    "nfvbed-xdp-gateway": "gateway/nfvbed-xdp-gateway",
    "nfvbed-dpdk-gateway": "gateway/nfvbed-dpdk-gateway",
}
_REPOSITORY = Path(__file__).resolve().parents[2]


def build_directory(root: Path | None = None) -> Path:
    """Return the build folder: NFVBED_NATIVE_DIR, or `native/build` below the root (default: this checkout).

    In a guest node it is `.nfvbed/node-native`: an emulated processor lacks instructions that the host's build uses.
    """
    override = os.environ.get("NFVBED_NATIVE_DIR")
    if override:
        return Path(override)
    return (root or _REPOSITORY) / ("native/build" if this_node() is None else ".nfvbed/node-native")


def native_binary(name: str, root: Path | None = None) -> Path:
    """Find a program.

    Raises:
        PrerequisiteError: it is not built.
    """
    path = build_directory(root) / _PLACES.get(name, name)
    if not os.access(path, os.X_OK):
        fix = "make build" if this_node() is None else "make node"
        raise PrerequisiteError(f"{name} is not built", where=str(path), observed="no such program", fix=fix)
    return path


@functools.cache
def version_of(program: Path) -> str:
    """Return a program's version, asked for once: every visit to a cell writes it down."""
    argv = [str(program), "--version"]
    return subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False).stdout.strip()
