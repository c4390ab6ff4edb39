"""VSPERF's releases: the settings in each one's `conf`, with their values (`released.json`)."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

ROOT: Final = "$ROOT_DIR"
"""Stands for VSPERF's folder in the recorded values."""
NEWEST: Final = "jerma"
"""The branch stable/jerma, and master."""
LEAST_SHARE: Final = 0.5
"""Part of a release's settings and those that were read that both must have for the files to be that release's."""
_COMMIT_DIGITS: Final = 12


@dataclass(frozen=True)
class Release:
    """A release of VSPERF."""

    name: str
    """Name of its branch, without `stable/`."""
    commit: str
    """Last commit of the branch."""
    defaults: Mapping[str, Any]
    """What its `conf` gives each setting, as JSON holds it."""

    def __str__(self) -> str:
        return f"stable/{self.name}, {self.commit[:_COMMIT_DIGITS]}"


@cache
def releases() -> Mapping[str, Release]:
    """Return all releases by name, the oldest first."""
    recorded = json.loads(files(__package__).joinpath("released.json").read_text(encoding="utf-8"))
    defaults: dict[str, dict[str, Any]] = {name: {} for name in recorded["releases"]}
    for setting, values in recorded["settings"].items():
        for names, value in values.items():
            for name in names.split():
                defaults[name][setting] = value
    commits = recorded["releases"]
    return MappingProxyType({name: Release(name, commits[name], MappingProxyType(defaults[name])) for name in commits})


def release_of(given: Collection[str]) -> Release:
    """Return the release whose `conf` was read, judged by the settings' names; for a user's own file, the newest.

    Args:
        given: names of the settings in the files.
    """
    names = set(given)

    def share(release: Release) -> float:
        own = release.defaults.keys()
        return len(own & names) / len(own | names)

    # Of equal ones the newer.
    likely = max(_newest_first(), key=share)
    return likely if share(likely) >= LEAST_SHARE else releases()[NEWEST]


def _newest_first() -> list[Release]:
    return list(releases().values())[::-1]


def default_of(setting: str, release: Release) -> Any:
    """Return a setting's default: the release's, or that of the newest release with this setting.

    Raises:
        LookupError: no release gives it a value.
    """
    for one in (release, *_newest_first()):
        if setting in one.defaults:
            return one.defaults[setting]
    raise LookupError(setting)


def same(value: Any, other: Any) -> bool:
    """Return whether two values are equal for VSPERF, which also takes numbers and truth values as texts."""
    return bool(_plain(value) == _plain(other))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
