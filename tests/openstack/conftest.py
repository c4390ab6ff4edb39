"""What tests of onboarding share: one cloud for all of them, started unless it runs, and what it held before each."""

import secrets
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from nfvbed.cloud.devcloud import enable
from nfvbed.cloud.devcloud.access import NAME
from nfvbed.cloud.tacker import left
from nfvbed.cloud.tacker.connection import connect, tacker_client
from nfvbed.cloud.tacker.journal import Journal
from nfvbed.dataplanes.devcloud import open_cloud
from nfvbed.sites.openstack import storeddeployment
from tests.openstack.cloud_driver import HUGEPAGES_MIB, ROOT, Cloud, nfvbed, verb, wait
from tests.openstack.onboarding import owner

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Those that start and stop a cloud of their own come first: the others share one, which stays to the end.

    Last come those after which its Neutron has networking-sfc.
    """

    def place(item):
        if HERE not in item.path.parents or "before" in item.fixturenames:
            return 0
        return 2 if "chain_cloud" in item.fixturenames else 1

    items.sort(key=place)


@pytest.fixture(scope="session", name="taken_down")
def _taken_down():
    """After the last test no cloud runs that did not run before the first one that asked for this."""
    ran = open_cloud(ROOT).find_node() is not None
    yield
    if not ran:
        assert nfvbed("stop").returncode == 0


@pytest.fixture(scope="session", name="onboarding_cloud")
def _onboarding_cloud(taken_down):
    """A cloud that runs: the one that tests of its start have left, or one that ran before, or a new one."""
    started = nfvbed("start", "--hugepages-mib", str(HUGEPAGES_MIB))
    assert started.returncode == 0, started.stderr
    return Cloud()


@pytest.fixture(scope="session", name="connection")
def _connection(onboarding_cloud):
    return connect(NAME, onboarding_cloud.places.clouds)


@pytest.fixture(name="journal")
def _journal(tmp_path):
    return Journal(tmp_path / "onboarded.jsonl")


@pytest.fixture(name="nothing_left")
def _nothing_left(onboarding_cloud, connection, journal):
    """After the test the cloud holds nothing that it did not hold before, and nothing of the test's owner is found.

    Instances boot on the controller, also where an earlier test deployed another compute.
    """
    enable.release(onboarding_cloud.api)
    before = onboarding_cloud.holdings()

    def new():
        return {kind: ids - before[kind] for kind, ids in onboarding_cloud.holdings().items() if ids - before[kind]}

    yield
    assert left.survey(connection, journal, owner()) == ()
    wait(lambda: not new(), 30)
    assert new() == {}


@pytest.fixture(name="timed")
def _timed(record_property):
    """Time a part of a test; its seconds are in the report."""

    @contextmanager
    def part(name):
        started = time.monotonic()
        taken = []
        yield lambda: taken[0]
        taken.append(time.monotonic() - started)
        record_property(f"{name}_s", round(taken[0], 1))
        print(f"{name}: {taken[0]:.1f} s")

    return part


@pytest.fixture(name="nothing_onboarded")
def _nothing_onboarded(onboarding_cloud):
    """Before and after, no VNF of a deployment is in the cloud; an image stays: the next VNF is onboarded sooner.

    What a failed test left is taken away, so that it is that test which failed, and not each one after it.
    """
    before, known = onboarding_cloud.holdings(), onboarding_cloud.known_to_tacker()
    yield
    found = storeddeployment.find(onboarding_cloud.places.run)
    remains = found is not None and found.choice is not None
    if remains:
        print(verb("offboard", "--site", found.deployment.site))
    assert not remains, f"the test left {found.deployment.id} of {found.variant.name} on {found.deployment.site}"
    assert not (onboarding_cloud.places.run / "onboarded.jsonl").exists()
    assert onboarding_cloud.holdings() | {"images": before["images"]} == before
    assert onboarding_cloud.known_to_tacker() == known


class Member:
    """An ordinary user: `member` of a project of its own."""

    def __init__(self, admin, auth, folder):
        self._admin, self._auth, self._folder = admin, auth, folder
        self.password = secrets.token_hex(8)
        self._made = 0
        self.project = admin.identity.create_project(name="test-onboarding")
        self.user = admin.identity.create_user(
            name="test-member", password=self.password, default_project_id=self.project.id
        )
        for name in ("member", "heat_stack_owner"):
            role = admin.identity.find_role(name)
            admin.identity.assign_project_role_to_user(self.project, self.user, role)

    def connect(self):
        """Return a connection with the password that the user has now."""
        self._made += 1
        path = self._folder / f"clouds-{self._made}.yaml"
        mine = {"username": "test-member", "password": self.password, "project_name": "test-onboarding"}
        cloud = {"auth": self._auth | mine, "region_name": "RegionOne", "identity_api_version": 3}
        path.write_text(yaml.safe_dump({"clouds": {"member": cloud}}))
        return connect("member", path)

    def set_password(self, password):
        """Give the user another password.

        Keystone revokes what was issued until then by times of whole seconds: a token of the same second is refused.
        """
        self._admin.identity.update_user(self.user, password=password)
        self.password = password
        time.sleep(1.1)

    def remove(self):
        """Remove the user, the project and its VIM."""
        tacker = tacker_client(self._admin)
        for vim in tacker.list_vims()["vims"]:
            if vim["vim_project"]["name"] == "test-onboarding":
                tacker.delete_vim(vim["id"])
        self._admin.identity.delete_user(self.user)
        self._admin.identity.delete_project(self.project)


@pytest.fixture(name="member")
def _member(onboarding_cloud, connection, tmp_path):
    member = Member(connection, onboarding_cloud.auth, tmp_path)
    yield member
    member.remove()
