"""Where a cloud keeps its files: below the project's private folder, and nowhere else."""

from dataclasses import dataclass
from pathlib import Path

from nfvbed.cloud.builtroot import BuiltRootPlaces
from nfvbed.wholefile import write_whole

PRIVATE_DIRECTORY = Path(".nfvbed") / "devcloud"
CONTROLLER = "controller"
"""The node with the APIs, and with a compute service of its own."""


class CloudPlaces(BuiltRootPlaces):
    """The files of one cloud; its root is below the layers of all nodes."""

    @classmethod
    def of(cls, project_root: Path) -> "CloudPlaces":
        """Return the places of a project's cloud."""
        return cls((project_root / PRIVATE_DIRECTORY).resolve())

    def make(self) -> None:
        """Make its folder for the owner alone, also where another nfvbed made it: it holds passwords."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.directory.chmod(0o700)

    @property
    def archives(self) -> Path:
        """Downloaded packages, which a second build uses."""
        return self.directory / "archives"

    @property
    def wheels(self) -> Path:
        """Downloaded Python packages."""
        return self.directory / "wheels"

    @property
    def seed(self) -> Path:
        """The layer of a start with empty databases, taken after their migration."""
        return self.directory / "seed"

    @property
    def secrets(self) -> Path:
        """Generated passwords; mode 0600."""
        return self.directory / "secrets.json"

    @property
    def run(self) -> Path:
        """What is there only while a cloud runs: ledger, record of stages, sockets."""
        return self.directory / "run"

    @property
    def durations(self) -> Path:
        """The durations of stages, start by start."""
        return self.directory / "durations.jsonl"

    @property
    def clouds(self) -> Path:
        """`clouds.yaml`, with the administrator's password; mode 0600."""
        return self.directory / "clouds.yaml"

    def node(self, name: str) -> "NodePlaces":
        """Return the places of one node."""
        return NodePlaces(name, self)


@dataclass(frozen=True)
class NodePlaces:
    """The files of one node."""

    name: str
    cloud: CloudPlaces

    @property
    def layer(self) -> Path:
        """What the node has written."""
        return self.cloud.directory / "nodes" / self.name / "layer"

    @property
    def work(self) -> Path:
        """The overlay file system's own folder, beside the layer."""
        return self.cloud.directory / "nodes" / self.name / "work"

    @property
    def logs(self) -> Path:
        """One log for each process; they outlive the node."""
        return self.cloud.directory / "logs" / self.name

    @property
    def exchange(self) -> Path:
        """The folder that the node sees as `/run/nfvbed`: the socket of its first process."""
        return self.cloud.run / self.name

    @property
    def merged(self) -> Path:
        """The folder on which the node mounts its root; on this machine it is empty."""
        return self.exchange / "root"

    @property
    def socket(self) -> Path:
        """The socket of its first process."""
        return self.exchange / "socket"


def write_private(path: Path, text: str) -> None:
    """Write a file that its owner alone can read, in one step."""
    write_whole(path, text, 0o600)
