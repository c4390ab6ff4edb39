"""The command `setup/cache`: lists and prunes what is kept outside the clone, and takes and puts it for set-up."""

import sys
import time
from pathlib import Path

from nfvbed.errors import NfvbedError, UsageError
from nfvbed.sharedcache import UNUSED_DAYS, VARIABLE, WHEELS, Entry, SharedCache

NOT_THERE = 3
"""Exit code of `take` where there is no such entry."""
_USAGE = f"""\
usage: setup/cache list          what is kept in the folder that {VARIABLE} names, with sizes and last use
       setup/cache prune [DAYS]  remove what was not used for so many days ({UNUSED_DAYS}); 0: all
of set-up itself:
       setup/cache take KIND HASH FOLDER | put KIND HASH PATH... | wheels"""


def main(words: list[str]) -> int:
    """Do what a command of `setup/cache` says; return its exit status."""
    try:
        cache = SharedCache.from_environment(_tell)
        if cache is None:
            raise UsageError(f"{VARIABLE} is not set", fix=f"{VARIABLE}=FOLDER setup/cache list")
        match words:
            case ["list"]:
                _show(cache.entries(), "kept")
            case ["prune", *days] if len(days) < 2 and all(text.isdecimal() for text in days):
                _show(cache.prune(*map(int, days)), "removed")
            case ["take", kind, made_of, folder]:
                return 0 if cache.take(kind, made_of, Path(folder)) else NOT_THERE
            case ["put", kind, made_of, *paths] if paths:
                cache.put(kind, made_of, *map(Path, paths))
            case ["wheels"]:
                print(cache.wheels() or "")
            case _:
                print(_USAGE, file=sys.stderr)
                return UsageError.exit_code
    except NfvbedError as failure:
        print(f"cache: {failure}", file=sys.stderr)
        return failure.exit_code
    return 0


def _shown(entry: Entry) -> str:
    used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
    name = "" if entry.kind == WHEELS else entry.path.name[:12]
    return f"{entry.kind:14} {name:12} {entry.size_bytes / 2**20:8.0f} MiB  used {used}  {' '.join(entry.names)}"


def _show(entries: list[Entry], what: str) -> None:
    for entry in entries:
        print(_shown(entry))
    print(f"{what}: {len(entries)}, {sum(entry.size_bytes for entry in entries) / 2**20:.0f} MiB")


def _tell(text: str) -> None:
    print(f"cache: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
