"""A user's own files in the folder that Kolla is given: `globals.d`, variables of the inventory, overrides of services.

They make another deployment as the rendered files do.
"""

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path

from nfvbed.sites.kolla.ownglobals import own_files

_FOLDERS = ("inventory", "config")
"""Below the folder; with the inventory's `group_vars` and `host_vars`."""


def digests(configuration: Path, rendered: Collection[str]) -> dict[str, str]:
    """Return the SHA-256 of each of these files, by path relative to the folder.

    Args:
        rendered: paths of files that are nfvbed's, now or at the last time.
    """
    paths = [*own_files(configuration)]
    for folder in _FOLDERS:
        paths += [path for path in (configuration / folder).rglob("*") if path.is_file()]
    found = {str(path.relative_to(configuration)): path for path in paths}
    return {name: _digest(path) for name, path in sorted(found.items()) if name not in rendered}


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files that are new, gone or otherwise."""
    return tuple(sorted(name for name in {*before, *now} if before.get(name) != now.get(name)))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
