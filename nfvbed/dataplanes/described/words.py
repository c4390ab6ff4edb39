"""Words of commands with placeholders: checked when a file is read, filled in when a command is run.

A word is one argument of a program (`if={port}`). Nothing splits it, and no shell reads it. `{{` and `}}` are braces.
"""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from string import Formatter
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

MOST_BYTES = 4096
"""The longest word."""


class Scope(StrEnum):
    """What a command is run for: once, once for each port of the switch, or once for each cable."""

    SWITCH = "switch"
    PORT = "port"
    CABLE = "cable"


PLACEHOLDERS: Mapping[Scope, Mapping[str, str]] = {
    Scope.SWITCH: {
        "id": "the deployment's",
        "prefix": "`nfvbed-` and the deployment's id, for names that others see",
        "directory": "the deployment's own, for sockets and files; removed with it",
        "netns": "path of the switch's network namespace, in which all commands run",
        "native": "folder of nfvbed's own built programs and BPF objects",
        "hugepages": "mount of the variant's `hugepages_mib`",
        "hugepages_mib": "their size",
        "switch_core": "the first core of the switch",
        "switch_cores": "all of them, with commas",
        "control_core": "a core for what does not forward",
    },
    Scope.PORT: {
        "port": "name: of a veth port its link's (`s0`, `v1a`), of a vhost-user port `p0`, `v1a`",
        "index": "number in the order of the path, from 0; the two ports of a cable follow each other",
        "ifindex": "number of a veth port's link",
        "ifindex_hex": "the same, hexadecimal",
        "socket": "path of a vhost-user port's socket, which its other side serves",
        "peer": "name of the port at the other end of its cable",
        "peer_index": "number of that port",
        "peer_ifindex": "number of that port's link",
        "peer_ifindex_hex": "the same, hexadecimal",
    },
    Scope.CABLE: {
        "cable": "number, from 0",
        "first": "name of its first port",
        "second": "name of its second port",
        "first_index": "number of the first port",
        "second_index": "number of the second port",
        "first_socket": "socket of the first port",
        "second_socket": "socket of the second port",
    },
}
"""What can stand between braces, and what it is."""
_LINKS_ONLY = frozenset({"ifindex", "ifindex_hex", "peer_ifindex", "peer_ifindex_hex"})
_SOCKETS_ONLY = frozenset({"socket", "first_socket", "second_socket"})
_SCOPE_OF = {name: scope for scope, names in PLACEHOLDERS.items() for name in names}
_OF_SHELLS = frozenset({"|", "||", "&", "&&", ";", "<", ">", ">>", "2>", "2>&1"})
_IN_PATTERN = re.compile(r"\{([a-z_]+)\}")
"""A quantifier of a regular expression (`{2,3}`) has no letters."""

Values = Mapping[str, str]
"""What placeholders are filled in with."""


def names_in(word: str) -> tuple[str, ...]:
    """Return the names of a word's placeholders.

    Raises:
        ValueError: a brace is open, or a placeholder is not known; with those that there are.
    """
    try:
        parts = list(Formatter().parse(word))
    except ValueError as failure:
        raise ValueError(f"{word!r}: {failure}; a brace that is no placeholder's is written twice") from failure
    names = []
    for _, name, layout, conversion in parts:
        if name is None:
            continue
        if layout or conversion:
            raise ValueError(f"{word!r}: a placeholder is a name alone, such as {{{name}}}")
        names.append(name)
    _require_known(names, word)
    return tuple(names)


def _require_known(names: Iterable[str], text: str) -> None:
    for name in names:
        if name not in _SCOPE_OF:
            raise ValueError(f"{text!r} names {{{name}}}, which is no placeholder; there are {_listed()}")


def _listed() -> str:
    return ", ".join(f"{{{name}}}" for name in _SCOPE_OF)


def _check_word(word: str) -> str:
    names_in(word)
    if "\0" in word or "\n" in word:
        raise ValueError(f"{word!r} has a line's end or a zero byte, which no argument here has")
    if word in _OF_SHELLS:
        raise ValueError(f"{word!r} means something to shells, and no shell reads this: a command is one program")
    return word


Word = Annotated[str, StringConstraints(max_length=MOST_BYTES), AfterValidator(_check_word)]
"""One argument, or a path."""


def scope_of(words: Iterable[str]) -> Scope:
    """Return what a command is run for: a port or a cable, if one of its words names something of one.

    Raises:
        ValueError: it names something of both.
    """
    return joined(_SCOPE_OF[name] for word in words for name in names_in(word))


def joined(scopes: Iterable[Scope]) -> Scope:
    """Return the scope of words that stand together.

    Raises:
        ValueError: some are of ports and others of cables.
    """
    found = set(scopes) - {Scope.SWITCH}
    if len(found) > 1:
        raise ValueError("a command is run for each port or for each cable; this one names something of both")
    return found.pop() if found else Scope.SWITCH


def require_ports_have(words: Iterable[str], *, links: bool) -> None:
    """Refuse placeholders that ports of a kind do not have.

    Args:
        links: whether the ports are links of the kernel; else they are sockets.

    Raises:
        ValueError: with the placeholder.
    """
    wrong = _SOCKETS_ONLY if links else _LINKS_ONLY
    for word in words:
        for name in names_in(word):
            if name in wrong:
                kind = "veth ports have no sockets" if links else "vhost-user ports are no links"
                raise ValueError(f"{word!r} names {{{name}}}: {kind}")


def fill(word: str, values: Values) -> str:
    """Return a checked word with its placeholders filled in."""
    return word.format_map(values)


def names_in_pattern(pattern: str) -> tuple[str, ...]:
    """Return the names of a regular expression's placeholders.

    Raises:
        ValueError: one is not known.
    """
    names = _IN_PATTERN.findall(pattern)
    _require_known(names, pattern)
    return tuple(names)


def fill_pattern(pattern: str, values: Values) -> str:
    """Return a regular expression whose placeholders stand for exactly their values."""
    return _IN_PATTERN.sub(lambda found: re.escape(values[found[1]]), pattern)
