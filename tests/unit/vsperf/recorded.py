"""The recorded names of VSPERF's releases, one file each in `released/`, made from its repository at a commit.

`conf`, `conf/integration` and `conf/kubernetes` are what the release's own files set, `helpers` those of them that are
no settings; `code` is what its code reads or sets beside, `options` its command line in capitals, `shipped` other
files of its form, `wizard` what its generator of files writes, `documented` what its pages give a value and none of the
others has. Not recorded is what can change while VSPERF runs.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "released"
NAMES: Final = tuple(path.stem for path in sorted(FOLDER.glob("*.json")))
NEWEST: Final = "jerma"
"""stable/jerma, which is master."""
LISTS: Final = ("conf", "conf/integration", "conf/kubernetes", "code", "options", "wizard")
BY_FILE: Final = ("shipped", "documented")


@dataclass(frozen=True)
class Recorded:
    """One release."""

    name: str
    data: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    @property
    def settings(self) -> set[str]:
        """All names of settings, wherever they come from."""
        found = {name for key in LISTS for name in self.data[key]}
        return found | {name for key in BY_FILE for names in self.data[key].values() for name in names}

    @property
    def traffic(self) -> dict[str, set[str]]:
        """Keys of TRAFFIC by the dictionary that they are in."""
        found: dict[str, set[str]] = {}
        for key in self.data["traffic"]:
            part, _, inner = key.rpartition(".")
            found.setdefault(part, set()).add(inner)
        return found

    def classes(self, kind: str) -> set[str]:
        """Names of classes that a setting can name; those of interfaces begin with I and an upper-case letter."""
        return {name for name in self.data["classes"][kind] if not (name[0] == "I" and name[1].isupper())}


@cache
def recorded(name: str) -> Recorded:
    """Return one release."""
    return Recorded(name, json.loads((FOLDER / f"{name}.json").read_text()))


def every() -> list[Recorded]:
    """Return all releases."""
    return [recorded(name) for name in NAMES]
