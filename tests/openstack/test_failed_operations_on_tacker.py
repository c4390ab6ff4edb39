"""Operation x {do, fail, retry, rollback} on a real Tacker; each cell that was driven is written down.

What needs a host fails while Nova has none; a change of connectivity fails while a network of that name is not there.
What it finds is in `recorded/operations.json`, which `docs/reference/tacker-operations.md` shows (`make reference`).
"""

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from nfvbed.cloud.devcloud.contents import CIRROS as CIRROS_IMAGE
from nfvbed.cloud.devcloud.services import mariadb
from nfvbed.cloud.tacker.account import Steps
from nfvbed.cloud.tacker.api import OnboardRequest, VnfIdentity
from nfvbed.cloud.tacker.operations import Operations
from nfvbed.cloud.tacker.sol import DYNAMIC, SolApi
from nfvbed.cloud.tacker.solv2 import SolV2Api
from nfvbed.cloud.tacker.tags import Tag, digest_of
from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.vnfs.descriptors import written
from nfvbed.vnfs.descriptors.cloudimage import CloudImage
from tests.openstack.cloud_driver import ROOT
from tests.openstack.onboarding import owner, sol
from tests.unit.vnfs.descriptors import requests

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(1800), pytest.mark.usefixtures("nothing_left")]
RECORD = Path(__file__).parent / "recorded" / "operations.json"
AFTER_A_FAILURE = ("fail", "retry", "rollback")
SAID = yaml.safe_load((ROOT / "tests" / "unit" / "cloud" / "tacker" / "recorded" / "operations.yml").read_text())
"""What Tacker's released source says of each cell."""
NOT_DELETED = ("v1", "CHANGE_EXT_CONN", "retry")
"""Cell after which the instance stays in the state of its failure, in which Tacker neither terminates nor deletes."""
LATE = "nfvbed-test-late"
"""The name of a network that a change of connectivity asks for before there is one."""


@dataclass(frozen=True)
class Version:
    """One version of the API, and what is onboarded through it."""

    name: str
    api: type[SolApi]
    request: Callable[[str], OnboardRequest]
    point: str
    """The connection point that is moved."""


def of_v2(name):
    """Return a request for nfvbed's own package, whose base HOT Tacker fills in; its instance boots CirrOS."""
    image = CloudImage(CIRROS_IMAGE, None, {"sha256": "a" * 64, "sha512": "b" * 128}, "1")
    return written.for_api(VnfIdentity(owner(), name), requests.described(image), "sol-v2")


VERSIONS = (
    Version("v1", SolApi, lambda name: sol(name, hot=True), "CP1"),
    Version("v2", SolV2Api, of_v2, "in"),
)
both_versions = pytest.mark.parametrize("version", VERSIONS, ids=[one.name for one in VERSIONS])


def write_down(version, kind, action, found):
    """Keep what a cell came to."""
    cells = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    cells.setdefault(version.name, {}).setdefault(kind, {})[action] = found
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(cells, indent=1, sort_keys=True) + "\n")


@contextlib.contextmanager
def without_hosts(connection):
    """Leave Nova without a host for new instances; a compute that takes none stays so afterwards."""
    services = [one for one in connection.compute.services(binary="nova-compute") if one.status == "enabled"]
    for service in services:
        connection.compute.disable_service(service, service.host, service.binary)
    try:
        yield
    finally:
        for service in services:
            connection.compute.enable_service(service, service.host, service.binary)


@pytest.fixture(name="late")
def _late(connection):
    """Give what makes the network that was asked for; it goes at the end."""
    made = []

    def make():
        made.append(connection.network.create_network(name=LATE))
        connection.network.create_subnet(network_id=made[0].id, ip_version=4, cidr="10.97.7.0/24", gateway_ip=None)

    yield make
    for network in made:
        connection.network.delete_network(network)


def come_to(version, kind, action, api, instance):
    """Do what may be done after a failure, write down what it came to, and return it."""
    operations = Operations(api._tacker, instance)
    acts = {"fail": operations.fail, "retry": operations.retry, "rollback": operations.rollback}
    try:
        acts[action]()
        found = operations.all()[-1]["operationState"]
    except UnsupportedError as refusal:
        found = f"refused: {refusal.observed}"
    except OnboardError as failure:
        found = f"{failure.what}: {failure.observed}"
    write_down(version, kind, action, found)
    return found


@both_versions
@pytest.mark.parametrize(
    ("action", "wanted"), list(zip(AFTER_A_FAILURE, ("FAILED", "COMPLETED", "ROLLED_BACK"), strict=True))
)
def test_an_instantiation_that_failed(connection, journal, version, action, wanted):
    api, request = version.api(connection, journal), version.request("failed")
    digest, project = digest_of(request.descriptor), connection.current_project_id
    tag = Tag(api.api, owner(), request.name, digest, request.networks, project)
    try:
        with without_hosts(connection), pytest.raises(OnboardError):
            api._make(request, request.descriptor, tag, Steps(print))
        (instance,) = api._of(tag)
        assert come_to(version, "INSTANTIATE", action, api, instance["id"]) == wanted
    finally:
        api.clear(tag, print)


@both_versions
def test_what_needs_no_failure(connection, journal, version):
    """The operations themselves; moving connection points to the networks where they are changes nothing of them."""
    api, request = version.api(connection, journal), version.request("done")
    vnf = api.onboard(request, print)
    try:
        for kind, request_it in {
            "SCALE_OUT": lambda: api.scale(vnf, 1),
            "SCALE_IN": lambda: api.scale(vnf, -1),
            "HEAL": lambda: api.heal(vnf, request, print),
            "CHANGE_EXT_CONN": lambda: api.reconnect(vnf, request.networks),
        }.items():
            request_it()
            write_down(version, kind, "do", "COMPLETED")
    finally:
        api.remove(vnf)
    write_down(version, "INSTANTIATE", "do", "COMPLETED")
    write_down(version, "TERMINATE", "do", "COMPLETED")


def require_not_deleted(cloud, api, vnf):
    """Check that Tacker does not delete an instance, have an administrator set its state right; return why it did not.

    All that the instance had in the cloud has gone.
    """
    with pytest.raises(OnboardError, match="Tacker does not delete") as caught:
        api.remove(vnf)
    states = "task_state = NULL, instantiation_state = 'NOT_INSTANTIATED'"
    for words in (f"vnf_instances SET {states}", "vnf SET status = 'INACTIVE'"):
        cloud.channel.check(mariadb.execute(f"UPDATE tacker.{words} WHERE id = '{vnf.id}'"))
    return caught.value.observed.rpartition("Tacker: ")[2]


@both_versions
@pytest.mark.parametrize("action", AFTER_A_FAILURE)
@pytest.mark.parametrize("kind", ["SCALE_OUT", "HEAL", "CHANGE_EXT_CONN"])
def test_an_operation_on_a_running_vnf_that_failed(onboarding_cloud, connection, journal, late, version, kind, action):
    api, request = version.api(connection, journal), version.request("failed")
    vnf = api.onboard(request, print)
    point = {"cpdId": version.point, "cpConfig": api._config(DYNAMIC)}
    links = [{"id": "link", "resourceId": LATE, "extCps": [point]}]
    operations = Operations(api._tacker, vnf.id)
    fails = {
        "SCALE_OUT": lambda: api.scale(vnf, 1),
        "HEAL": lambda: api.heal(vnf, request, print),
        "CHANGE_EXT_CONN": lambda: operations.run("change_ext_conn", lambda: api._reconnect(vnf.id, links)),
    }
    try:
        room = contextlib.nullcontext() if kind == "CHANGE_EXT_CONN" else without_hosts(connection)
        with room, pytest.raises(OnboardError):
            fails[kind]()
        if kind == "CHANGE_EXT_CONN" and action == "retry":
            late()
        found = come_to(version, kind, action, api, vnf.id)
        if action == "fail":
            assert found == "FAILED"
        elif action == "rollback" and "refused" in SAID[version.name][kind][action]:
            assert found.startswith("refused: ")
        elif action == "rollback" and kind == "CHANGE_EXT_CONN":
            assert LATE in found, "Heat asks for it once more, as it compares with what a group was made of"
        elif action == "rollback":
            assert found == "ROLLED_BACK"
        else:
            assert found == "COMPLETED"
        if (version.name, kind, action) == NOT_DELETED:
            refused = require_not_deleted(onboarding_cloud, api, vnf)
            write_down(version, kind, action, f"{found}; Tacker does not delete the instance any more: {refused}")
    finally:
        api.remove(vnf)
