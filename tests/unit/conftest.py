"""Stores on both engines, for whatever reads or writes one."""

from collections.abc import Iterator

import pytest

from nfvbed.host.workspace import trialsign
from tests.postgresql import Server
from tests.stores import Databases, Files, Stores

# One worker has the server: it is started once.
ON_SERVER = pytest.param("postgresql", marks=pytest.mark.xdist_group("postgresql"))


@pytest.fixture(scope="session", name="server")
def _server() -> Iterator[Server]:
    server = Server(durable=False)
    try:
        server.start()
        yield server
    finally:
        server.close()


@pytest.fixture(scope="session", name="stores", params=["sqlite", ON_SERVER])
def _stores(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Stores:
    if request.param == "postgresql":
        return Databases(request.getfixturevalue("server"))
    return Files(tmp_path_factory.mktemp("stores"))


@pytest.fixture(name="place")
def _place(stores: Stores) -> str:
    """An empty store, as `--store` names it."""
    return stores.new()


@pytest.fixture(autouse=True, scope="session")
def _signs_of_trials_stay_here(tmp_path_factory):
    """Trials of tests are no trials of this host's."""
    trialsign.RUN_DIRECTORY = tmp_path_factory.mktemp("run") / "signs"
