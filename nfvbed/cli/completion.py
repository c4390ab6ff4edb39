"""Values that a shell completes: names in the project's folders, frame sizes, paths, runs of the store.

Nothing is imported for it but what finds the folders: a shell asks at each press of a key. No file is parsed, and what
cannot be read has no values: a message would end up in the prompt.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from nfvbed.cli.places import store_below
from nfvbed.errors import NfvbedError
from nfvbed.spec.root import find_root

FRAME_SIZES: Final = ("64", "128", "256", "512", "1024", "1280", "1518")
"""Frame sizes of RFC 2544, section 9.1."""
TOPOLOGIES: Final = (
    "p2p",
    "pvp",
    "pvvp",
    *(f"pv{n}p" for n in range(1, 11)),
    "pvpv",
    "pvpv4",
    "pvpv8",
    "v2v",
    "p2v",
    "v2p",
    "pcp",
    "vepc",
)
LATEST: Final = "latest"
MOST_RUNS: Final = 50
"""Newest runs that are offered; an older one is found by its first digits."""
PATIENCE_S: Final = 0.5
"""Time that a busy store gets: a prompt waits no longer."""
Values = Iterable[tuple[str, str]]
"""Values with a text on each, which zsh and fish show."""

_FOLDERS: Final = {
    "variant": "deploy/variants/*.yml",
    "site": "deploy/sites/*.yml",
    "experiment": "vsperf-conf/experiments/**/*.yml",
    "flavor": "flavors/*.yml",
    "release": "kolla/releases/*.yml",
    "vnf": "vnfd/*/vnf.yml",
}
_RUNS: Final = """
SELECT id, experiment || ' ' || substr(started_at, 1, 16) || ' ' || coalesce(status, 'without an end') FROM run
WHERE id LIKE :begin || '%' ORDER BY started_at DESC, id DESC LIMIT :most
"""
_LABELS: Final = """
SELECT text, run FROM annotation WHERE text <> ''
AND id IN (SELECT max(id) FROM annotation WHERE mark = 'label' GROUP BY run)
"""
_CELLS: Final = """
SELECT cell.id, cell.role FROM cell JOIN run ON run.id = cell.run
WHERE run.id = (SELECT id FROM run WHERE :run = 'latest' OR id LIKE :run || '%' OR id LIKE '%' || :run OR id IN (
    SELECT run FROM annotation WHERE mark = 'label' AND text = :run) ORDER BY started_at DESC, id DESC LIMIT 1)
ORDER BY cell.position
"""


class NameType(click.types.StringParamType):
    """A text that is a name of one kind; the verb checks whether there is such a name, and suggests near ones.

    Args:
        kind: one of the kinds below.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.name = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin so; a path where none does, and a file may stand in a name's place."""
        found = _fitting(self.kind, ctx, incomplete)
        return found or ([CompletionItem(incomplete, type="file")] if self.kind in _OR_FILE else [])


class FrameSizes(click.IntRange):
    """Bytes of frames with FCS; the default sizes are offered, within the range."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the default sizes that begin so."""
        return _fitting("bytes", ctx, incomplete)


def _fitting(kind: str, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    try:
        values = [*_KINDS[kind](ctx, incomplete)]
    except (NfvbedError, OSError, sqlite3.Error):
        return []
    return [CompletionItem(value, help=text or None) for value, text in values if value.startswith(incomplete)]


def _given(ctx: click.Context, name: str) -> Any:
    """Return what a parameter of the verb, or of all verbs, was given on the line so far."""
    return ctx.params.get(name) or ctx.find_root().params.get(name)


def _root(ctx: click.Context) -> Path:
    root = _given(ctx, "root")
    return find_root(Path(root) if root else None)


def _in_folder(kind: str) -> Callable[[click.Context, str], Values]:
    def names(ctx: click.Context, _: str) -> Values:
        found = _root(ctx).glob(_FOLDERS[kind])
        return [(name, "") for name in sorted(path.parent.name if kind == "vnf" else path.stem for path in found)]

    return names


def _fixed(*values: str) -> Callable[[click.Context, str], Values]:
    return lambda _, __: [(value, "") for value in values]


def _with(kind: str, *more: str) -> Callable[[click.Context, str], Values]:
    return lambda ctx, incomplete: [*_in_folder(kind)(ctx, incomplete), *((value, "") for value in more)]


def _runs(ctx: click.Context, incomplete: str) -> Values:
    labels = _rows(ctx, _LABELS)
    return [(LATEST, "the newest measured run"), *labels, *_rows(ctx, _RUNS, begin=incomplete, most=MOST_RUNS)]


def _cells(ctx: click.Context, _: str) -> Values:
    return _rows(ctx, _CELLS, run=_given(ctx, "run") or LATEST)


def _rows(ctx: click.Context, query: str, **values: str | int) -> Values:
    """Ask a store that is a file; a server is not asked, as it may be slow or ask for a password."""
    location = store_below(_root(ctx), _given(ctx, "store"))
    if "://" in location:
        return []
    with closing(
        sqlite3.connect(f"{Path(location).resolve().as_uri()}?{_how(location)}", timeout=PATIENCE_S, uri=True)
    ) as file:
        return [(str(value), str(text)) for value, text in file.execute(query, values)]


def _how(location: str) -> str:
    """Open it for reading; a file without a log in a folder that cannot be written, as it is."""
    alone = not Path(f"{location}-wal").exists() and not os.access(Path(location).parent, os.W_OK)
    return "immutable=1" if alone else "mode=ro"


_KINDS: Final[Mapping[str, Callable[[click.Context, str], Values]]] = {
    **{kind: _in_folder(kind) for kind in _FOLDERS},
    "variant|best": _with("variant", "best"),
    "vnf|file": _in_folder("vnf"),
    "store": _fixed(),
    "topology": _fixed(*TOPOLOGIES),
    "bytes": _fixed(*FRAME_SIZES),
    "bytes|imix": _fixed(*FRAME_SIZES, "imix"),
    "run": _runs,
    "cell": _cells,
}
_OR_FILE: Final = ("vnf|file", "store")

VARIANT: Final = NameType("variant")
VARIANT_OR_BEST: Final = NameType("variant|best")
SITE: Final = NameType("site")
EXPERIMENT: Final = NameType("experiment")
FLAVOR: Final = NameType("flavor")
RELEASE: Final = NameType("release")
VNF: Final = NameType("vnf")
VNF_OR_FILE: Final = NameType("vnf|file")
TOPOLOGY: Final = NameType("topology")
FRAME_SIZE: Final = NameType("bytes|imix")
RUN: Final = NameType("run")
CELL: Final = NameType("cell")
STORE: Final = NameType("store")
