"""Version 2 of the SOL API: requests as Tacker's own schemas take them, and instances beside those of version 1."""

import json
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest

from nfvbed.cloud.tacker import account, left, stacks, vims
from nfvbed.cloud.tacker.account import Steps
from nfvbed.cloud.tacker.api import TackerVnf, VnfIdentity
from nfvbed.cloud.tacker.journal import Journal
from nfvbed.cloud.tacker.solv2 import SolV2Api
from nfvbed.cloud.tacker.tags import Tag, digest_of
from nfvbed.errors import OnboardError
from nfvbed.vnfs.descriptors import written
from tests.unit.cloud.tacker.fake_cloud import FakeOrchestration, cloud, stack
from tests.unit.cloud.tacker.fake_tacker import FakeTacker, refused
from tests.unit.vnfs.descriptors.requests import request

SCHEMAS = json.loads((Path(__file__).parent / "recorded" / "vnflcm-v2-schemas.json").read_text())
"""Schemas of Tacker 8.0.0's module `tacker.sol_refactored.api.schemas.vnflcm_v2`, in JSON; one `enum` that is a text
there, in which Tacker's jsonschema looks for the value, is a list."""
OF_REQUEST = {
    "create": "CreateVnfRequest_V200",
    "instantiate": "InstantiateVnfRequest_V200",
    "scale": "ScaleVnfRequest_V200",
    "heal": "HealVnfRequest_V200",
    "change_ext_conn": "ChangeExtVnfConnectivityRequest_V200",
    "terminate": "TerminateVnfRequest_V200",
    "update": "VnfInfoModificationRequest_V200",
}
VNF = TackerVnf("sol-v2", "made", "p1", "vnf1", "demo", "s1")


class V2Tacker(FakeTacker):
    """Takes what its schemas take, and does it at once."""

    def __init__(self):
        super().__init__()
        self.bodies = {}

    def take(self, what, body):
        """Check a request's body, and keep it."""
        jsonschema.Draft4Validator(SCHEMAS[OF_REQUEST[what]]).validate(body)
        self.bodies[what] = body

    def done(self, what, body):
        """Take a request for an operation, which is done."""
        self.take(what, body)
        number = str(len(self.operations))
        operation = {"id": number, "startTime": number, "operation": what.upper(), "operationState": "COMPLETED"}
        self.operations.append(operation)

    def create_vnf_instance(self, body):
        """Make an instance."""
        self.take("create", body)
        self.instances["made"] = {"id": "made", "instantiationState": "NOT_INSTANTIATED", **body}
        return self.instances["made"]

    def show_vnf_instance(self, identifier):
        """Return an instance."""
        return self.instances[identifier]

    def instantiate_vnf_instance(self, identifier, body):
        """Instantiate one."""
        self.done("instantiate", body)
        self.instances[identifier] |= {
            "instantiationState": "INSTANTIATED",
            "instantiatedVnfInfo": {"scaleStatus": [{"aspectId": "machines", "scaleLevel": 0}]},
        }

    def scale_vnf_instance(self, identifier, body):
        """Scale one."""
        self.done("scale", body)

    def heal_vnf_instance(self, identifier, body):
        """Heal one."""
        self.done("heal", body)

    def change_ext_conn_vnf_instance(self, identifier, body):
        """Move its connection points."""
        self.done("change_ext_conn", body)

    def terminate_vnf_instance(self, identifier, body):
        """Terminate one."""
        self.done("terminate", body)
        self.instances[identifier]["instantiationState"] = "NOT_INSTANTIATED"

    def delete_vnf_instance(self, identifier):
        """Delete one."""
        del self.instances[identifier]

    def update_vnf_instance(self, identifier, body):
        """Change an instance's description."""
        self.take("update", body)
        self.instances[identifier] |= body


@pytest.fixture(name="tackers")
def _tackers(quick, monkeypatch):
    """Return both versions' clients; packages and VIMs are asked of version 1's."""
    found = SimpleNamespace(v1=FakeTacker(), v2=V2Tacker())
    monkeypatch.setattr(account, "tacker_client", lambda connection, version="1": getattr(found, f"v{version}"))
    monkeypatch.setattr(vims, "find_or_register", lambda *words: "vim-id")
    monkeypatch.setattr(SolV2Api, "_looked_at", lambda self, vnf: vnf)
    monkeypatch.setattr(account.Account, "await_servers", lambda *words: ())
    monkeypatch.setattr(account.Account, "await_scaled", lambda *words: None)
    monkeypatch.setattr(stacks, "servers", lambda connection, stack: [])
    return found


def made(tackers, tmp_path, orchestration=None):
    """Return the API with an instance that it has made of nfvbed's own package."""
    connection = cloud(orchestration)
    connection.network.find_network = lambda name, ignore_missing: SimpleNamespace(id=f"id-of-{name}")
    api = SolV2Api(connection, Journal(tmp_path / "journal"))
    asked = written.for_api(VnfIdentity("demo", "vnf1"), request(most_instances=2), "sol-v2")
    tag = Tag("sol-v2", "demo", "vnf1", digest_of(asked.descriptor), asked.networks, "ours")
    tackers.v1.states = iter(["ONBOARDED"])
    tackers.v1.delete_vnf_package = tackers.v1.packages.pop
    shown = tackers.v1.show_vnf_package
    tackers.v1.show_vnf_package = lambda one: {**shown(one), "vnfdId": "descriptor"}
    api._make(asked, asked.descriptor, tag, Steps(lambda line: None))
    return api, asked


def test_an_instance_is_made_without_a_script_and_with_the_vim_by_id(tackers, tmp_path):
    made(tackers, tmp_path)
    assert tackers.v1.asked == [("upload", "made")]
    body = tackers.v2.bodies["instantiate"]
    assert "additionalParams" not in body
    assert body["vimConnectionInfo"] == {"vim": {"vimId": "vim-id", "vimType": "ETSINFV.OPENSTACK_KEYSTONE.V_3"}}
    assert [link["resourceId"] for link in body["extVirtualLinks"]] == ["id-of-data0", "id-of-data1"]


def test_every_operation_is_asked_as_its_schema_has_it(tackers, tmp_path):
    api, asked = made(tackers, tmp_path)
    api.scale(VNF, 1)
    api.heal(VNF, asked, lambda line: None)
    api.reconnect(VNF, (("out", "other"),))
    api.clear(Tag("sol-v2", "demo", "vnf1", "", project="ours"), lambda line: None)
    assert set(tackers.v2.bodies) == set(OF_REQUEST)
    (link,) = tackers.v2.bodies["change_ext_conn"]["extVirtualLinks"]
    assert (link["resourceId"], link["extCps"][0]["cpdId"]) == ("id-of-other", "out")
    assert tackers.v2.instances == {}


def test_what_is_left_of_both_versions_is_found_and_removed(tackers, tmp_path):
    heat = FakeOrchestration([stack("s1", "vnf-made"), stack("s2", "vnf-others")])
    api, _ = made(tackers, tmp_path, heat)
    journal = Journal(tmp_path / "journal")
    found = left.remove(api._connection, journal, "demo", lambda line: None)
    assert {(one.kind, one.id) for one in found} >= {("vnf instance", "made"), ("stack", "s1"), ("vnf package", "made")}
    assert [one.id for one in heat.kept] == ["s2"]
    assert (tackers.v2.instances, tackers.v1.packages) == ({}, {})


@pytest.mark.usefixtures("impatient")
def test_an_instance_that_tacker_does_not_delete_is_named_with_tackers_words(tackers, tmp_path, monkeypatch):
    """As version 1 does of one whose change of connectivity failed once: its state stays that of the failure."""
    api, _ = made(tackers, tmp_path)

    def refuse(identifier):
        raise refused(409)

    monkeypatch.setattr(tackers.v2, "delete_vnf_instance", refuse)
    with pytest.raises(OnboardError, match="Tacker does not delete VNF instance made") as caught:
        api.remove(VNF)
    assert caught.value.observed.endswith("; Tacker: status 409: refused with 409")
