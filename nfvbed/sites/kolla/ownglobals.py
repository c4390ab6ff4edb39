"""A user's own variables of Kolla's: the files in `globals.d`, in kolla-ansible's order."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from nfvbed.errors import ConfigurationError
from nfvbed.sites.kolla import collectionfolders
from nfvbed.spec import boundedyaml
from nfvbed.spec.textfile import read_text

RACKS = Path(".nfvbed") / "kolla-sites"
"""Folder of all racks' files, below the project's root."""
CONFIGURATION = "etc"
"""Folder of one rack's that Kolla is given."""
_ENDINGS = (".yml", ".yaml", ".json")
_ROLES = collectionfolders.ENVIRONMENT / "share" / "kolla-ansible" / "ansible"


def own_files(configuration: Path) -> tuple[Path, ...]:
    """Return a user's own files, in Kolla's order: of a variable that is in several the last one counts."""
    folder = configuration / "globals.d"
    found = folder.iterdir() if folder.is_dir() else ()
    return tuple(sorted(path for path in found if path.suffix in _ENDINGS and path.is_file()))


@dataclass(frozen=True)
class KollaVariables:
    """Variables of a rack: the user's own, and where those are silent Kolla's defaults.

    Args:
        own: variables of `globals.d`.
        not_read: files that are not plain YAML, each with the reason.
    """

    own: dict[str, Any]
    root: Path
    not_read: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, root: Path, site: str, rendered: dict[str, Any] | None = None) -> "KollaVariables":
        """Read the files of a rack.

        Args:
            rendered: variables that nfvbed renders; the user's own are stronger.
        """
        own, not_read = dict(rendered or {}), list[str]()
        for path in own_files(root / RACKS / site / CONFIGURATION):
            try:
                found = boundedyaml.load(read_text(path)) or {}
            except (ConfigurationError, yaml.YAMLError) as failure:
                not_read.append(f"{path.name}: {type(failure).__name__}")  # a value may be a secret, as of a vault
                continue
            own |= found if isinstance(found, dict) else {}
        return cls(own, root, tuple(not_read))

    def default(self, file: str, *keys: str) -> Any:
        """Return what Kolla's own file says, such as `roles/loadbalancer/defaults/main.yml`; None: it does not."""
        try:
            found = boundedyaml.load(read_text(self.root / _ROLES / file))
        except (ConfigurationError, yaml.YAMLError):
            return None
        return _within(found, keys)

    def number(self, file: str, *keys: str) -> int | None:
        """Return a variable's number, the user's own or Kolla's; None: it is no number, or an expression."""
        found = _within(self.own, keys) if keys[0] in self.own else self.default(file, *keys)
        return int(found) if isinstance(found, int | str) and str(found).isdigit() else None

    def is_off(self, name: str) -> bool:
        """Return whether the user has switched something off that is on by default."""
        return str(self.own.get(name, True)).lower() in ("false", "no", "0", "off")


def _within(found: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found
