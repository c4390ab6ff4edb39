"""What OpenSSH's client said, captured from OpenSSH 9.2, and the error that it becomes."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from nfvbed.host.remote.connection import SshHost
from nfvbed.host.remote.failures import ConnectionLost, HostRefused, refused
from nfvbed.spec.remote import GeneratorHostSpec, RemoteHostSpec

SPEC = RemoteHostSpec(address="gen1", port=2222, key=Path("/keys/id"), known_hosts=Path("/keys/known"))
CHANGED = """@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
Host key for [gen1]:2222 has changed and you have requested strict checking.
Host key verification failed.
"""
UNKNOWN = """No ED25519 host key is known for [gen1]:2222 and you have requested strict checking.
Host key verification failed.
"""
OPEN_KEY = """Permissions 0644 for '/keys/id' are too open.
This private key will be ignored.
Load key "/keys/id": bad permissions
root@gen1: Permission denied (publickey).
"""


@pytest.mark.parametrize(
    ("said", "what", "fix", "kind"),
    [
        (CHANGED, "another key", "ssh-keygen -f /keys/known -R", HostRefused),
        (UNKNOWN, "not known", "ssh-keyscan -p 2222 gen1", HostRefused),
        (OPEN_KEY, "read by others", "chmod 600 /keys/id", HostRefused),
        ('Load key "/keys/id": error in libcrypto\nPermission denied', "cannot be used", "ssh-agent", HostRefused),
        ("root@gen1: Permission denied (publickey).", "let nfvbed in", "authorized_keys", HostRefused),
        ("ssh: Could not resolve hostname gen1: Name or service not known", "name", "'gen1'", HostRefused),
        ("ssh: connect to host gen1 port 2222: Connection refused", "nothing answers", "sshd runs", ConnectionLost),
        ("ssh: connect to host gen1 port 2222: No route to host", "cannot be reached", "firewall", ConnectionLost),
        ("ssh: connect to host gen1 port 2222: Connection timed out", "cannot be reached", "2222", ConnectionLost),
        ("Timeout, server gen1 not responding.", "was lost", "is up", ConnectionLost),
        ("client_loop: send disconnect: Broken pipe", "was lost", "is up", ConnectionLost),
        ("", "was lost", "is up", ConnectionLost),
    ],
)
def test_what_ssh_says_becomes_an_error_with_the_host_and_the_next_step(said: str, what: str, fix: str, kind: type):
    error = refused(SPEC, said, "uname -r")
    assert type(error) is kind
    assert what in error.what and fix in error.fix
    assert error.where == "root@gen1, port 2222; uname -r"
    assert error.exit_code == 12
    assert "@@@" not in str(error)


@pytest.mark.parametrize(
    "wrong",
    [
        {"address": "-oProxyCommand=id"},
        {"address": "a b"},
        {"user": "-x"},
        {"port": 0},
        {"password": "x"},
        {"directory": "tmp"},
        {"lease_s": 1},
    ],
)
def test_a_host_that_no_file_may_describe(wrong: dict[str, object]):
    with pytest.raises(ValidationError):
        RemoteHostSpec.model_validate(SPEC.model_dump() | wrong)


def test_the_engine_is_that_of_the_ports():
    more = {"nfvgen": "/opt/nfvgen", "core": 2}
    kernel = [{"device": "eth1"}, {"device": "eth2", "netns": "gen"}]
    with pytest.raises(ValidationError, match="one generator"):
        GeneratorHostSpec.model_validate(SPEC.model_dump() | more | {"ports": kernel})
    on = {"ports": [{"pci": "0000:03:00.0"}, {"pci": "0000:03:00.1"}]}
    assert GeneratorHostSpec.model_validate(SPEC.model_dump() | more | on).engine == "dpdk"
    on = {"ports": [{"device": "eth1"}, {"device": "eth2"}]}
    assert GeneratorHostSpec.model_validate(SPEC.model_dump() | more | on).engine == "xdp"


def test_files_that_are_missing_are_named_before_anything_is_started():
    with pytest.raises(Exception, match="cannot be read") as caught:
        SshHost(SPEC, Path("/run")).connect()
    assert "/keys/id" in str(caught.value)


def test_a_folder_too_deep_for_the_connections_socket_is_named(tmp_path: Path):
    with pytest.raises(Exception, match="too long"):
        SshHost(SPEC, tmp_path / ("x" * 100))


def test_host_keys_are_checked_and_nothing_is_asked_whatever_the_file_says():
    argv = SshHost(SPEC, Path("/run"))._argv("id")
    given = [argv[place + 1] for place, word in enumerate(argv) if word == "-o"]
    for option in (
        "StrictHostKeyChecking=yes",
        'UserKnownHostsFile="/keys/known"',
        "GlobalKnownHostsFile=none",
        "BatchMode=yes",
        "UpdateHostKeys=no",
        "PreferredAuthentications=publickey",
        "IdentitiesOnly=yes",
        "ForwardAgent=no",
    ):
        assert option in given
    assert argv[:3] == ["ssh", "-F", "none"]
    assert argv[-3:] == ["--", "gen1", "id"]
