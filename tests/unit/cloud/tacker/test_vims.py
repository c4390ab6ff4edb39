"""The VIM of a project: registered once, also where Tacker does not list it to the user who registered it."""

from types import SimpleNamespace

import pytest
from tackerclient.common import exceptions

from nfvbed.cloud.tacker import vims
from nfvbed.cloud.tacker.journal import Journal, Note
from nfvbed.errors import OnboardError

OWN = "74e9bc3f-66a6-477c-8ea3-229d6e8afba0"
NOTE = Note("name", "x", "demo", "a", "here")
LOGIN = {"auth_url": "http://keystone/v3", "username": "u", "password": "not-for-logs", "project_name": "p"}
CONNECTION = SimpleNamespace(config=SimpleNamespace(config={"auth": LOGIN}, verify=True))


def tacker(answer):
    """Return a Tacker that lists no VIM and refuses to register one."""

    def refuse(body):
        raise exceptions.TackerClientException(status_code=500, message=answer)

    return SimpleNamespace(list_vims=lambda: {"vims": []}, create_vim=refuse)


def test_one_that_is_not_listed_is_known_by_the_refusal(tmp_path):
    journal = Journal(tmp_path / "journal")
    found = vims.find_or_register(CONNECTION, tacker(f"Default VIM already exists {OWN}."), NOTE, journal)
    assert found == OWN


def test_any_other_refusal_is_an_error_without_the_password(tmp_path):
    with pytest.raises(OnboardError) as raised:
        vims.find_or_register(CONNECTION, tacker("no not-for-logs"), NOTE, Journal(tmp_path / "journal"))
    assert "not-for-logs" not in str(raised.value)
