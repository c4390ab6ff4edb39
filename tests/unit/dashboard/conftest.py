"""A dashboard of a stored run, asked without a network."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.store import Store
from tests.dashboard_runs import two_variants

NOW = datetime(2026, 1, 4, 3, 4, 5, tzinfo=UTC)

OF_SCHEMATHESIS = "test_dashboard_schema.py"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the tests of schemathesis out where the tier has none: their file loads it, for seconds, in each worker."""
    without = not config.pluginmanager.hasplugin("schemathesis")
    return True if without and collection_path.name == OF_SCHEMATHESIS else None


@pytest.fixture(autouse=True)
def _no_trial_of_others(monkeypatch, tmp_path_factory):
    """What is measured on this host meanwhile does not keep a test waiting."""
    monkeypatch.setattr("nfvbed.host.workspace.trialsign.RUN_DIRECTORY", tmp_path_factory.mktemp("run") / "signs")


@pytest.fixture(scope="session", name="stored")
def _stored(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("dashboard") / "nfvbed.sqlite"
    two_variants(path)
    return path


@pytest.fixture(scope="session", name="store")
def _store(stored: Path) -> Iterator[Store]:
    with Store.open(stored, read_only=True, migrated=False) as opened:
        yield opened


@pytest.fixture(scope="session", name="client")
def _client(store: Store) -> TestClient:
    app = make_app(store, Access(hosts=("localhost",)), lambda: NOW)
    return TestClient(app, base_url="http://localhost:8080", raise_server_exceptions=False)
