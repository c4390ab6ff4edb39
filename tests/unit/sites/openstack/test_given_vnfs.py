"""VNFs of descriptors that someone gives: known by name to the next command, and removed where one fails."""

from types import SimpleNamespace

import pytest

from nfvbed.errors import ConfigurationError, OnboardError, UsageError
from nfvbed.sites.openstack import given, remembered
from nfvbed.sites.openstack.given import GivenVnfs
from nfvbed.sites.openstack.instances import InstancePort, PlacedInstance
from nfvbed.sites.openstack.tacker import waits
from nfvbed.sites.openstack.tacker.api import TackerVnf
from nfvbed.sites.openstack.tacker.journal import Journal
from nfvbed.vnfs.descriptors.given import GivenDescriptor
from tests.unit.vnfs.descriptors.test_given_descriptors import IMAGE, NAMES, TEMPLATE

PLACED = PlacedInstance("i-1", "VDU1", "controller", (InstancePort("p-1", "mgmt", "fa:16:3e:00:00:01"),))


class FakeApi:
    """Onboards nothing: says what it was asked for, and fails where that is wanted."""

    def __init__(self, failure=None):
        self.requests = []
        self.failure = failure

    def onboard(self, request, tell):
        """Return a VNF of one instance."""
        self.requests.append(request)
        if self.failure:
            raise self.failure
        return TackerVnf("legacy", "v-1", "d-1", request.name, request.owner, "s-1", (PLACED,), (("create", 5),))


def named(*names):
    return [SimpleNamespace(name=name, id=f"id of {name}") for name in names]


def connection(printed="login:"):
    return SimpleNamespace(
        network=SimpleNamespace(networks=lambda: named("mgmt", "data0")),
        compute=SimpleNamespace(
            flavors=lambda: named("nfvbed.small"), get_server_console_output=lambda one, length: {"output": printed}
        ),
        image=SimpleNamespace(images=lambda: named("cirros")),
    )


@pytest.fixture(name="removed", autouse=True)
def _removed(monkeypatch):
    """Owners whose VNFs were removed."""
    owners = []
    monkeypatch.setattr(given.left, "remove", lambda cloud, journal, owner, tell: owners.append(owner))
    monkeypatch.setattr(waits, "limit_s", lambda step: 0.0)
    return owners


@pytest.fixture(name="descriptor")
def _descriptor(tmp_path):
    path = tmp_path / "their.yaml"
    path.write_text(TEMPLATE)
    return GivenDescriptor(path, "their", parameters=IMAGE, names=NAMES)


def vnfs(tmp_path, monkeypatch, api, printed="login:"):
    monkeypatch.setattr(given, "LegacyApi", lambda cloud, journal: api)
    target = SimpleNamespace(folder=tmp_path, connection=connection(printed))
    return GivenVnfs(target, Journal(tmp_path / "onboarded.jsonl"))


def test_one_is_onboarded_known_by_its_name_and_removed(tmp_path, monkeypatch, removed, descriptor):
    api = FakeApi()
    place = vnfs(tmp_path, monkeypatch, api)
    found = place.onboard(descriptor, str)
    assert (found.name, found.api, found.steps) == ("their", "legacy", (("create", 5),))
    assert (found.instances[0].ports, found.instances[0].printed) == ((("mgmt", "fa:16:3e:00:00:01"),), "login:")
    place.onboard(descriptor, str)
    first, second = api.requests
    assert first == second, "the same owner: what is there is found"
    assert remembered.under_way(tmp_path) == ""
    assert place.names() == ("their",)
    place.offboard("their", str)
    assert removed == [first.owner]
    place.onboard(descriptor, str)
    assert api.requests[-1].owner != first.owner


def test_what_failed_is_removed_and_not_known(tmp_path, monkeypatch, removed, descriptor):
    api = FakeApi(OnboardError("no valid host"))
    place = vnfs(tmp_path, monkeypatch, api)
    with pytest.raises(OnboardError, match="no valid host"):
        place.onboard(descriptor, str)
    assert removed == [api.requests[0].owner]
    assert (place.names(), remembered.under_way(tmp_path)) == ((), "")


def test_what_could_not_be_removed_stays_written_down(tmp_path, monkeypatch, descriptor):
    def fails(cloud, journal, owner, tell):
        raise OnboardError("not all of it")

    monkeypatch.setattr(given.left, "remove", fails)
    place = vnfs(tmp_path, monkeypatch, FakeApi(OnboardError("no valid host")))
    with pytest.raises(OnboardError, match="no valid host"):
        place.onboard(descriptor, str)
    assert remembered.under_way(tmp_path)


def test_names_that_the_cloud_lacks_are_told_before_anything_is_asked(tmp_path, monkeypatch, removed, descriptor):
    api = FakeApi()
    place = vnfs(tmp_path, monkeypatch, api)
    unnamed = GivenDescriptor(descriptor.path, "their", parameters=IMAGE)
    with pytest.raises(ConfigurationError, match=r"m1\.tiny|net_mgmt") as failure:
        place.onboard(unnamed, str)
    assert "--name OLD=NEW" in failure.value.fix
    assert "id of" not in failure.value.fix
    assert (api.requests, removed, remembered.under_way(tmp_path)) == ([], [], "")


def test_an_instance_that_prints_nothing_says_so(tmp_path, monkeypatch, descriptor):
    found = vnfs(tmp_path, monkeypatch, FakeApi(), printed="\n \n").onboard(descriptor, str)
    assert found.instances[0].printed == ""


def test_a_name_that_nobody_onboarded_is_refused(tmp_path, monkeypatch, descriptor):
    place = vnfs(tmp_path, monkeypatch, FakeApi())
    place.onboard(descriptor, str)
    with pytest.raises(UsageError, match="thier") as failure:
        place.offboard("thier", str)
    assert "their" in failure.value.observed
