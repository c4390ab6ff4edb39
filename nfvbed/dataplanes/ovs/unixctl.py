"""Commands to a running Open vSwitch daemon over its control socket (JSON-RPC), without ovs-appctl."""

import contextlib
import os
from pathlib import Path

from ovs.unixctl.client import UnixctlClient

from nfvbed.errors import DeployError


def command(socket: Path, name: str, *arguments: str) -> str:
    """Run one command and return its text.

    Raises:
        DeployError: nothing answers, or the daemon refused.
    """
    failure, client = UnixctlClient.create(str(socket))
    if failure:
        raise _error(socket, name, os.strerror(failure))
    with contextlib.closing(client):
        failure, refusal, text = client.transact(name, list(arguments))
    if failure:
        raise _error(socket, name, os.strerror(failure) if failure > 0 else "the connection was closed")
    if refusal:
        raise _error(socket, name, refusal.strip())
    return str(text)


def _error(socket: Path, name: str, observed: str) -> DeployError:
    return DeployError(f"Open vSwitch does not answer {name}", where=str(socket), observed=observed)
