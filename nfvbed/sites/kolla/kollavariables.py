"""The variables that a kolla-ansible knows, read from its playbooks: which of a user's own it takes notice of."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml

from nfvbed.errors import ConfigurationError
from nfvbed.spec import boundedyaml
from nfvbed.spec.textfile import read_text

_ENDS = (".yml", ".yaml", ".j2", ".py")
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class KollaVariables:
    """The variables of one kolla-ansible.

    Args:
        share: its folder `share/kolla-ansible`.
    """

    share: Path

    @classmethod
    def of(cls, share: Path, option: str) -> "KollaVariables":
        """Return those of a folder.

        Args:
            option: option of the command line that named the folder.

        Raises:
            ConfigurationError: it is not the folder of a kolla-ansible.
        """
        found = cls(share)
        if not found._of_all:
            raise ConfigurationError(
                "the folder is not share/kolla-ansible of a kolla-ansible",
                where=f"{option} {share}",
                observed="it has no ansible/group_vars/all.yml and no ansible/group_vars/all/*.yml",
                fix="pip install --target DIR --no-deps kolla-ansible==VERSION; then DIR/share/kolla-ansible",
            )
        return found

    @property
    def multinode(self) -> str:
        """Text of its inventory for several machines."""
        return read_text(self.share / "ansible" / "inventory" / "multinode")

    @property
    def password_names(self) -> tuple[str, ...]:
        """Names of the passwords that it takes."""
        return tuple(keys_in((self.share / "etc_examples" / "kolla" / "passwords.yml",)))

    def place_of(self, name: str) -> str:
        """Return where a variable is known, or used without a default; empty: nowhere."""
        for known in (self._for_all, self._in_roles):
            if name in known:
                return str(known[name].relative_to(self.share / "ansible"))
        return "used without a default" if name in self._words else ""

    @property
    def _of_all(self) -> list[Path]:
        folder = self.share / "ansible" / "group_vars"
        return [path for path in (folder / "all.yml", *sorted(folder.glob("all/*.yml"))) if path.is_file()]

    @cached_property
    def _for_all(self) -> dict[str, Path]:
        return keys_in(self._of_all)

    @cached_property
    def _in_roles(self) -> dict[str, Path]:
        roles = self.share / "ansible" / "roles"
        return keys_in(path for name in ("defaults", "vars") for path in sorted(roles.glob(f"*/{name}/*.yml")))

    @cached_property
    def _words(self) -> frozenset[str]:
        files = (path for path in (self.share / "ansible").rglob("*") if path.suffix in _ENDS and path.is_file())
        return frozenset(word for path in files for word in _WORD.findall(path.read_text(errors="replace")))


def keys_in(paths: Iterable[Path]) -> dict[str, Path]:
    """Return the keys of YAML files, each with the first file that has it.

    Raises:
        ConfigurationError: one is no mapping, or cannot be read.
    """
    found = dict[str, Path]()
    for path in paths:
        for key in keys_of(read_text(path), path):
            found.setdefault(key, path)
    return found


def keys_of(text: str, path: Path) -> tuple[str, ...]:
    """Return the keys of a YAML text; no value of it is shown, as some are passwords.

    Raises:
        ConfigurationError: it is no mapping.
    """
    try:
        document = boundedyaml.load(text)
    except yaml.YAMLError as failure:
        observed = type(failure).__name__  # what the parser says would show the line
    else:
        if document is None or isinstance(document, dict):
            return tuple(map(str, document or ()))
        observed = "it is no mapping of names to values"
    raise ConfigurationError(
        "a file of variables cannot be read", where=str(path), observed=observed, fix="correct it; it is YAML"
    )
