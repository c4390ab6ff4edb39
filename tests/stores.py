"""Empty and copied stores for tests, on each engine."""

import abc
import shutil
from pathlib import Path

from nfvbed.store import Store
from tests.postgresql import Server


class Stores(abc.ABC):
    """Makes stores on one engine; each is named as `--store` takes it."""

    def __init__(self) -> None:
        self._migrated: str | None = None

    def new(self) -> str:
        """Make one of the newest format without a row; only the first one is migrated."""
        if self._migrated is None:
            self._migrated = self.blank()
            Store.open(self._migrated).close()
        return self.copy(self._migrated)

    @abc.abstractmethod
    def blank(self) -> str:
        """Return a place for one, with nothing in it."""

    @abc.abstractmethod
    def copy(self, store: str) -> str:
        """Copy one that is not open."""


class Files(Stores):
    """SQLite."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._count = 0

    def blank(self) -> str:
        """Return the path of a file in a folder of its own, neither of which is there."""
        self._count += 1
        return str(self._folder / str(self._count) / "nfvbed.sqlite")

    def copy(self, store: str) -> str:
        """Copy the file."""
        target = self.blank()
        Path(target).parent.mkdir()
        return shutil.copyfile(store, target)


class Databases(Stores):
    """PostgreSQL."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self.server = server

    def blank(self) -> str:
        """Return the URL of an empty database."""
        return self.server.url(self.server.database())

    def copy(self, store: str) -> str:
        """Copy the database."""
        return self.server.url(self.server.database(template=_name(store)))


def _name(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2]
