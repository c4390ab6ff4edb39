"""Where probes read: the root of this machine, or a recorded tree of /proc and /sys."""

from dataclasses import dataclass
from pathlib import Path

REAL_ROOT = Path("/")
RECORDED = "read a recorded tree"
"""How a topic was probed where nothing can be tried."""


@dataclass(frozen=True)
class Host:
    """Files below a root.

    Args:
        root: `/`, or a folder with recorded `proc`, `sys`, `etc` and `dev`.
    """

    root: Path = REAL_ROOT

    @property
    def live(self) -> bool:
        """Whether things can be tried and not only read."""
        return self.root == REAL_ROOT

    def path(self, name: str) -> Path:
        """Return the path of `proc/...` or `sys/...` below the root."""
        return self.root / name.lstrip("/")

    def exists(self, name: str) -> bool:
        """Return whether a path below the root is there."""
        return self.path(name).exists()

    def text(self, name: str) -> str | None:
        """Return a file's stripped text; None where it is missing or cannot be read."""
        try:
            return self.path(name).read_text(errors="replace").strip()
        except OSError:
            return None

    def number(self, name: str) -> int | None:
        """Return a file's number, decimal or 0x; None where there is none."""
        text = self.text(name)
        try:
            return int(text, 0) if text else None
        except ValueError:
            return None

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the sorted names in a folder; none where it is missing."""
        try:
            return tuple(sorted(entry.name for entry in self.path(folder).iterdir()))
        except OSError:
            return ()

    def link_name(self, name: str) -> str | None:
        """Return the last part of a symbolic link's target."""
        try:
            return self.path(name).readlink().name
        except OSError:
            return None


def parse_cpu_list(text: str | None) -> tuple[int, ...]:
    """Parse the kernel's list form: `0-3,8` is 0, 1, 2, 3, 8."""
    cores: list[int] = []
    for part in (text or "").replace("\n", "").split(","):
        first, _, last = part.strip().partition("-")
        if first.isdigit():
            cores.extend(range(int(first), int(last or first) + 1))
    return tuple(cores)
