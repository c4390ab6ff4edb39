"""The files of a rack, below the project's private folder, for its owner alone."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import BusyError
from nfvbed.sites.kolla.ownglobals import CONFIGURATION, RACKS, own_files


@dataclass(frozen=True)
class RackPlaces:
    """The files of one rack."""

    directory: Path

    @classmethod
    def of(cls, project_root: Path, site: str) -> "RackPlaces":
        """Return the places of a site."""
        return cls((project_root / RACKS / site).resolve())

    @property
    def config(self) -> Path:
        """What kolla-ansible takes (`--configdir`): rendered files, passwords, and a user's own `globals.d`."""
        return self.directory / CONFIGURATION

    @property
    def inventory(self) -> Path:
        """The inventory, a folder."""
        return self.config / "inventory"

    def own_globals(self) -> tuple[Path, ...]:
        """Return a user's own files of variables, in the order in which kolla-ansible reads them: later ones count."""
        return own_files(self.config)

    @property
    def passwords(self) -> Path:
        """Passwords of Kolla's generator; mode 0600."""
        return self.config / "passwords.yml"

    @property
    def kolla_clouds(self) -> Path:
        """Where Kolla's post-deploy writes its `clouds.yaml`."""
        return self.config / "clouds.yaml"

    @property
    def clouds(self) -> Path:
        """`clouds.yaml` with the deployed cloud under the site's name; mode 0600."""
        return self.directory / "clouds.yaml"

    @property
    def cloud(self) -> Path:
        """What is onboarded on the cloud is written down in it."""
        return self.directory / "cloud"

    @property
    def journal(self) -> Path:
        """What was done, stage by stage."""
        return self.directory / "journal.json"

    @property
    def undeployed(self) -> Path:
        """What the machines answered before anything was deployed on them."""
        return self.directory / "undeployed.json"

    @property
    def logs(self) -> Path:
        """What Ansible said, a file for each stage, without secrets."""
        return self.directory / "logs"

    def make(self) -> None:
        """Make the folders, for their owner alone."""
        for folder in (self.directory.parent, self.directory, self.config, self.logs):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.directory.chmod(0o700)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Lock the rack for this nfvbed; the kernel unlocks it when nfvbed ends, however that happens.

        Raises:
            BusyError: another one is at work on it.
        """
        self.make()
        path = self.directory / "lock"
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise BusyError(
                f"another nfvbed is at work on site {self.directory.name}",
                where=str(path),
                observed="it deploys or destroys",
                fix="wait for it to end, or end it if it is yours (Ctrl-C)",
            ) from None
        finally:
            os.close(handle)
