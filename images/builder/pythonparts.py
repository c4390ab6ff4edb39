"""Python of this project, and of the libraries that it runs with, that a guest needs: what `python.txt` lists.

They are those of the environment that builds, except for libraries with compiled parts where the guest's Python is of
another version than this one: those are installed for it, from the same pins.
"""

import shutil
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path

from builder.packages import Package
from builder.recipe import Recipe
from builder.tool import Tool
from nfvbed.errors import PrerequisiteError

_ROOT = Path(__file__).resolve().parents[2]
_PROJECT = "nfvbed/"
_INSTALL = _ROOT / "setup" / "guest-python"


def version_of(packages: Iterable[Package]) -> str:
    """Return the version of Python that a guest of these packages has, as `3.11`; empty: it has none."""
    found = next((package.version for package in packages if package.name == "python3"), "")
    return ".".join(found.split(".")[:2])


def files(recipe: Recipe, version: str, tool: Tool, libraries: Path | None = None) -> dict[str, Path]:
    """Return the files, by their place below the guest's folder.

    Args:
        recipe: says which.
        version: of the guest's Python.
        tool: runs what installs for another version.
        libraries: of the environment that builds, this one's as it is.

    Raises:
        PrerequisiteError: one is missing, or cannot be installed for the guest's Python.
    """
    there = libraries or Path(sysconfig.get_paths()["purelib"])
    bases = {name: _ROOT if name.startswith(_PROJECT) else there for name in recipe.python}
    for name, base in bases.items():
        if not (base / name).exists():
            raise PrerequisiteError(
                f"what the image {recipe.name} needs of Python is missing",
                where=str(base / name),
                fix="make setup-test",
            )
    if version != f"{sys.version_info.major}.{sys.version_info.minor}":
        compiled = [name for name, base in bases.items() if any(_listed(base / name, "*.so"))]
        if compiled:
            bases |= dict.fromkeys(compiled, Path(tool.run([_INSTALL, version, *compiled]).strip()))
    found: dict[str, Path] = {}
    for name, base in bases.items():
        found |= {str(one.relative_to(base)): one for one in _listed(base / name, "*") if one.suffix != ".pyc"}
    return found


def _listed(path: Path, pattern: str) -> list[Path]:
    within = path.rglob(pattern) if path.is_dir() else [path] if path.match(pattern) else []
    return sorted(one for one in within if one.is_file())


def copy(files_of_guest: Mapping[str, Path], target: Path) -> None:
    """Copy the files below a folder of the guest's."""
    for name, source in files_of_guest.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target / name)
