"""What others have on a cloud keeps it up: it is listed by project, whatever its name, and nfvbed's own is not."""

from types import SimpleNamespace

import pytest
from openstack import exceptions as sdk
from openstack.block_storage.v3.volume import Volume
from openstack.compute.v2.server import Server
from openstack.identity.v3.project import Project
from openstack.network.v2.port import Port

from nfvbed.cloud.tacker import account, others
from nfvbed.cloud.tacker.journal import Journal
from nfvbed.errors import BusyError
from nfvbed.sites.openstack import descriptorvnfs, storeddeployment
from tests.unit.cloud.tacker.fake_cloud import FakeOrchestration, cloud, resource, stack
from tests.unit.cloud.tacker.fake_tacker import FakeTacker

OWN_STACK = "nfvbed-demo_a-abcdef"
LOOKS_LIKE_OURS = "nfvbed-other_a-abcdef"


def instance(identifier, name, project="ours"):
    return Server.existing(id=identifier, name=name, tenant_id=project)


def port(identifier, device="", owner="", project="theirs"):
    return Port.existing(id=identifier, name="", device_id=device, device_owner=owner, project_id=project)


class Heat(FakeOrchestration):
    """Heat, which shows stacks of all projects where its policy lets it."""

    def __init__(self, everywhere=None, **keys):
        super().__init__([stack("s1", OWN_STACK)], {"s1": [resource("VDU1", "OS::Nova::Server", "n1")]})
        self.kept += keys.get("more", [])
        self._everywhere = everywhere

    def get(self, _url, params):
        assert params == {"global_tenant": "True"}
        status = 403 if self._everywhere is None else 200
        return SimpleNamespace(status_code=status, json=lambda: {"stacks": self._everywhere})


def connection(servers=(), ports=(), heat=None, volumes=()):
    found = cloud(heat or Heat(), servers=[])
    found.identity = SimpleNamespace(
        projects=lambda: [Project.existing(id="ours", name="admin"), Project.existing(id="theirs", name="alice")]
    )
    found.compute.servers = lambda all_projects: [instance("n1", "VDU1"), *servers] if all_projects else []
    found.network.ports = lambda: list(ports)
    found.block_storage = SimpleNamespace(volumes=lambda all_projects: list(volumes))
    found.endpoint_for = lambda kind: "http://cinder" if volumes else None
    return found


@pytest.fixture(name="journal")
def _journal(tmp_path, monkeypatch):
    monkeypatch.setattr(account, "tacker_client", lambda connection, version="1": FakeTacker())
    return Journal(tmp_path / "journal")


def shown(found):
    return [(one.project, one.kind, one.id) for one in found]


GLOBAL = [
    {"id": "s1", "stack_name": OWN_STACK, "project": "ours"},
    {"id": "s9", "stack_name": "x", "project": "theirs"},
]


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ({}, []),
        ({"servers": [instance("n2", "web", "theirs")]}, [("alice", "instance", "n2")]),
        ({"servers": [instance("n2", "web", "unknown")]}, [("unknown", "instance", "n2")]),
        # An administrator's own, and one whose name looks like nfvbed's: a name is no mark.
        ({"servers": [instance("n2", OWN_STACK)]}, [("admin", "instance", "n2")]),
        ({"heat": Heat(more=[stack("s2", LOOKS_LIKE_OURS)])}, [("admin", "stack", "s2")]),
        ({"heat": Heat(everywhere=GLOBAL)}, [("alice", "stack", "s9")]),
        ({"ports": [port("q1", owner="network:dhcp"), port("q2", "n1", "compute:nova")]}, []),
        (
            {"ports": [port("q3"), port("q4", "gone", "compute:nova")]},
            [("alice", "port", "q3"), ("alice", "port", "q4")],
        ),
        ({"volumes": [Volume.existing(id="v1", name="data")]}, [("", "volume", "v1")]),
    ],
)
def test_what_is_not_nfvbeds_own_is_listed_by_project(journal, there, expected):
    assert shown(others.survey(connection(**there), journal, ["demo"])) == expected


def test_without_a_written_owner_nothing_is_nfvbeds(journal):
    assert shown(others.survey(connection(), journal, [])) == [("admin", "instance", "n1"), ("admin", "stack", "s1")]


def test_a_cloud_with_others_things_is_not_taken_down(journal):
    many = [instance(f"x{number}", "web", "theirs") for number in range(30)]
    with pytest.raises(BusyError, match="site dev is not taken down: 30 things") as failure:
        others.require_none("dev", lambda: connection(many), journal, ["demo"])
    assert failure.value.exit_code == 13
    assert "project alice: instance web (x0)" in failure.value.observed
    assert "and 10 more" in failure.value.observed
    assert "--evict" in failure.value.fix
    others.require_none("dev", connection, journal, ["demo"])


def test_a_cloud_that_cannot_be_asked_is_not_taken_down(journal):
    def down():
        raise sdk.SDKException("Unable to establish connection")

    broken = connection()
    broken.compute.servers = lambda all_projects: down()
    with pytest.raises(BusyError, match="cannot be asked") as failure:
        others.require_none("dev", lambda: broken, journal, [])
    assert "Unable to establish connection" in failure.value.observed
    assert "--evict" in failure.value.fix


def test_owners_are_those_that_are_written_down(tmp_path):
    assert descriptorvnfs.owners_of(tmp_path) == ()
    storeddeployment.note(tmp_path, "under1")
    (tmp_path / "given.json").write_text('{"their": "given1"}')
    assert descriptorvnfs.owners_of(tmp_path) == ("under1", "given1")
