"""Users of a real cloud sign in to the dashboard: Keystone decides who comes in, and roles what they may."""

import secrets

import pytest

from nfvbed.dashboard.access.keystone import Keystone, KeystoneSpec
from nfvbed.dashboard.people.roles import Role

pytestmark = [pytest.mark.timeout(300), pytest.mark.on_demand]
PROJECT = "test-dashboard"
ROLES = {"test-operator": "admin", "test-viewer": "reader", "test-stranger": ""}


@pytest.fixture(name="users")
def _users(connection):
    """Passwords of users by name, each with its role in the project."""
    identity = connection.identity
    project = identity.create_project(name=PROJECT)
    made, passwords = [], {}
    try:
        for name, role in ROLES.items():
            passwords[name] = secrets.token_hex(8)
            made.append(identity.create_user(name=name, password=passwords[name], domain_id="default"))
            if role:
                identity.assign_project_role_to_user(project, made[-1], identity.find_role(role))
        yield passwords
    finally:
        for user in made:
            identity.delete_user(user)
        identity.delete_project(project)


def test_roles_in_a_real_project_decide(onboarding_cloud, connection, users):
    url = f"{onboarding_cloud.auth['auth_url'].rstrip('/').removesuffix('/v3')}/v3"
    keystone = Keystone(KeystoneSpec(url, PROJECT))
    operator = keystone.sign_in("test-operator", users["test-operator"])
    viewer = keystone.sign_in("test-viewer@Default", users["test-viewer"])
    assert operator is not None and operator.role is Role.OPERATOR
    assert viewer is not None and viewer.role is Role.VIEWER and viewer.user == "test-viewer@Default"
    assert keystone.sign_in("test-stranger", users["test-stranger"]) is None
    assert keystone.sign_in("test-viewer", "another") is None
    assert keystone.sign_in("test-viewer@Nowhere", users["test-viewer"]) is None
    assert Keystone(KeystoneSpec(url, "nowhere")).sign_in("test-operator", users["test-operator"]) is None
    named = KeystoneSpec(url, PROJECT, operator_role="reader")
    found = Keystone(named).sign_in("test-viewer", users["test-viewer"])
    assert found is not None and found.role is Role.OPERATOR
    connection.identity.update_user(connection.identity.find_user("test-viewer"), is_enabled=False)
    assert keystone.sign_in("test-viewer", users["test-viewer"]) is None
