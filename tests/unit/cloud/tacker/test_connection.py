"""Clients from a clouds.yaml; their errors become ours, without passwords."""

import logging

import pytest
import yaml
from keystoneauth1 import exceptions as keystone
from openstack import exceptions as sdk
from tackerclient.common import exceptions as tacker

from nfvbed import patience
from nfvbed.cloud.tacker.connection import (
    REQUEST_S,
    asking,
    auth,
    connect,
    connect_as_named,
    is_missing,
    said,
    tacker_client,
)
from nfvbed.errors import ConfigurationError, OnboardError, UnsupportedError

PASSWORD = "not-for-logs"


@pytest.fixture(name="clouds")
def _clouds(tmp_path):
    login = {"auth_url": "http://127.0.0.1:1/v3", "username": "u", "password": PASSWORD, "project_name": "p"}
    login |= {"user_domain_name": "Default", "project_domain_name": "Default"}
    path = tmp_path / "clouds.yaml"
    path.write_text(yaml.safe_dump({"clouds": {"mine": {"auth": login, "region_name": "R"}}}))
    return path


def test_every_request_has_a_time_out(clouds, monkeypatch):
    monkeypatch.delenv(patience.VARIABLE, raising=False)
    connection = connect("mine", clouds)
    assert connection.session.timeout == REQUEST_S
    client = tacker_client(connection)
    assert client.vnf_lcm_client.httpclient.session is connection.session
    assert auth(connection)["project_name"] == "p"


def test_bodies_of_requests_are_not_logged(clouds):
    connect("mine", clouds)
    assert not logging.getLogger("keystoneauth.session.http.request").isEnabledFor(logging.DEBUG)


def test_no_file_and_no_cloud_are_configuration_errors(clouds, tmp_path):
    with pytest.raises(ConfigurationError, match=r"no clouds\.yaml"):
        connect("mine", tmp_path / "none.yaml")
    with pytest.raises(ConfigurationError) as raised:
        connect("other", clouds)
    assert PASSWORD not in str(raised.value)


LOGIN = f"auth: {{auth_url: 'http://127.0.0.1:9/v3', username: u, password: {PASSWORD}}}"


@pytest.fixture(name="own_file")
def _own_file(tmp_path, monkeypatch):
    path = tmp_path / "own.yaml"
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(path))
    monkeypatch.chdir(tmp_path)
    return path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("clouds: " + "[" * 100, "it nests too deeply"),
        ("a: &a [x]\nb: [" + "*a, " * 101 + "]", "100 are read"),
        ("clouds:", "cannot be read"),
        ("clouds: text", "cannot be read"),
        ("- a", "cannot be read"),
        ("clouds: [", "own.yaml is no valid YAML"),
        ("clouds: {1: {}}", "unknown cloud"),
        ("clouds: {main: }", "clouds.main"),
        ("clouds: {main: []}", "clouds.main"),
        ("clouds: {main: {auth: text}}", "clouds.main.auth"),
        ("clouds: {main: {auth: {auth_url: []}}}", "cannot be used"),
        ("clouds: {main: {auth: {auth_url: 3}}}", "cannot be used"),
        ("clouds: {main: {auth_type: 3, auth: {}}}", "clouds.main.auth_type"),
        ("clouds: {main: {auth_type: nosuch, auth: {}}}", "nosuch"),
        ("clouds: {main: {regions: text}}", "clouds.main.regions"),
        ("clouds: {main: {regions: 3}}", "clouds.main.regions"),
        ("clouds: {main: {regions: [{values: {}}]}}", "clouds.main.regions"),
        (f"clouds: {{main: {{networks: text, {LOGIN}}}}}", "cannot be used"),
        (f"clouds: {{main: {{{LOGIN[:-1]}, verify: false}}}}}}", "auth has the key verify"),
        (f"clouds: {{main: {{regions: [a, {{name: b}}], {LOGIN}}}}}", "several regions"),
    ],
)
def test_every_fault_of_the_users_file_is_a_configuration_error(own_file, text, says):
    own_file.write_text(text)
    with pytest.raises(ConfigurationError) as raised:
        connect_as_named("main", None)
    assert says in str(raised.value) and PASSWORD not in str(raised.value)
    assert raised.value.fix


def test_a_region_is_taken_where_one_is_chosen_or_there_is_one(own_file):
    own_file.write_text(f"clouds: {{main: {{regions: [a, b], {LOGIN}}}, one: {{regions: [a], {LOGIN}}}}}")
    assert connect_as_named("main", "b").config.get_region_name() == "b"
    assert connect_as_named("one", None).config.get_region_name() == "a"


def test_a_refusal_names_the_role():
    with pytest.raises(UnsupportedError) as raised, asking("flavor x", "the role `admin`"):
        raise sdk.ForbiddenException("Policy doesn't allow it", http_status=403)
    assert raised.value.what == "flavor x: refused to these credentials"
    assert raised.value.fix == "the role `admin`"


def test_errors_of_all_clients_become_ours_without_what_is_hidden():
    failures = (
        tacker.TackerClientException(status_code=400, message=f"no {PASSWORD}"),
        keystone.ConnectFailure(f"no {PASSWORD}"),
        sdk.SDKException(f"no {PASSWORD}"),
    )
    for failure in failures:
        with pytest.raises(OnboardError) as raised, asking("x", hidden=(PASSWORD,)):
            raise failure
        assert PASSWORD not in str(raised.value)
        assert "***" in raised.value.observed
        assert raised.value.__cause__ is None


def test_tackers_stack_traces_are_left_out():
    text = "wrong type File /usr/lib/python3/x.py, line 7, in main"
    assert said(tacker.TackerClientException(status_code=400, message=text)) == "status 400: wrong type"


def test_what_is_missing_is_known():
    assert is_missing(tacker.TackerClientException(status_code=404, message="gone"))
    assert is_missing(sdk.NotFoundException("gone"))
    assert not is_missing(tacker.TackerClientException(status_code=500, message="gone"))
