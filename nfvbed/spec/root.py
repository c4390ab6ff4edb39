"""Finds the folder that holds nfvbed's data: `deploy/variants`, `deploy/sites`, `vsperf-conf`."""

import os
from collections.abc import Mapping
from pathlib import Path

from nfvbed.errors import ConfigurationError

VARIABLE = "NFVBED_ROOT"
_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = _PACKAGE / "data"
"""What an installed package has in place of a checkout."""


def find_root(explicit: Path | None = None, environment: Mapping[str, str] | None = None) -> Path:
    """Return the root of nfvbed's data, from the first place that has one.

    The places: `--root`, NFVBED_ROOT, the package's checkout, the working directory, the folders above it, what the
    package was installed with. A named one must be a root.

    Raises:
        ConfigurationError: a named root is none, or none was found.
    """
    named = (environment if environment is not None else os.environ).get(VARIABLE)
    if explicit is not None:
        return _checked(explicit, f"--root {explicit}")
    if named:
        return _checked(Path(named), f"{VARIABLE}={named}")
    here = Path.cwd()
    for candidate in (_PACKAGE.parent, here, *here.parents, _INSTALLED):
        if is_root(candidate):
            return candidate
    raise ConfigurationError(
        "nfvbed's data folders were not found",
        where=str(here),
        observed="no deploy/variants here or above",
        fix=f"run it inside a checkout, or name one with --root or {VARIABLE}",
    )


def own_folder(name: str) -> Path:
    """Return a folder of nfvbed's own data: in the checkout, or in the installed package."""
    return (_PACKAGE.parent if is_root(_PACKAGE.parent) else _INSTALLED) / name


def is_installed(root: Path) -> bool:
    """Return whether a root belongs to the installed package: nothing is to be written there."""
    return root == _INSTALLED


def is_root(folder: Path) -> bool:
    """Return whether a folder holds variants."""
    return (folder / "deploy" / "variants").is_dir()


def _checked(folder: Path, where: str) -> Path:
    if not is_root(folder):
        raise ConfigurationError(
            "this folder does not hold nfvbed's data",
            where=where,
            observed="no deploy/variants in it" if folder.is_dir() else "no such folder",
            fix="name the checkout of nfvbed",
        )
    return folder.resolve()
