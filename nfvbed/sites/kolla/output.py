"""The folder of a rendering, to which its user and Kolla's generator of passwords write too."""

import json
from pathlib import Path

from nfvbed.errors import ConfigurationError, UsageError
from nfvbed.spec.below import below
from nfvbed.spec.textfile import read_text
from nfvbed.wholefile import not_written, write_whole

RECORD = "nfvbed/rendered.json"
"""Names of the files that were written the last time."""


def write(folder: Path, files: dict[str, str]) -> tuple[str, ...]:
    """Write files, remove those of the last rendering that are gone, and leave all others alone.

    Returns:
        What was removed.

    Raises:
        UsageError: the folder has files, and none is from an earlier time.
        ConfigurationError: the record of the last time is not readable.
        StoreError: the folder cannot be written.
    """
    before = written_before(folder)
    gone = tuple(sorted(before - set(files)))
    try:
        for name in gone:
            (folder / name).unlink(missing_ok=True)
        for name, content in {**files, RECORD: json.dumps(sorted(files), indent=2) + "\n"}.items():
            path = below(folder, name, nested=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content)
    except OSError as failure:
        raise not_written("the files", failure, "name another folder with --output") from failure
    return gone


def adopt(folder: Path) -> None:
    """Accept a folder without a rendering, with the files that its user has put there."""
    record = folder / RECORD
    if not record.exists():
        record.parent.mkdir(parents=True, exist_ok=True)
        write_whole(record, "[]\n")


def written_before(folder: Path) -> set[str]:
    """Return the names of the files that were rendered the last time.

    Raises:
        UsageError, ConfigurationError: as `write`.
    """
    record = folder / RECORD
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return set()
    if not record.is_file():
        raise UsageError(
            "the folder has files of others, and nothing of a rendering",
            where=str(folder),
            observed=f"there is no {RECORD}",
            fix="name an empty folder with --output, or one that nfvbed has rendered to",
        )
    try:
        names = json.loads(read_text(record))
    except (ConfigurationError, ValueError, RecursionError) as failure:
        raise _damaged(record, str(failure)) from failure
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _damaged(record, "it is no list of names")
    outside = [name for name in names if Path(name).is_absolute() or ".." in Path(name).parts]
    if outside:
        raise _damaged(record, f"it names {outside[0]}, outside the folder")
    return set(names)


def _damaged(record: Path, observed: str) -> ConfigurationError:
    fix = "delete the folder, or name another with --output"
    return ConfigurationError(
        "the record of what was rendered is damaged", where=str(record), observed=observed, fix=fix
    )
