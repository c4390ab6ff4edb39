"""Turns what OpenSSH's client says into an error that names the host and the next step."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from nfvbed.errors import PrerequisiteError
from nfvbed.spec.remote import RemoteHostSpec

SHOWN_LINES = 6
"""Last lines of a program's output that go into a message."""


class ConnectionLost(PrerequisiteError):
    """The connection to a host ended, or could not be made; a later try may succeed."""


class HostRefused(PrerequisiteError):
    """The host is not the intended one, or rejects nfvbed: a second try changes nothing."""


@dataclass(frozen=True)
class _Case:
    said: re.Pattern[str]
    """By the client, on its standard error."""
    what: str
    fix: Callable[[RemoteHostSpec], str]
    again: bool = False
    """Whether it may be otherwise later."""


def _scan(spec: RemoteHostSpec) -> str:
    return f"ssh-keyscan -p {spec.port} {spec.address}"


_CASES = (
    _Case(
        re.compile(r"REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed|REVOKED HOST KEY"),
        "a host has another key than the one that is known",
        lambda spec: (
            f"find out why: was it installed again, or is another machine in its place? Then remove its line"
            f" (ssh-keygen -f {spec.known_hosts} -R ...) and add the key that its console shows"
        ),
    ),
    _Case(
        re.compile(r"No \S+ host key is known|Host key verification failed"),
        "the key of a host is not known",
        lambda spec: (
            f"compare what `{_scan(spec)}` prints with the key that the host's console shows"
            f" (ssh-keygen -lf), then add it to {spec.known_hosts}"
        ),
    ),
    _Case(
        re.compile(r"UNPROTECTED PRIVATE KEY|bad permissions"),
        "a private key can be read by others, so SSH does not use it",
        lambda spec: f"chmod 600 {spec.key}",
    ),
    _Case(
        re.compile(r"Load key .*(?:error in libcrypto|invalid format|incorrect passphrase)"),
        "a private key cannot be used",
        lambda spec: f"see whether {spec.key} is a private key; one with a passphrase must be held by ssh-agent",
    ),
    _Case(
        re.compile(r"Permission denied|Too many authentication failures|no mutual signature"),
        "a host does not let nfvbed in",
        lambda spec: f"add the public key of {spec.key} to ~{spec.user}/.ssh/authorized_keys there",
    ),
    _Case(
        re.compile(r"Bad configuration option|terminating, \d+ bad configuration|Can't open user config"),
        "SSH refuses its configuration",
        lambda spec: f"correct {spec.ssh_config}",
    ),
    _Case(
        re.compile(r"Could not resolve hostname"),
        "the name of a host is not known",
        lambda spec: f"correct the address {spec.address!r}, or the resolver of this machine",
    ),
    _Case(
        re.compile(r"Connection refused"),
        "nothing answers for SSH on a host",
        lambda spec: f"see whether sshd runs there on port {spec.port}",
        again=True,
    ),
    _Case(
        re.compile(r"No route to host|Network is unreachable|timed out|Operation timed out"),
        "a host cannot be reached",
        lambda spec: f"see whether it is up, and whether a firewall lets port {spec.port} through",
        again=True,
    ),
)


def refused(spec: RemoteHostSpec, said: str, doing: str = "connecting") -> ConnectionLost | HostRefused:
    """Return the error for a missing connection.

    Args:
        said: standard error of the client.
        doing: what was tried; a command, where one ran.
    """
    where = f"{spec.where}; {doing}"
    for case in _CASES:
        if case.said.search(said):
            kind = ConnectionLost if case.again else HostRefused
            return kind(case.what, where=where, observed=shown(said), fix=case.fix(spec))
    return ConnectionLost(
        "the connection to a host was lost",
        where=where,
        observed=shown(said) or "SSH ended without a word",
        fix="see whether the host is up and its network works; nothing that is measured already is lost",
    )


def shown(said: str) -> str:
    """Return the last lines of an output, without SSH's frame of at-signs."""
    lines = [line.rstrip() for line in said.splitlines()]
    return "\n".join([line for line in lines if line.strip("@ ")][-SHOWN_LINES:])
