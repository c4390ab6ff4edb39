"""The files for guest nodes that `make node` unpacks: a kernel with all its modules, and busybox."""

import lzma
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import PrerequisiteError

PRIVATE_DIRECTORY = Path(".nfvbed") / "node"
_PACKED = ".xz"


@dataclass(frozen=True)
class NodeFiles:
    """The files of one kernel."""

    root: Path
    release: str
    """Release of the guest's kernel, as `uname -r` says it there."""

    @property
    def kernel(self) -> Path:
        """The kernel's image."""
        return self.root / "vmlinuz"

    @property
    def busybox(self) -> Path:
        """The userland of the first steps of a boot."""
        return self.root / "busybox"

    @property
    def modules(self) -> Path:
        """`lib/modules/<release>`."""
        return self.root / "lib/modules" / self.release

    def module(self, name: str) -> bytes | None:
        """Return a module, unpacked; None when it is built into the kernel.

        Raises:
            PrerequisiteError: the kernel has none of that name.
        """
        for path in self._listed("modules.dep"):
            if _module_name(path) == name:
                content = (self.modules / path).read_bytes()
                return lzma.decompress(content) if path.endswith(_PACKED) else content
        if name in map(_module_name, self._listed("modules.builtin")):
            return None
        raise PrerequisiteError(
            f"the guest node's kernel has no module {name}", where=str(self.modules), fix="make node"
        )

    def _listed(self, index: str) -> list[str]:
        return [line.partition(":")[0] for line in (self.modules / index).read_text().splitlines()]


def _module_name(path: str) -> str:
    return Path(path).name.partition(".ko")[0].replace("-", "_")


def locate(project_root: Path) -> NodeFiles:
    """Find the kernel, its modules and busybox.

    Raises:
        PrerequisiteError: they are not there.
    """
    root = project_root / PRIVATE_DIRECTORY
    releases = sorted(path.name for path in (root / "lib/modules").glob("*"))
    missing = [str(path) for path in (root / "vmlinuz", root / "busybox") if not path.is_file()]
    if missing or not releases:
        observed = f"no {missing[0]}" if missing else "no modules"
        raise PrerequisiteError("the guest node is not set up", where=str(root), observed=observed, fix="make node")
    return NodeFiles(root.resolve(), releases[-1])
