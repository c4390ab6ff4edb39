"""A recipe: the folder that says what an image is made of."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nfvbed.errors import ConfigurationError

INITRAMFS_FLAG = "initramfs"
RAMDISK_INIT = "initramfs/init"


@dataclass(frozen=True)
class Recipe:
    """`images/<name>/`, read."""

    folder: Path
    name: str
    version: str
    title: str
    cmdline: str
    """Of the kernel; whoever boots it adds to it."""
    epoch: int
    """Every time stamp in the image, in seconds."""
    disk_signature: str
    """Of the partition table, eight hexadecimal digits; also the serial number of the boot file system."""
    boot_partition_mib: int
    size_limit_mib: int
    programs: list[str]
    """Programs that are run in the guest: each must find its libraries in what is left."""
    compiles: list[str]
    """Python modules that are compiled with all that they import: under TCG that saves seconds of every boot."""
    shares: dict[str, str] = field(default_factory=dict)
    """Files of other recipes, below `images`, by the place that they have in this one's folder."""

    @property
    def shared(self) -> dict[str, Path]:
        """The files of other recipes, by their place in this one's folder."""
        return {place: self.folder.parent / source for place, source in self.shares.items()}

    @property
    def ramdisk_init(self) -> Path:
        """The first program of the initial ramdisk."""
        return self.shared.get(RAMDISK_INIT, self.folder / RAMDISK_INIT)

    @property
    def python(self) -> tuple[str, ...]:
        """Python files and folders that come from this project and from the libraries that it runs with."""
        path = self.folder / "python.txt"
        return tuple(_lines(path)) if path.exists() else ()

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages asked for, without what they depend on."""
        return tuple(_lines(self.folder / "packages.txt"))

    @property
    def modules(self) -> dict[str, bool]:
        """Kernel modules that stay, and whether the initial ramdisk has them too, in order."""
        rows = [line.split() for line in _lines(self.folder / "modules.txt")]
        return {row[0]: INITRAMFS_FLAG in row[1:] for row in rows}

    @property
    def prune(self) -> tuple[str, ...]:
        """Patterns below the root of what is taken out."""
        return tuple(_lines(self.folder / "prune.txt"))

    def digest(self, extra: tuple[Path, ...]) -> str:
        """Hash names, modes and contents of the recipe's files, of those that it shares, and of the extra ones."""
        total = hashlib.sha256()
        named = [(str(path.relative_to(self.folder)), path) for path in _files(self.folder)]
        named += sorted(self.shared.items())
        named += [(f"{path.parent.name}/{path.name}", path) for path in sorted(extra)]
        for name, path in named:
            executable = bool(path.stat().st_mode & 0o100)
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            total.update(f"{name} {executable} {content}\n".encode())
        return total.hexdigest()


def load(folder: Path) -> Recipe:
    """Read a recipe.

    Raises:
        ConfigurationError: a file of it is missing or holds something else than a recipe.
    """
    path = folder / "recipe.json"
    try:
        return Recipe(folder=folder, **json.loads(path.read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise ConfigurationError(
            "the recipe of an image cannot be read", where=str(path), observed=str(error)
        ) from error


def _lines(path: Path) -> Iterator[str]:
    for line in path.read_text().splitlines():
        text = line.split("#", 1)[0].strip()
        if text:
            yield text


def _files(folder: Path) -> list[Path]:
    """Return the recipe's files; what Python left there is none."""
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sorted(found)
