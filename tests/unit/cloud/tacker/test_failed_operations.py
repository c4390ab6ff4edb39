"""Operation x {do, fail, retry, rollback} x {v1, v2}: what the client makes of what Tacker 8 answers.

The cells are those of the page `docs/reference/tacker-operations.md`.
"""

import json
from pathlib import Path

import pytest
import yaml

from nfvbed.cloud.tacker import account, stacks
from nfvbed.cloud.tacker.api import TackerVnf
from nfvbed.cloud.tacker.journal import Journal
from nfvbed.cloud.tacker.legacy import LegacyApi
from nfvbed.cloud.tacker.operations import Operations
from nfvbed.cloud.tacker.sol import SolApi
from nfvbed.cloud.tacker.tags import Tag
from nfvbed.errors import OnboardError, UnsupportedError
from tests.unit.cloud.tacker.fake_cloud import cloud
from tests.unit.cloud.tacker.fake_tacker import FailingTacker, FakeTacker

pytestmark = pytest.mark.usefixtures("quick")
TABLE = yaml.safe_load((Path(__file__).parent / "recorded" / "operations.yml").read_text())
ROOT = Path(__file__).parents[4]
ACTIONS = ("do", "fail", "retry", "rollback")
CELLS = [(api, kind, action) for api in ("v1", "v2") for kind in TABLE[api] for action in ACTIONS]


def act(operations, tacker, kind, action):
    name = kind.partition("_")[0].lower() if kind.startswith("SCALE") else kind.lower()
    acts = {
        "do": lambda: operations.run(name, tacker.begin),
        "fail": operations.fail,
        "retry": operations.retry,
        "rollback": operations.rollback,
    }
    acts[action]()


@pytest.mark.parametrize(("api", "kind", "action"), CELLS, ids=["-".join(cell) for cell in CELLS])
def test_every_cell_ends_as_tacker_documents_it(api, kind, action):
    cell = TABLE[api][kind][action]
    tacker = FailingTacker(kind, TABLE[api][kind])
    operations = Operations(tacker, "i1")
    if "refused" not in cell:
        act(operations, tacker, kind, action)
        assert tacker.operations[-1]["operationState"] == cell["state"]
        return
    with pytest.raises(UnsupportedError, match="Tacker does not roll back") as caught:
        act(operations, tacker, kind, action)
    assert cell["refused"] in caught.value.observed
    assert tacker.operations[-1]["operationState"] == "FAILED_TEMP"


def test_the_table_has_the_same_operations_in_both_versions():
    assert list(TABLE["v1"]) == list(TABLE["v2"])
    assert all(tuple(cells) == ACTIONS for api in ("v1", "v2") for cells in TABLE[api].values())


def test_the_page_names_a_test_that_there_is():
    text = (ROOT / "tests" / "openstack" / "test_onboarding.py").read_text()
    page = (ROOT / "docs" / "reference" / "tacker-operations.md").read_text()
    assert "def test_a_life_cycle(" in text
    cloud = ROOT / "tests" / "openstack" / "recorded" / "operations.json"
    done = [kind for kind, cells in json.loads(cloud.read_text())["v1"].items() if "do" in cells]
    assert page.count("COMPLETED in `test_a_life_cycle`") == 5 - len({*done} - {"CHANGE_EXT_CONN"})


def test_what_did_not_fail_is_neither_retried_nor_rolled_back():
    tacker = FailingTacker("HEAL", TABLE["v1"]["HEAL"])
    tacker.operations[0]["operationState"] = "COMPLETED"
    for request in (Operations(tacker, "i1").retry, Operations(tacker, "i1").rollback):
        with pytest.raises(OnboardError, match="is FAILED_TEMP") as caught:
            request()
        assert caught.value.observed == "HEAL COMPLETED"
    assert tacker.asked == []


def test_what_is_still_going_on_is_awaited_before_it_is_retried(monkeypatch):
    """On a slow cloud nfvbed's patience ends before the operation fails."""
    tacker = FailingTacker("HEAL", TABLE["v1"]["HEAL"])
    tacker.operations[0]["operationState"] = "PROCESSING"
    listed, looks = tacker.list_vnf_lcm_op_occs, []

    def later(filter):
        looks.append(filter)
        if len(looks) == 3:
            tacker.operations[0]["operationState"] = "FAILED_TEMP"
        return listed(filter)

    monkeypatch.setattr(tacker, "list_vnf_lcm_op_occs", later)
    Operations(tacker, "i1").retry()
    assert tacker.operations[-1]["operationState"] == "COMPLETED"


def test_a_retry_that_fails_again_says_why():
    cells = TABLE["v1"]["HEAL"] | {"retry": {"refused": "Heat said no", "status": 500}}
    with pytest.raises(OnboardError, match="retry of HEAL .* ended as FAILED_TEMP") as caught:
        Operations(FailingTacker("HEAL", cells), "i1").retry()
    assert caught.value.observed == "Tacker: Heat said no"


def test_a_rollback_that_was_seen_to_go_on_has_ended_whatever_time_tacker_keeps(monkeypatch):
    """Version 2 writes the time of an operation's beginning alone: it is the state in between that tells."""
    tacker = FailingTacker("CHANGE_EXT_CONN", TABLE["v2"]["CHANGE_EXT_CONN"])
    operation, listed = tacker.operations[0], tacker.list_vnf_lcm_op_occs
    states = iter(("ROLLING_BACK", "ROLLING_BACK", "FAILED_TEMP"))

    def later(filter):
        if tacker.asked:
            operation["operationState"] = next(states)
        return listed(filter)

    monkeypatch.setattr(tacker, "rollback_vnf_instance", tacker.asked.append)
    monkeypatch.setattr(tacker, "list_vnf_lcm_op_occs", later)
    operation["error"] = {"status": 500, "detail": "Unable to find network"}
    with pytest.raises(OnboardError, match="rollback of CHANGE_EXT_CONN .* ended as FAILED_TEMP") as caught:
        Operations(tacker, "i1").rollback()
    assert (list(states), caught.value.observed) == ([], "Tacker: Unable to find network")


def test_a_rollback_that_was_refused_between_two_looks_is_known_by_its_error(monkeypatch):
    """As version 2 does of a heal: it takes the request, fails it at once, and keeps the time."""
    tacker = FailingTacker("HEAL", TABLE["v2"]["HEAL"])
    operation = tacker.operations[0]
    operation["error"] = {"status": 500, "detail": "No valid host was found"}
    said = TABLE["v2"]["HEAL"]["rollback"]
    error = {"status": said["status"], "detail": said["refused"]}
    monkeypatch.setattr(tacker, "rollback_vnf_instance", lambda identifier: operation.update(error=error))
    with pytest.raises(UnsupportedError, match="does not roll back HEAL"):
        Operations(tacker, "i1").rollback()


def test_an_error_that_tacker_writes_late_is_not_taken_for_that_of_a_retry(monkeypatch):
    """Version 1 writes an operation's state first: it was asked for between the two."""
    tacker = FailingTacker("CHANGE_EXT_CONN", TABLE["v1"]["CHANGE_EXT_CONN"])
    operation, listed = tacker.operations[0], tacker.list_vnf_lcm_op_occs
    states = iter(("FAILED_TEMP", "FAILED_TEMP", "PROCESSING", "COMPLETED"))

    def later(filter):
        if tacker.asked:
            operation["operationState"] = next(states)
        return listed(filter)

    def retried(identifier):
        tacker.asked.append(identifier)
        operation["error"] = {"status": 500, "detail": "Unable to find network"}

    monkeypatch.setattr(tacker, "retry_vnf_instance", retried)
    monkeypatch.setattr(tacker, "list_vnf_lcm_op_occs", later)
    Operations(tacker, "i1").retry()
    assert (list(states), operation["operationState"]) == ([], "COMPLETED")


@pytest.mark.usefixtures("impatient")
def test_a_retry_of_which_tacker_keeps_the_first_time_is_not_said_to_have_not_begun(monkeypatch):
    """A change of connectivity to a network that is not there fails again at once, and its time stays as it was."""
    tacker = FailingTacker("CHANGE_EXT_CONN", TABLE["v1"]["CHANGE_EXT_CONN"])
    tacker.operations[0]["error"] = {"status": 500, "detail": "Unable to find network"}
    monkeypatch.setattr(tacker, "retry_vnf_instance", tacker.asked.append)
    with pytest.raises(OnboardError, match="retry of CHANGE_EXT_CONN .* leaves it FAILED_TEMP") as caught:
        Operations(tacker, "i1").retry()
    assert (tacker.asked, caught.value.observed.endswith("Unable to find network")) == (["o1"], True)


def test_the_legacy_api_says_that_it_has_none_of_it(monkeypatch, tmp_path):
    monkeypatch.setattr(account, "tacker_client", lambda connection, version="1": FakeTacker())
    legacy, vnf = LegacyApi(cloud(), Journal(tmp_path / "journal")), TackerVnf("legacy", "v1", "d1", "a", "demo", "")
    for request in (lambda: legacy.retry(vnf), lambda: legacy.rollback(vnf), lambda: legacy.reconnect(vnf, ())):
        with pytest.raises(UnsupportedError, match="this API of Tacker"):
            request()


def test_a_connection_point_moves_to_another_network_and_the_tag_follows(monkeypatch, tmp_path):
    tacker = FakeTacker()
    tag = Tag("sol", "demo", "a", "1", (("CP1", "left"), ("CP2", "right")), "ours")
    tacker.instances = {"i1": {"id": "i1", "vnfInstanceName": "a", "vnfdId": "d", SolApi.description: tag.text}}
    tacker.show_vnf_instance = lambda identifier: tacker.instances[identifier]
    tacker.update_vnf_instance = lambda identifier, body: tacker.instances[identifier].update(body)

    def change(identifier, body):
        tacker.asked.append(body)
        tacker.operations.append({"id": "o1", "startTime": "0", "operationState": "COMPLETED"})

    tacker.change_ext_conn_vnf_instance = change
    monkeypatch.setattr(account, "tacker_client", lambda connection, version="1": tacker)
    monkeypatch.setattr(SolApi, "_looked_at", lambda self, vnf: vnf)
    monkeypatch.setattr(stacks, "servers", lambda connection, stack: [])
    connection = cloud()
    connection.network.find_network = lambda name, ignore_missing: type("Network", (), {"id": f"id-of-{name}"})
    api, vnf = SolApi(connection, Journal(tmp_path / "journal")), TackerVnf("sol", "i1", "d1", "a", "demo", "s1")
    api.reconnect(vnf, (("CP2", "other"),))
    (body,) = tacker.asked
    (link,) = body["extVirtualLinks"]
    assert (link["resourceId"], [point["cpdId"] for point in link["extCps"]]) == ("id-of-other", ["CP2"])
    (data,) = link["extCps"][0]["cpConfig"][0]["cpProtocolData"]
    assert data["ipOverEthernet"]["ipAddresses"], "Tacker 8 ends with AttributeError where there are none"
    assert Tag.read(tacker.instances["i1"][SolApi.description]).networks == (("CP1", "left"), ("CP2", "other"))
    with pytest.raises(UnsupportedError, match="no external connection point CP9"):
        api.reconnect(vnf, (("CP9", "other"),))
