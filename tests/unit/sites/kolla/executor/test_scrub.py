"""Secrets in all forms in which Ansible shows them."""

import base64
import json

import pytest

from nfvbed.errors import ConfigurationError
from nfvbed.sites.kolla.executor.scrub import HIDDEN, Scrubber, secrets_in

SECRET = "w1XNqkP0aVbT2zR8"
KEY = "-----BEGIN PRIVATE KEY-----\nMIIJQgIBADANBgkqhkiG\n9w0BAQEFAASCCSwwggko\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        f"mysql://root:{SECRET}@10.10.0.250",
        json.dumps({"msg": f"it is {SECRET}"}),
        base64.b64encode(SECRET.encode()).decode(),
    ],
)
def test_a_secret_is_hidden(text):
    hidden = Scrubber([SECRET])(text)
    assert HIDDEN in hidden and SECRET not in hidden and text not in hidden


def test_lines_of_a_key_are_hidden_one_by_one_and_in_json():
    scrub = Scrubber([KEY])
    assert scrub("MIIJQgIBADANBgkqhkiG") == HIDDEN
    assert "9w0BAQ" not in scrub(json.dumps(KEY))


def test_an_identifier_is_hidden_also_where_it_is_folded():
    assert "b8e3" not in Scrubber(["5f1d04c1-b8e3-4c5e"])("[WARNING]: 5f1d04c1-\nb8e3-4c5e is")


def test_short_ones_are_hidden_as_words():
    scrub = Scrubber(["admin"])
    assert scrub("user admin:admin") == f"user {HIDDEN}:{HIDDEN}"
    assert scrub("administrator") == "administrator"


def test_the_longer_of_two_is_hidden_first():
    assert Scrubber(["abcdefgh", "abcdefghij"])("abcdefghij") == HIDDEN


def test_without_secrets_a_text_is_as_it_was():
    assert Scrubber()("text") == Scrubber(["", " "])("text") == "text"


def test_all_values_of_a_file_are_secrets(tmp_path):
    path = tmp_path / "passwords.yml"
    path.write_text("a: one\nb:\n  private_key: two\n  public_key: three\nc:\nd: 12345\ne: [six]\n")
    assert secrets_in(path.read_text(), path) == ("one", "two", "three", "12345", "six")


@pytest.mark.parametrize("text", ["a: [unclosed secret", "- one\n"])
def test_a_damaged_file_is_not_shown(tmp_path, text):
    path = tmp_path / "passwords.yml"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as error:
        secrets_in(path.read_text(), path)
    assert "secret" not in str(error.value).replace("secrets", "")
