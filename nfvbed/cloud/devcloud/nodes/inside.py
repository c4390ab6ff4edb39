"""What is inside a node, as this machine sees it: its processes by their ids here, its files through `/proc`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.errors import DeployError


@dataclass(frozen=True)
class NodeProcess:
    """A process of a node."""

    pid: int
    """On this machine."""
    argv: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of its program."""
        return Path(self.argv[0]).name if self.argv else ""

    def threads(self) -> Iterator[tuple[int, str]]:
        """Yield (thread id on this machine, name) of its threads."""
        for task in Path(f"/proc/{self.pid}/task").glob("*"):
            try:
                yield int(task.name), (task / "comm").read_text().strip()
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has ended meanwhile


def processes(node: Node) -> tuple[NodeProcess, ...]:
    """Return the processes of a node: those in its process namespace."""
    space = Path(f"/proc/{node.first_process}/ns/pid").readlink()
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and (folder / "ns/pid").readlink() == space:
                words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
                found.append(NodeProcess(int(folder.name), tuple(words[:-1])))
        except OSError:
            continue  # it has ended meanwhile
    return tuple(found)


def process(node: Node, name: str) -> NodeProcess:
    """Return the one process of a node whose program has that name.

    Raises:
        DeployError: there is none.
    """
    for one in processes(node):
        if one.name == name:
            return one
    raise DeployError(f"no {name} runs on node {node.name}", where=node.name, fix="nfvbed devcloud start")


def file_in(node: Node, path: str) -> Path:
    """Return this machine's path of a node's file or socket, short enough for a Unix socket's name.

    Args:
        path: absolute, as the node sees it.
    """
    return Path(f"/proc/{node.first_process}/root") / path.removeprefix("/")
