"""Operation x {do, fail, retry, rollback} on a real Tacker; each cell that was driven is written down.

What needs a host fails while Nova has none; a change of connectivity fails where the network is not there. What it
finds is in `recorded/operations.json`, which `docs/reference/tacker-operations.md` shows (`make reference`).
"""

import contextlib
import json
from pathlib import Path

import pytest

from nfvbed.cloud.tacker.account import Steps
from nfvbed.cloud.tacker.operations import Operations
from nfvbed.cloud.tacker.sol import DYNAMIC, SolApi
from nfvbed.cloud.tacker.tags import Tag, digest_of
from nfvbed.errors import OnboardError, UnsupportedError
from tests.openstack.onboarding import owner, sol

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(1800), pytest.mark.usefixtures("nothing_left")]
RECORD = Path(__file__).parent / "recorded" / "operations.json"
AFTER_A_FAILURE = ("fail", "retry", "rollback")
NOWHERE = "00000000-0000-4000-8000-000000000000"


def write_down(kind, action, found):
    """Keep what a cell came to."""
    cells = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    cells.setdefault("v1", {}).setdefault(kind, {})[action] = found
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


def come_to(kind, action, api, instance):
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
    write_down(kind, action, found)
    return found


@pytest.mark.parametrize(
    ("action", "wanted"), zip(AFTER_A_FAILURE, ("FAILED", "COMPLETED", "ROLLED_BACK"), strict=True)
)
def test_an_instantiation_that_failed(connection, journal, action, wanted):
    api, request = SolApi(connection, journal), sol("failed", hot=True)
    tag = Tag(
        "sol", owner(), request.name, digest_of(request.descriptor), request.networks, connection.current_project_id
    )
    try:
        with without_hosts(connection), pytest.raises(OnboardError):
            api._make(request, request.descriptor, tag, Steps(print))
        (instance,) = api._of(tag)
        assert come_to("INSTANTIATE", action, api, instance["id"]) == wanted
    finally:
        api.clear(tag, print)


def test_what_needs_no_failure(connection, journal):
    """The operations themselves; moving the one connection point to the network where it is changes nothing of it."""
    api, request = SolApi(connection, journal), sol("done", hot=True)
    vnf = api.onboard(request, print)
    try:
        for kind, request_it in {
            "SCALE_OUT": lambda: api.scale(vnf, 1),
            "SCALE_IN": lambda: api.scale(vnf, -1),
            "HEAL": lambda: api.heal(vnf, request, print),
            "CHANGE_EXT_CONN": lambda: api.reconnect(vnf, request.networks),
        }.items():
            request_it()
            write_down(kind, "do", "COMPLETED")
    finally:
        api.remove(vnf)
    write_down("INSTANTIATE", "do", "COMPLETED")
    write_down("TERMINATE", "do", "COMPLETED")


@pytest.mark.parametrize("action", AFTER_A_FAILURE)
@pytest.mark.parametrize("kind", ["SCALE_OUT", "HEAL", "CHANGE_EXT_CONN"])
def test_an_operation_on_a_running_vnf_that_failed(connection, journal, kind, action):
    api, request = SolApi(connection, journal), sol("failed", hot=True)
    vnf = api.onboard(request, print)
    links = [{"id": "link", "resourceId": NOWHERE, "extCps": [{"cpdId": "CP1", "cpConfig": [DYNAMIC]}]}]
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
        found = come_to(kind, action, api, vnf.id)
        if action == "fail":
            assert found == "FAILED"
        elif action == "rollback" and kind != "SCALE_OUT":
            assert found.startswith("refused: ")
        elif kind == "CHANGE_EXT_CONN":
            assert "ended as FAILED_TEMP" in found, "the network is still not there"
        else:
            assert found == {"retry": "COMPLETED", "rollback": "ROLLED_BACK"}[action]
    finally:
        api.remove(vnf)
