"""The guest's root: Debian packages unpacked by mmdebstrap, thinned out, with the recipe's own files laid over them.

Packages are unpacked and not configured: there is no service to set up, and what maintainers' scripts would write
differs from build to build.
"""

import json
import lzma
import shutil
from collections.abc import Mapping
from pathlib import Path

from builder import pythonparts
from builder.modules import ModuleTree
from builder.packages import Package
from builder.recipe import Recipe
from builder.tool import Tool
from nfvbed.errors import ConfigurationError, InternalError

_HOOKS = Path("/usr/share/mmdebstrap/hooks/merged-usr")
_XZ = b"\xfd7zXZ\x00"
_COMPILE = """
import importlib, py_compile, sys
sys.path[:0] = sys.argv[1].split(":")
for name in sys.argv[2:]:
    importlib.import_module(name)
for module in sorted(sys.modules):
    file = getattr(sys.modules[module], "__file__", None) or ""
    if file.endswith(".py"):
        py_compile.compile(file, doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
"""
"""Compiles what the named modules import."""


class RootFs:
    """One root in the making, in `folder`."""

    def __init__(self, folder: Path, recipe: Recipe, tool: Tool, python: Mapping[str, Path]) -> None:
        self.folder = folder
        self.recipe = recipe
        self._python = python
        self._tool = tool

    def unpack(self, packages: tuple[Package, ...], sources: str, acquire: Path) -> None:
        """Download and unpack exactly these versions."""
        chosen = ",".join(f"{package.name}={package.version}" for package in packages)
        argv = ["mmdebstrap", "--mode=root", "--variant=extract", "--format=directory", f"--hook-dir={_HOOKS}"]
        argv += [
            f"--aptopt={acquire}",
            "--architectures=amd64",
            f"--include={chosen}",
            "bookworm",
            str(self.folder),
            "-",
        ]
        self._tool.run(argv, given=sources)

    def finish(self, kernel: Path, ramdisk: Path) -> None:
        """Thin out, add the recipe's files, and return the kernel and the folder of the initial ramdisk."""
        image = _only(self.folder / "boot", "vmlinuz-*")
        release = image.name.removeprefix("vmlinuz-")
        shutil.copyfile(image, kernel)
        self._prune()
        self._choose_modules(release, ramdisk)
        self._overlay()
        self._complete_ramdisk(ramdisk)

    def describe(self, version: str, packages: tuple[Package, ...]) -> None:
        """Leave in the guest what it is, for the agent to say."""
        document = {"name": self.recipe.name, "version": version, "packages": {p.name: p.version for p in packages}}
        (self.folder / "etc" / f"{self.recipe.name}.json").write_text(
            json.dumps(document, indent=1, sort_keys=True) + "\n"
        )

    def _prune(self) -> None:
        patterns = self.recipe.prune
        stays = {path for line in patterns if line.startswith("!") for path in self.folder.glob(line[1:])}
        for pattern in (line for line in patterns if not line.startswith("!")):
            for path in sorted(set(self.folder.glob(pattern)) - stays):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()

    def _choose_modules(self, release: str, ramdisk: Path) -> None:
        place = self.folder / "usr/lib/modules" / release
        self._tool.run(["depmod", "-b", self.folder, release])
        tree = ModuleTree(place)
        early = [name for name, first in self.recipe.modules.items() if first]
        tree.copy(tree.closure(early), ramdisk / "lib/modules" / release)
        tree.keep(tree.closure(list(self.recipe.modules)))
        self._tool.run(["depmod", "-b", self.folder, release])

    def _overlay(self) -> None:
        root = self.folder
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(self.recipe.folder / "root", root, symlinks=True, dirs_exist_ok=True, ignore=ignored)
        for place, source in self.recipe.shared.items():
            if place.startswith("root/"):
                target = root / place.removeprefix("root/")
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target, follow_symlinks=False)
        pythonparts.copy(self._python, root / "usr/lib" / self.recipe.name / "python")
        for name in ("proc", "sys", "run", "dev", "tmp", "root", "var/log", "mnt"):
            (root / name).mkdir(parents=True, exist_ok=True)
        shutil.rmtree(root / "dev")
        (root / "dev").mkdir()
        for path in sorted(root.rglob("*.pyc")):
            path.unlink()
        # Programs of packages stay; busybox fills in what there is none of.
        self._tool.run(["chroot", root, "/bin/busybox", "--install", "-s"])
        if not (root / "sbin/init").is_symlink():
            raise InternalError("busybox gave no init", where=str(root / "sbin/init"))
        self._tool.run(["ldconfig", "-X", "-r", root])
        for program in self.recipe.programs:
            self._tool.run(["chroot", root, "/lib64/ld-linux-x86-64.so.2", "--list", self._found(program)])
        for name in ("var/cache/ldconfig", "etc/resolv.conf"):
            _remove(root / name)
        own = f"/usr/lib/{self.recipe.name}"
        search = f"{own}:{own}/python:/usr/lib/python3/dist-packages"
        python: tuple[str | Path, ...] = ("chroot", root, "/usr/bin/python3", "-E", "-s", "-S")
        self._tool.run([*python, "-c", _COMPILE, search, *self.recipe.compiles])

    def _found(self, program: str) -> str:
        """Return where the root has a program."""
        for folder in ("usr/bin", "usr/sbin"):
            if (self.folder / folder / program).exists():
                return f"/{folder}/{program}"
        raise ConfigurationError(f"no package brings {program}", where=str(self.recipe.folder / "packages.txt"))

    def _complete_ramdisk(self, ramdisk: Path) -> None:
        for name in ("bin", "proc", "sys", "dev", "lower", "upper", "root"):
            (ramdisk / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(self.folder / "bin/busybox", ramdisk / "bin/busybox")
        shutil.copy(self.recipe.ramdisk_init, ramdisk / "init")
        (ramdisk / "name").write_text(f"{self.recipe.name}\n")


def uncompressed(kernel: Path) -> bytes:
    """Return the ELF file that a compressed kernel holds: QEMU boots it directly, without unpacking it in the guest.

    Raises:
        ConfigurationError: the kernel is not compressed with xz, as Debian 12's are.
    """
    data = kernel.read_bytes()
    start = data.find(_XZ)
    if start < 0:
        raise ConfigurationError("the kernel is not compressed with xz", where=kernel.name)
    found = lzma.LZMADecompressor().decompress(data[start:])
    if found[:4] != b"\x7fELF":
        raise ConfigurationError("the kernel holds no ELF file", where=kernel.name, observed=repr(found[:4]))
    return found


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise InternalError(f"not one {pattern}", where=str(folder), observed=str([path.name for path in found]))
    return found[0]


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
