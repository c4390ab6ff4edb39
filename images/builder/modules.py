"""Thins out the kernel's modules: a guest needs some dozens of four thousand."""

import shutil
from pathlib import Path

from nfvbed.errors import ConfigurationError


class ModuleTree:
    """`/lib/modules/<release>` of an unpacked kernel, after depmod."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._needs = _dependencies((folder / "modules.dep").read_text())
        self._paths = {Path(path).stem.replace("-", "_"): path for path in self._needs}
        builtin = (folder / "modules.builtin").read_text().split()
        self._builtin = {Path(path).stem.replace("-", "_") for path in builtin}

    def closure(self, names: list[str]) -> list[str]:
        """Return the files of modules in an order in which each can be inserted; what is built in has none.

        Raises:
            ConfigurationError: the kernel has no such module.
        """
        order: dict[str, None] = {}
        for name in names:
            if name in self._builtin:
                continue
            if name not in self._paths:
                raise ConfigurationError(
                    f"the kernel has no module {name}", where=str(self.folder), fix="take it out of modules.txt"
                )
            path = self._paths[name]
            # depmod lists what a module needs with the most basic last.
            for needed in [*reversed(self._needs[path]), path]:
                order.setdefault(needed)
        return list(order)

    def keep(self, files: list[str]) -> None:
        """Remove every module that is not listed, and folders that are empty then."""
        kept = set(files)
        for path in sorted(self.folder.rglob("*.ko")):
            if str(path.relative_to(self.folder)) not in kept:
                path.unlink()
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path.is_dir() and not path.is_symlink() and not any(path.iterdir()):
                path.rmdir()
        for name in ("build", "source"):
            (self.folder / name).unlink(missing_ok=True)

    def copy(self, files: list[str], target: Path) -> None:
        """Copy modules into the same folders below the target, and their order into the file `order`."""
        for name in files:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.folder / name, target / name)
        (target / "order").write_text("".join(f"{name}\n" for name in files))


def _dependencies(text: str) -> dict[str, list[str]]:
    """Read modules.dep: `path: needed needed`."""
    rows = (line.split(":", 1) for line in text.splitlines() if line)
    return {path: needs.split() for path, needs in rows}
