"""Finds the folder that holds nfvbed's data: `deploy/variants`, `deploy/sites`, `vsperf-conf`."""

import os
from collections.abc import Mapping
from pathlib import Path

from nfvbed.errors import ConfigurationError

VARIABLE = "NFVBED_ROOT"


def find_root(explicit: Path | None = None, environment: Mapping[str, str] | None = None) -> Path:
    """Find the root: `--root`, then NFVBED_ROOT, then the package's checkout, then here or a folder above.

    Raises:
        ConfigurationError: a named root is none, or none was found.
    """
    named = (environment if environment is not None else os.environ).get(VARIABLE)
    if explicit is not None:
        return _checked(explicit, f"--root {explicit}")
    if named:
        return _checked(Path(named), f"{VARIABLE}={named}")
    here = Path.cwd()
    for candidate in (Path(__file__).resolve().parents[2], here, *here.parents):
        if is_root(candidate):
            return candidate
    raise ConfigurationError(
        "nfvbed's data folders were not found",
        where=str(here),
        observed="no deploy/variants here or above",
        fix=f"run it inside a checkout, or name one with --root or {VARIABLE}",
    )


def is_root(folder: Path) -> bool:
    """Whether a folder holds variants."""
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
