"""Python of this project, and of the libraries that it runs with, that a guest needs: what `python.txt` lists."""

import shutil
import sys
import sysconfig
from pathlib import Path

from builder.recipe import Recipe
from nfvbed.errors import PrerequisiteError

_ROOT = Path(__file__).resolve().parents[2]
_PROJECT = "nfvbed/"
_GUESTS = (3, 11)
"""The version of Debian 12's Python: libraries with compiled parts are of one version."""


def files(recipe: Recipe) -> dict[str, Path]:
    """Return the files, by their place below the guest's folder.

    Raises:
        PrerequisiteError: one is missing, or they are another version's of Python than the guest's.
    """
    if recipe.python and sys.version_info[:2] != _GUESTS:
        raise PrerequisiteError(
            f"the image {recipe.name} cannot be made with this Python",
            observed=f"Python {sys.version_info.major}.{sys.version_info.minor}; libraries with compiled parts go into "
            f"the image, whose Python is {_GUESTS[0]}.{_GUESTS[1]}",
            fix="set nfvbed up with the Python of Debian 12",
        )
    found: dict[str, Path] = {}
    for name in recipe.python:
        base = _ROOT if name.startswith(_PROJECT) else Path(sysconfig.get_paths()["purelib"])
        path = base / name
        if not path.exists():
            raise PrerequisiteError(
                f"what the image {recipe.name} needs of Python is missing", where=str(path), fix="make setup-test"
            )
        listed = sorted(path.rglob("*")) if path.is_dir() else [path]
        found |= {str(one.relative_to(base)): one for one in listed if one.is_file() and one.suffix != ".pyc"}
    return found


def copy(recipe: Recipe, target: Path) -> None:
    """Copy the files below a folder of the guest's."""
    for name, source in files(recipe).items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target / name)
