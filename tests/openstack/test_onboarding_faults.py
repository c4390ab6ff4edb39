"""Bad input and dead services: each ends in a clear error within a stated time, and nothing of it is left."""

import pytest

from nfvbed.cloud.devcloud.access import NAME
from nfvbed.cloud.tacker import left, waits
from nfvbed.cloud.tacker.connection import connect
from nfvbed.cloud.tacker.legacy import LegacyApi
from nfvbed.cloud.tacker.sol import SolApi
from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.patience import patient
from tests.openstack.cloud_driver import nfvbed
from tests.openstack.onboarding import failure_of, failure_when_killed, legacy, owner, sol

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(1200), pytest.mark.usefixtures("nothing_left")]
REFUSED_S = patient(60.0)
"""Within which what cannot be is refused: most of it before anything is made."""
FAILED_S = patient(200.0)
"""Within which an instantiation has failed, with its causes, and all of it is removed."""
KILLED_S = patient(400.0)
"""Within which an onboarding ends whose service is killed: its limit, the causes, and what can be removed."""
HASH = "6b813aa46bb90b4da216a4d19376593fa3f4fc7e617f03a92b7fe11e9a3981cb"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"flavor": "no-such-flavor"}, "no-such-flavor"),
        ({"image": "no-such-image"}, "no-such-image"),
        ({"network": "no-such-network"}, "no-such-network"),
        ({"type": "tosca.nodes.nfv.VDU.NoSuchType"}, "NoSuchType"),
    ],
)
def test_a_legacy_template_that_names_what_is_not_there(connection, journal, changes, named):
    failure, seconds = failure_of(LegacyApi(connection, journal), legacy("bad", **changes))
    assert isinstance(failure, OnboardError)
    assert named in failure.observed
    assert seconds < REFUSED_S


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (((HASH, HASH[::-1]),), "checksum"),
        ((("tosca.nodes.nfv.Vdu.Compute", "tosca.nodes.nfv.Vdu.NoSuchType"),), "NoSuchType"),
    ],
    ids=["checksum of the image", "type"],
)
def test_a_package_that_tacker_takes_and_cannot_instantiate(connection, journal, changes, named):
    failure, seconds = failure_of(SolApi(connection, journal), sol("bad", changes=changes))
    assert isinstance(failure, OnboardError)
    assert named in failure.observed
    assert seconds < FAILED_S


def test_a_package_that_tacker_does_not_take(connection, journal):
    changes = (("Entry-Definitions: Definitions/top.yaml", "Entry-Definitions: Definitions/none.yaml"),)
    failure, seconds = failure_of(SolApi(connection, journal), sol("bad", changes=changes))
    assert isinstance(failure, OnboardError)
    assert "fell back to CREATED" in failure.observed
    assert "tacker-conductor" in failure.fix
    assert seconds < REFUSED_S


def test_a_network_that_is_not_there(connection, journal):
    failure, seconds = failure_of(SolApi(connection, journal), sol("bad", networks=(("CP1", "no-such-network"),)))
    assert "no network no-such-network" in failure.what
    assert "mgmt" in failure.observed
    assert seconds < REFUSED_S


def test_a_deployment_flavour_that_is_not_there(connection, journal):
    failure, seconds = failure_of(SolApi(connection, journal), sol("bad", flavour="no-such-flavour"))
    assert "no-such-flavour" in failure.observed
    assert seconds < REFUSED_S


def test_no_host_is_large_enough_legacy(connection, journal):
    flavor = connection.compute.create_flavor(name="test-too-large", ram=40000, vcpus=1, disk=1)
    try:
        failure, seconds = failure_of(LegacyApi(connection, journal), legacy("large", flavor="test-too-large"))
    finally:
        connection.compute.delete_flavor(flavor)
    _is_no_valid_host(failure)
    assert seconds < FAILED_S


def test_no_host_is_large_enough_sol(connection, journal):
    changes = (("virtual_mem_size: 256 MiB", "virtual_mem_size: 40000 MiB"),)
    failure, seconds = failure_of(SolApi(connection, journal), sol("large", changes=changes))
    _is_no_valid_host(failure)
    assert seconds < FAILED_S


def _is_no_valid_host(failure):
    assert isinstance(failure, OnboardError)
    assert "Tacker:" in failure.observed
    assert "Heat: OS::Nova::Server" in failure.observed
    assert "No valid host was found" in failure.observed


@pytest.mark.parametrize("quota", ["cores", "instances"])
def test_a_quota_that_is_too_small(connection, journal, quota):
    project = connection.current_project_id
    connection.set_compute_quotas(project, **{quota: 0})
    try:
        failure, seconds = failure_of(LegacyApi(connection, journal), legacy("quota"))
    finally:
        connection.delete_compute_quotas(project)
    assert "Quota exceeded for " + quota in failure.observed
    assert seconds < FAILED_S


@pytest.mark.parametrize("service", ["tacker-conductor", "heat-engine", "nova-compute", "rabbitmq"])
def test_a_service_that_is_killed(onboarding_cloud, connection, journal, monkeypatch, service):
    try:
        with monkeypatch.context() as patch:
            patch.setattr(waits, "FACTOR", 1.5)  # of what cannot succeed; what follows takes the time that it needs
            api = SolApi(connection, journal)
            failure, seconds = failure_when_killed(onboarding_cloud, api, sol("killed"), service)
    finally:
        assert nfvbed("start").returncode == 0
    assert isinstance(failure, OnboardError)
    assert failure.observed
    assert seconds < KILLED_S
    print(f"{service}: {seconds:.0f} s; {failure}")
    left.remove(connection, journal, owner(), lambda text: None)


def test_a_vim_with_a_password_that_is_no_longer_right(journal, member):
    password = member.password
    api = SolApi(member.connect(), journal)
    api.remove(api.onboard(sol("vim", hot=True), lambda text: None))
    member.set_password("another-password")
    failure, seconds = failure_of(SolApi(member.connect(), journal), sol("vim", hot=True))
    assert "VIM" in failure.fix
    assert "password" in failure.fix
    assert password not in str(failure)
    assert seconds < FAILED_S


def test_an_ordinary_user_onboards_packages_with_a_hot_and_is_told_what_takes_more(connection, journal, member):
    api = SolApi(member.connect(), journal)
    vnf = api.onboard(sol("member", hot=True), lambda text: None)
    try:
        assert len(vnf.instances) == 1
        # The same owner's in another project: an administrator sees it, and leaves it alone.
        assert left.survey(connection, journal, owner()) == ()
        assert left.remove(connection, journal, owner(), lambda text: None) == ()
        assert [one.id for one in api.found(owner())] == [vnf.id]
    finally:
        api.remove(vnf)
    for refusing, request in ((api, sol("member")), (LegacyApi(member.connect(), journal), legacy("member"))):
        failure, _ = failure_of(refusing, request)
        assert isinstance(failure, (OnboardError, UnsupportedError))
        assert "the role `admin`" in failure.fix, str(failure)
    assert left.survey(member.connect(), journal, owner()) == ()


def test_a_wrong_password(onboarding_cloud, tmp_path, journal):
    text = onboarding_cloud.places.clouds.read_text()
    wrong = tmp_path / "clouds.yaml"
    wrong.write_text(text.replace(onboarding_cloud.auth["password"], "not-the-password"))
    failure, seconds = failure_of(LegacyApi(connect(NAME, wrong), journal), legacy("wrong"))
    assert "the password or the project in clouds.yaml is wrong" in failure.fix
    assert "not-the-password" not in str(failure)
    assert seconds < REFUSED_S
