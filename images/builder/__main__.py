"""`python -m builder NAME`: builds `images/NAME.qcow2`, or finds that it is built already.

`python -m builder --again NAME` builds it a second time, elsewhere, and compares: the same input must give the
same bytes.
"""

import json
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from builder import pythonparts
from builder.cpio import archive
from builder.disk import Disk
from builder.packages import Package, PackageSource
from builder.recipe import Recipe, load
from builder.rootfs import RootFs, uncompressed
from builder.sidecar import Sidecar
from builder.tool import Tool
from nfvbed.errors import ConfigurationError, InternalError, NfvbedError, PrerequisiteError
from nfvbed.host.qemu.binaries import QemuBinaries, locate
from nfvbed.sharedcache import SharedCache

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".nfvbed" / "images"


@dataclass(frozen=True)
class Builder:
    """Builds one recipe."""

    recipe: Recipe
    tool: Tool
    qemu: QemuBinaries
    source: PackageSource
    output: Path
    work: Path
    shared: SharedCache | None = None
    """Where images of the same input may be, made in another clone."""

    def make(self) -> bool:
        """Build the image unless what is there was built from the same input; say whether it was built."""
        packages = self.source.resolve(self.recipe.packages)
        sidecar = Sidecar(self.output / f"{self.recipe.name}.json")
        key = self.key(packages)
        if sidecar.is_of(key) or (self._take(key) and sidecar.is_of(key)):
            return False
        try:
            self.build(packages, sidecar)
        except PrerequisiteError as error:
            if error.what.startswith("mmdebstrap"):
                # The mirror may have replaced a version that the kept indexes name.
                self.source.refresh()
                newer = self.source.resolve(self.recipe.packages)
                if newer != packages:
                    self.build(newer, sidecar)
                    return True
            raise
        return True

    def key(self, packages: tuple[Package, ...]) -> str:
        """Return the hash of all that decides the image: recipe, builder, package contents, QEMU's version."""
        extra = (*sorted((ROOT / "images" / "builder").glob("*.py")), *self.python(packages).values())
        lines = [f"{package.name} {package.version}\n" for package in packages]
        return Sidecar.hash("".join([self.recipe.digest(extra), "\n", *lines, self.qemu.version]))

    def python(self, packages: tuple[Package, ...]) -> dict[str, Path]:
        """Return the files of Python beside the packages, for the version that they bring."""
        return pythonparts.files(self.recipe, pythonparts.version_of(packages), self.tool)

    def build(self, packages: tuple[Package, ...], sidecar: Sidecar) -> None:
        """Build in a folder of its own and put the files in place, the sidecar last."""
        work = self.work
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        key = self.key(packages)
        version = f"{self.recipe.version}-{key[:12]}"
        _say(f"{self.recipe.name}: unpacking {len(packages)} packages")
        root = RootFs(work / "root", self.recipe, self.tool, self.python(packages))
        ramdisk, kernel = work / "ramdisk", work / "vmlinuz"
        acquire = work / "apt.conf"
        acquire.write_text(self.source.acquire_options())
        root.unpack(packages, self.source.sources(), acquire)
        root.finish(kernel, ramdisk)
        root.describe(version, packages)
        _say(f"{self.recipe.name}: making the disk")
        initrd = work / "initrd"
        initrd.write_bytes(archive(ramdisk))
        (work / "kernel").write_bytes(uncompressed(kernel))
        disk = Disk(work, self.recipe, self.tool)
        image = disk.assemble(disk.boot(kernel, initrd), disk.root(root.folder), self.qemu)
        self._check_size(image)
        sidecar.remove()
        files = {"qcow2": image, "kernel": work / "kernel", "initrd": initrd}
        placed = {}
        for ending, path in files.items():
            placed[ending] = self.output / f"{self.recipe.name}.{ending}"
            path.replace(placed[ending])
        facts = {"name": self.recipe.name, "version": version, "cmdline": self.recipe.cmdline}
        sidecar.write(key, facts, placed, {package.name: package.version for package in packages})
        shutil.rmtree(work)
        if self.shared is not None:
            self.shared.put("images", f"{self.recipe.name} {key}", *placed.values(), sidecar.path)

    def _take(self, key: str) -> bool:
        taken = self.shared is not None and self.shared.take("images", f"{self.recipe.name} {key}", self.output)
        if taken:
            _say(f"{self.recipe.name}: taken from NFVBED_CACHE")
        return taken

    def _check_size(self, image: Path) -> None:
        size_mib = image.stat().st_size / 1024 / 1024
        if size_mib > self.recipe.size_limit_mib:
            raise ConfigurationError(
                f"the image {self.recipe.name} is too large",
                observed=f"{size_mib:.0f} MiB of {self.recipe.size_limit_mib}",
                fix="take packages out, or add to prune.txt",
            )


def main(words: list[str]) -> int:
    """Build the named images, or check that they come out the same again."""
    action = _again if words[:1] == ["--again"] else _make
    names = words[1:] if action is _again else words
    if not names or any(name.startswith("-") for name in names):
        print("usage: python -m builder [--again] NAME...", file=sys.stderr)
        return 2
    CACHE.mkdir(parents=True, exist_ok=True)
    try:
        for name in names:
            action(name)
    except NfvbedError as error:
        print(f"images: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _builder(name: str, output: Path, work: Path, shared: SharedCache | None = None) -> Builder:
    recipe = load(ROOT / "images" / name)
    log = work.with_suffix(".log")
    log.unlink(missing_ok=True)
    tool = Tool(recipe.epoch, log)
    return Builder(recipe, tool, locate(ROOT), PackageSource(CACHE / "apt", tool), output, work, shared)


def _make(name: str) -> None:
    started = time.monotonic()
    shared = SharedCache.from_environment(_say)
    built = _builder(name, ROOT / "images", CACHE / f"{name}.work", shared).make()
    seconds = time.monotonic() - started
    document = json.loads((ROOT / "images" / f"{name}.json").read_text())
    size_mib = document["files"]["qcow2"]["size_bytes"] / 1024 / 1024
    state = f"built in {seconds:.0f} s" if built else "there"
    _say(
        f"{name} {document['version']}: {state}, {size_mib:.0f} MiB, sha256 {document['files']['qcow2']['sha256'][:16]}"
    )


def _again(name: str) -> None:
    first = json.loads((ROOT / "images" / f"{name}.json").read_text())
    # Another folder, so that no path of the build can be in the image unnoticed.
    output = CACHE / f"{name}-again"
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir()
    try:
        _builder(name, output, output / "work").make()
        second = json.loads((output / f"{name}.json").read_text())
    finally:
        shutil.rmtree(output)
    if second["key"] != first["key"]:
        raise ConfigurationError(f"{name} was built from another input", observed="the keys differ", fix="make images")
    different = [kind for kind, file in first["files"].items() if second["files"][kind]["sha256"] != file["sha256"]]
    if different:
        raise InternalError(f"{name} does not come out the same twice", observed=f"different: {', '.join(different)}")
    _say(f"{name} {first['version']}: the same again")


def _say(text: str) -> None:
    print(f"images: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
