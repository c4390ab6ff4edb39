"""Paths from text that others wrote: what is stored, imported, asked for or told by another host."""

from pathlib import Path, PurePosixPath
from typing import Final

from nfvbed.characters import shown, unfit
from nfvbed.errors import ConfigurationError

_LONGEST: Final = 255
"""Bytes of a name in a folder, in usual file systems."""


def below(folder: Path, name: str, *, nested: bool = False) -> Path:
    """Return the path of a name in a folder; the name cannot lead out of the folder.

    Args:
        folder: taken as it is; only the name is checked.
        name: untrusted; a name that leads out of the folder is refused.
        nested: whether the name may be a relative path of several parts, below the folder.

    Raises:
        ConfigurationError: it would be elsewhere, or is no name of a file.
    """
    parts = name.split("/") if nested else [name]
    reasons = {
        "it is empty, or has an empty part": not all(parts),
        "it begins at the root": PurePosixPath(name).is_absolute(),
        "it leads out of the folder": ".." in PurePosixPath(name).parts,
        "it has a slash": not nested and "/" in name,
        "it is the folder itself": parts[-1] == ".",
        "it has a control character": bool(unfit(name, spaces=False)),
        "it is too long": any(len(part.encode(errors="replace")) > _LONGEST for part in parts),
    }
    for observed, applies in reasons.items():
        if applies:
            raise ConfigurationError(
                f"{shown(name[:_LONGEST])!r} is no name of a file",
                where=str(folder),
                observed=observed,
                fix="do not trust its author with files: look where it came from",
            )
    return folder / name
