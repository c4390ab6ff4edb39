"""What is deployed, in the API: as the sites of a project have written it down."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from nfvbed.cli import deployed_sites
from nfvbed.cli.deployed_sites import DeployedSites
from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.records import Deployment
from nfvbed.sites.deployed import DeploymentRecord, InstancePlacement
from nfvbed.store import Store
from tests.unit.sites.openstack.test_devcloud_stored_deployment import CHOICE, VARIANT, deployment

PLACED = InstancePlacement(("controller",), ("i-1",), "s-1", "legacy", "v-1")


class DoubleOfSite:
    """Says what it is made to say."""

    def __init__(self, name: str, found: Any) -> None:
        self._name, self._found = name, found

    def find_deployed(self) -> DeploymentRecord | None:
        """Return it, or raise it."""
        if isinstance(self._found, Exception):
            raise self._found
        return self._found

    def close(self) -> None:
        """Nothing was opened."""


@pytest.fixture(name="found")
def _found(monkeypatch) -> dict[str, Any]:
    found: dict[str, Any] = {}
    monkeypatch.setattr(deployed_sites, "open_site", lambda spec, _: DoubleOfSite(spec.name, found.get(spec.name)))
    return found


@pytest.fixture(name="client")
def _client(store: Store) -> TestClient:
    app = make_app(store, Access(hosts=("localhost",)), deployments=DeployedSites(open_project()))
    return TestClient(app, base_url="http://localhost:8080")


def test_a_deployment_on_a_cloud_is_listed_once_with_its_vnfs(found: dict[str, Any], client: TestClient):
    on_cloud = DeploymentRecord(deployment(), VARIANT, CHOICE, "there", "now: nfvbed", ("controller",), (PLACED,))
    bare = Deployment(id="b", variant="ovs-dpdk", site="lab", topology="p2p", ports=())
    found |= {
        "devcloud": on_cloud,
        "devcloud-sol": on_cloud,
        "lab": DeploymentRecord(bare, VARIANT, None, "here", "today"),
    }
    answer = client.get("/api/deployments").json()
    assert answer["not_readable"] == []
    assert [one["site"] for one in answer["deployments"]] == ["devcloud", "lab"]
    cloud, lab = answer["deployments"]
    assert (cloud["variant"], cloud["topology"], cloud["computes"]) == ("ovs-dpdk", "pvp", ["controller"])
    there = {"host": "controller", "instance": "i-1", "stack": "s-1", "tacker_api": "legacy", "tacker_id": "v-1"}
    assert cloud["vnfs"] == [{"name": "vnf1", "kind": "vm", "forwarding": "io", **there}]
    assert (lab["vnfs"], lab["computes"], lab["since"]) == ([], [], "today")


def test_a_vnf_of_this_host_has_no_place_in_a_cloud(found: dict[str, Any], client: TestClient):
    found["lab"] = DeploymentRecord(deployment(), VARIANT, CHOICE, "here", "today")
    ((vnf,),) = (one["vnfs"] for one in client.get("/api/deployments").json()["deployments"])
    assert (vnf["name"], vnf["host"], vnf["instance"], vnf["stack"], vnf["tacker_id"]) == ("vnf1", "", "", "", "")


def test_what_cannot_be_read_is_reported_once_and_the_rest_is_listed(found: dict[str, Any], client: TestClient):
    broken = DeployError("it cannot be read", where="deployed.json", observed="KeyError", fix="nfvbed destroy --all")
    found |= {"devcloud": broken, "devcloud-sol": broken, "guest-node": UnsupportedError("this is no guest node")}
    answer = client.get("/api/deployments").json()
    assert answer["deployments"] == []
    assert answer["not_readable"] == [
        {"site": "devcloud", "what": "it cannot be read", "observed": "KeyError", "fix": "nfvbed destroy --all"}
    ]


def test_a_server_of_a_store_alone_says_so(store: Store):
    client = TestClient(make_app(store, Access(hosts=("localhost",))), base_url="http://localhost:8080")
    answer = client.get("/api/deployments")
    assert answer.status_code == 409 and answer.json()["what"] == "this server knows no sites"
