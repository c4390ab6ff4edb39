"""What a stranger to a cloud may not, or has written wrong, is said before anything is made: with the role it takes."""

import secrets

import pytest

from nfvbed.host.network import links, namespaces
from nfvbed.host.network.namespaces import NETNS_DIRECTORY, inside
from tests.openstack.stranger import Stranger

pytestmark = pytest.mark.timeout(600)
EXISTING = {"onboarding": "none", "existing": {"instances": ["their-vnf"]}}
DEVICES = ("cable0", "cable1")


@pytest.fixture(scope="module", name="theirs")
def _theirs(onboarding_cloud, connection, tmp_path_factory):
    """An ordinary member of a project, with two devices in a namespace that are up."""
    found = Stranger(connection, onboarding_cloud.auth, tmp_path_factory.mktemp("theirs"), "member")
    found.space, found.devices = str(NETNS_DIRECTORY / f"stranger-{secrets.token_hex(3)}"), DEVICES
    NETNS_DIRECTORY.mkdir(exist_ok=True)
    namespaces.create(found.space)
    inside(found.space, lambda: links.add_veth(*DEVICES, ("02:00:00:00:00:01", "02:00:00:00:00:02")))
    inside(found.space, lambda: links.set_up(DEVICES))
    yield found
    namespaces.remove(found.space)
    found.remove()


@pytest.fixture(name="nothing_made")
def _nothing_made(onboarding_cloud):
    before = onboarding_cloud.holdings()
    yield
    assert onboarding_cloud.holdings() == before


@pytest.fixture(name="operators")
def _operators(connection):
    """Networks of the operator's: one that is shared and has port security, one that is not shared."""
    made = [
        connection.network.create_network(name="secured", shared=True, port_security_enabled=True),
        connection.network.create_network(name="unseen"),
    ]
    yield
    for network in made:
        connection.network.delete_network(network)


@pytest.mark.usefixtures("nothing_made")
def test_tackers_legacy_api_takes_a_role_that_members_have_not(theirs):
    theirs.write_site("legacy", onboarding="legacy")
    said = theirs.refused(11, "onboard", "vloop", "--site", "legacy", "--flavor", "hugepages")
    assert "role `admin`" in said and "`member` is enough" in said
    assert "is deployed" not in theirs.ok("destroy", "--site", "legacy").replace("nothing is deployed", "")


@pytest.mark.usefixtures("operators")
def test_networks_that_are_not_theirs(theirs):
    theirs.write_site("secured", onboarding="sol", networks=["secured", "data1"])
    said = theirs.refused(11, "onboard", "vloop", "--site", "secured", "--flavor", "hugepages")
    assert "ports on secured cannot be without port security" in said and "role `admin`" in said
    theirs.write_site("unseen", **(EXISTING | {"networks": ["data0", "unseen"]}))
    said = theirs.refused(12, "deploy", "existing", "--site", "unseen")
    assert "network unseen is not there, or not visible" in said and "role `admin`" in said
    assert "networks[1] of site unseen" in said


@pytest.mark.parametrize(
    ("keys", "code", "said"),
    [
        ({"os_cloud": "thiers"}, 10, "did you mean 'theirs'?"),
        ({"region": "Nowhere"}, 10, "Nowhere is not a valid region name"),
        ({"ports": [{"device": "lo"}, {"device": "lo0"}]}, 11, "it has the address 127.0.0.1/8"),
        ({"existing": {"instances": ["no-such-vnf"]}}, 12, "instance no-such-vnf is not there"),
    ],
)
def test_what_is_wrong_with_the_file_is_said_before_anything_is_sent(theirs, keys, code, said):
    theirs.write_site("wrong", **(EXISTING | keys))
    assert said in theirs.refused(code, "deploy", "existing", "--site", "wrong")


def test_a_wrong_password_is_known_as_such(theirs):
    theirs.write_site("path", **EXISTING)
    theirs.write_clouds("not-the-password")
    try:
        said = theirs.refused(12, "deploy", "existing", "--site", "path")
        assert "does not let these credentials in" in said and "not-the-password" not in said
    finally:
        theirs.write_clouds(theirs.password)
