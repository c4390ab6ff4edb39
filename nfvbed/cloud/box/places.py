"""Where a box keeps its files: below the project's private folder, and nowhere else."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from nfvbed.cloud.builtroot import BuiltRootPlaces
from nfvbed.spec.box import BOX_DIRECTORY, key_of_box, known_hosts_of_box

ROOT_DIRECTORY = Path(".nfvbed") / "box-root"
IMAGES_DIRECTORY = Path(".nfvbed") / "box-images"
PULLED_DIRECTORY = Path(".nfvbed") / "box-pulled"
"""Images that all boxes of a checkout pull."""


class RootPlaces(BuiltRootPlaces):
    """The root that all machines of all boxes of a checkout have below what they write."""

    @classmethod
    def of(cls, project_root: Path) -> "RootPlaces":
        """Return the places of a project's root of machines."""
        return cls((project_root / ROOT_DIRECTORY).resolve())


@dataclass(frozen=True)
class BoxPlaces:
    """The files of one box."""

    directory: Path

    @classmethod
    def of(cls, project_root: Path, site: str) -> "BoxPlaces":
        """Return the places of a site's box."""
        return cls((project_root / BOX_DIRECTORY / site).resolve())

    def make(self) -> None:
        """Make its folder for the owner alone: it holds a private key."""
        for folder in (self.directory.parent, self.directory):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.directory.chmod(0o700)
        self.logs.mkdir(exist_ok=True)

    @property
    def name(self) -> str:
        """Name of the site."""
        return self.directory.name

    @property
    def mark(self) -> str:
        """What names of this box's cgroups begin with: no other box of this machine has it."""
        return f"nfvbed-box-{hashlib.sha256(str(self.directory).encode()).hexdigest()[:8]}"

    @property
    def run(self) -> Path:
        """What is there only while a box is up: lock, ledger, states of machines."""
        return self.directory / "run"

    @property
    def machines(self) -> Path:
        """What the machines have written; removed when the box is stopped."""
        return self.directory / "machines"

    @property
    def logs(self) -> Path:
        """What the first processes printed; it outlives the box."""
        return self.directory / "logs"

    @property
    def durations(self) -> Path:
        """The durations of stages, start by start."""
        return self.directory / "durations.jsonl"

    @property
    def key(self) -> Path:
        """Private key of the way in; mode 0600."""
        return key_of_box(self.directory)

    @property
    def known_hosts(self) -> Path:
        """Host keys of the machines."""
        return known_hosts_of_box(self.directory)

    def machine(self, name: str) -> "MachinePlaces":
        """Return the places of a machine."""
        return MachinePlaces(name, self)


@dataclass(frozen=True)
class MachinePlaces:
    """The files of one machine."""

    name: str
    box: BoxPlaces

    @property
    def directory(self) -> Path:
        """Folder of the machine."""
        return self.box.machines / self.name

    @property
    def layer(self) -> Path:
        """What it has written."""
        return self.directory / "layer"

    @property
    def work(self) -> Path:
        """The overlay file system's own folder, beside the layer."""
        return self.directory / "work"

    @property
    def merged(self) -> Path:
        """The folder on which the machine mounts its root; empty as this machine sees it."""
        return self.directory / "root"

    @property
    def docker(self) -> Path:
        """Its images and containers: Docker's own overlays cannot be on an overlay."""
        return self.directory / "docker"

    @property
    def kernel_files(self) -> Path:
        """Files of /proc and /sys that are a machine's own: its boot, its command line, its isolated cores."""
        return self.directory / "kernel"

    @property
    def spec(self) -> Path:
        """What its first process is started from."""
        return self.box.run / f"{self.name}.json"

    @property
    def state(self) -> Path:
        """The pid of its first process, and how often it was started; absent while it is off."""
        return self.box.run / f"{self.name}.state"

    @property
    def log(self) -> Path:
        """Output of its first process."""
        return self.box.logs / f"{self.name}.log"
