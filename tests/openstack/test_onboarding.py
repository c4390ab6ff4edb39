"""Life cycles through Tacker's two APIs, a client that is killed in the middle, and what belongs to others."""

import json
import signal
import subprocess
import sys

import pytest

from nfvbed.cloud.devcloud.access import NAME
from nfvbed.cloud.tacker import left
from nfvbed.cloud.tacker.legacy import LegacyApi
from nfvbed.cloud.tacker.sol import SolApi
from nfvbed.errors import UnsupportedError
from tests.openstack.cloud_driver import ROOT, command_lines, wait
from tests.openstack.onboarding import legacy, owner, sol

pytestmark = [pytest.mark.timeout(900), pytest.mark.usefixtures("nothing_left")]
STEPS = {
    LegacyApi: ["vim", "vnfd", "create", "active", "servers"],
    SolApi: ["vim", "package", "create", "instantiate", "servers"],
}


@pytest.mark.parametrize(
    ("kind", "request_of"),
    [
        (LegacyApi, lambda: legacy("life", scaling=True)),
        pytest.param(SolApi, lambda: sol("life", hot=True), marks=pytest.mark.path),
    ],
)
def test_a_life_cycle(onboarding_cloud, connection, journal, record_property, kind, request_of):
    api, request, told = kind(connection, journal), request_of(), []
    vnf = api.onboard(request, told.append)
    assert [name for name, _ in vnf.steps] == STEPS[kind]
    assert all(taken > 0 for _, taken in vnf.steps)
    record_property("steps", str(vnf.steps))
    (instance,) = vnf.instances
    assert (instance.host, [port.network for port in instance.ports]) == ("controller", ["mgmt"])
    again = api.onboard(request, told.append)
    assert [name for name, _ in again.steps] == ["found"]
    assert (again.id, again.instances) == (vnf.id, vnf.instances)
    assert [one.id for one in api.found(owner())] == [vnf.id]
    assert len(api.scale(vnf, 1).instances) == 2
    assert len(api.scale(vnf, -1).instances) == 1
    healed = api.heal(vnf, request, told.append)
    assert {one.id for one in healed.instances} & {instance.id} == set()
    assert onboarding_cloud.answers(onboarding_cloud.address(healed.instances[0].id))
    kinds = {one.kind for one in left.survey(connection, journal, owner())}
    assert kinds >= {"stack", "server", "port"}
    api.remove(healed)
    api.remove(healed)
    assert api.found(owner()) == ()


def test_a_killed_client_leaves_nothing_that_the_next_command_does_not_find(onboarding_cloud, connection, journal):
    before = onboarding_cloud.holdings()
    script = (
        "import sys; from pathlib import Path\n"
        "from nfvbed.cloud.tacker.connection import connect\n"
        "from nfvbed.cloud.tacker.journal import Journal\n"
        "from nfvbed.cloud.tacker.sol import SolApi\n"
        "from tests.openstack.onboarding import sol\n"
        "api = SolApi(connect(sys.argv[1], Path(sys.argv[2])), Journal(Path(sys.argv[3])))\n"
        "api.onboard(sol('killed'), print)\n"
    )
    words = [NAME, str(onboarding_cloud.places.clouds), str(journal.path)]
    client = subprocess.Popen([sys.executable, "-c", script, *words], cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        assert wait(lambda: onboarding_cloud.holdings()["servers"] - before["servers"], 180)
        passwords = json.loads(onboarding_cloud.places.secrets.read_text()).values()
        assert [one for one in passwords if one in command_lines() or one in journal.path.read_text()] == []
    finally:
        client.send_signal(signal.SIGKILL)
        client.wait()
    found = left.survey(connection, journal, owner())
    assert {one.kind for one in found} >= {"vnf instance", "vnf package", "stack"}
    removed = left.remove(connection, journal, owner(), lambda text: None)
    assert {one.kind for one in removed} >= {"vnf instance", "vnf package", "stack"}
    assert left.survey(connection, journal, owner()) == ()
    assert left.remove(connection, journal, owner(), lambda text: None) == ()
    assert not journal.path.exists()


@pytest.mark.on_demand
def test_what_is_another_owners_stays(onboarding_cloud, connection, journal):
    heat = {"heat_template_version": "2013-05-23", "resources": {"r": {"type": "OS::Heat::RandomString"}}}
    stack = connection.orchestration.create_stack(name=f"nfvbed-{owner()}_mine", template=heat)
    image = connection.image.create_image(name="cirros-of-package", disk_format="raw", container_format="bare")
    api = LegacyApi(connection, journal)
    body = {"name": f"nfvbed-{owner()}_x", "attributes": {"vnfd": legacy("x").descriptor}}
    identifier = api._tacker.create_vnfd({"vnfd": body})["vnfd"]["id"]
    try:
        left.remove(connection, journal, owner(), lambda text: None)
        assert left.survey(connection, journal, owner()) == ()
        assert connection.orchestration.find_stack(stack.id) is not None
        assert connection.image.find_image(image.id) is not None
        assert api._tacker.show_vnfd(identifier)["vnfd"]["id"] == identifier
    finally:
        connection.orchestration.delete_stack(stack.id)
        connection.image.delete_image(image.id)
        api._tacker.delete_vnfd(identifier)
        wait(lambda: connection.orchestration.find_stack(f"nfvbed-{owner()}_mine") is None, 30)


@pytest.mark.on_demand
def test_what_has_no_scaling_policy_says_so(connection, journal):
    api = LegacyApi(connection, journal)
    vnf = api.onboard(legacy("fixed"), lambda text: None)
    try:
        with pytest.raises(UnsupportedError, match="cannot be scaled"):
            api.scale(vnf, 1)
    finally:
        api.remove(vnf)


@pytest.mark.on_demand
def test_a_half_made_one_is_removed_and_made_again(onboarding_cloud, connection, journal):
    api = LegacyApi(connection, journal)
    vnf = api.onboard(legacy("half"), lambda text: None)
    onboarding_cloud.delete_server(vnf.instances[0].id)
    told = []
    again = api.onboard(legacy("half"), told.append)
    assert again.id != vnf.id
    assert any(vnf.id in text for text in told), told
    other = api.onboard(legacy("half", flavor="nfvbed.hugepages"), told.append)
    assert other.id != again.id
    api.remove(other)
