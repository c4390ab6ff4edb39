"""Commands, files and kept programs on another host: a network namespace with an sshd of its own. As root."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nfvbed.errors import DeployError, PrerequisiteError
from nfvbed.host.ledger.processes import is_alive, start_time
from nfvbed.host.remote.failures import ConnectionLost, HostRefused
from nfvbed.host.remote.remoteprogram import RemoteProgram
from tests.functional.disturbed import PATIENCE_S, wait_until
from tests.functional.ssh_host import HERE, THERE, WITHOUT_RIGHTS
from tests.unit.host.remote.test_remote_line import WORDS

pytestmark = pytest.mark.no_hugepages

KILLED = """
import json, sys, time
from pathlib import Path
from nfvbed.host.remote.connection import SshHost
from nfvbed.host.remote.remoteprogram import RemoteProgram
from nfvbed.spec.remote import RemoteHostSpec
host = SshHost(RemoteHostSpec.model_validate(json.loads(sys.argv[1])), Path(sys.argv[2]))
kept = RemoteProgram(host)
kept.start(["sleep", "4711"])
attached = kept.attach()
print(kept.pid, host.master_pid, kept.directory, flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module", name="host")
def _host(far):
    with far.host() as connected:
        yield connected


def test_every_word_arrives_as_it_is(host):
    done = host.run(["printf", "%s\\0", *WORDS])
    assert done.text.split("\0")[:-1] == WORDS


def test_commands_share_one_connection_and_run_on_the_other_host(far, host):
    for _ in range(3):
        assert "control" in host.run(["ip", "-o", "link"]).text
    assert (far.folder / "sshd.log").read_text().count("Accepted publickey") >= 1
    connection = host.run(["sh", "-c", "echo $SSH_CONNECTION"]).text
    assert connection.startswith(HERE)
    assert host.run(["sh", "-c", "echo $SSH_CONNECTION"]).text == connection, "the same port: the same connection"


def test_status_output_and_input(host):
    done = host.run(["sh", "-c", "cat; echo no >&2; exit 3"], data=b"\0\xff in", check=False)
    assert (done.status, done.out, done.said) == (3, b"\0\xff in", "no\n")
    with pytest.raises(DeployError, match="sh failed on another host") as caught:
        host.run(["sh", "-c", "echo why >&2; exit 3"])
    assert "exit status 3: why" in caught.value.observed
    assert f"root@{THERE}, port 2222; sh -c" in caught.value.where


def test_an_account_that_sudo_refuses(far):
    with far.host(user=WITHOUT_RIGHTS) as host:
        assert host.run(["id", "-un"]).text.strip() == WITHOUT_RIGHTS
        done = host.run(["sudo", "-n", "true"], check=False)
        # Beside it some say that the name of the host is known nowhere.
        assert done.status == 1 and done.said.endswith("sudo: a password is required\n"), done.said


def test_a_program_that_is_not_there(host):
    with pytest.raises(PrerequisiteError, match="/opt/nfvgen cannot be run on another host") as caught:
        host.run(["/opt/nfvgen", "--version"])
    assert "No such file or directory" in caught.value.observed
    with pytest.raises(PrerequisiteError, match="/etc/passwd cannot be run"):
        host.run(["/etc/passwd"])


def test_a_command_that_takes_too_long_is_ended_there(far, host):
    with pytest.raises(DeployError, match=r"sleep did not end within 0\.3 s"):
        host.run(["sleep", "4712"], timeout_s=0.3)
    assert not far.processes("4712")


def test_files_go_there_and_back(far, host, tmp_path):
    content = os.urandom(3_000_000)
    source, back = tmp_path / "here", tmp_path / "back"
    source.write_bytes(content)
    target = f"{far.folder}/it's a $(file)\n"
    host.put(source, target, 0o640)
    host.get(target, back)
    assert back.read_bytes() == content
    assert Path(target).stat().st_mode & 0o777 == 0o640
    with pytest.raises(DeployError, match="failed on another host"):
        host.put(source, f"{far.folder}/no/such/folder")
    with pytest.raises(DeployError, match="failed on another host"):
        host.get(f"{far.folder}/nothing", back)
    assert not [path for path in (*far.folder.iterdir(), *tmp_path.iterdir()) if path.name.endswith(".part")]


@pytest.mark.parametrize(
    ("changes", "error", "what", "observed"),
    [
        ({"known_hosts": "nobody"}, HostRefused, "key of a host is not known", "No ED25519 host key is known"),
        ({"known_hosts": "other"}, HostRefused, "another key than the one", "verification failed"),
        ({"key": "stranger"}, HostRefused, "does not let nfvbed in", "Permission denied"),
        ({"key": "open"}, HostRefused, "can be read by others", "bad permissions"),
        ({"port": 2223}, ConnectionLost, "nothing answers for SSH", "Connection refused"),
        ({"address": "no-such-host.invalid"}, HostRefused, "name of a host is not known", "resolve"),
    ],
)
def test_a_host_that_cannot_be_used_is_refused_with_the_reason(far, changes, error, what, observed):
    folder = far.folder
    (folder / "nobody").write_text("")
    (folder / "other").write_text(far.known("stranger"))
    (folder / "open").write_text((folder / "key").read_text())
    (folder / "open").chmod(0o644)
    given = {key: str(folder / value) if key in ("known_hosts", "key") else value for key, value in changes.items()}
    before = {path: path.read_text() for path in folder.glob("*") if path.name in ("nobody", "other", "known_hosts")}
    host = far.host(**given)
    with pytest.raises(error, match=what) as caught:
        host.run(["id"])
    assert observed in caught.value.observed
    assert caught.value.fix and caught.value.where
    assert not host.connected
    assert before == {path: path.read_text() for path in before}, "no key was added"


def test_an_unreachable_host(far):
    host = far.host(connect_timeout_s=1)
    far.link("down")
    try:
        with pytest.raises(ConnectionLost, match="cannot be reached"):
            host.connect()
    finally:
        far.link("up")


def test_a_shell_that_says_something_by_itself_is_refused(far):
    noisy = far.folder / "authorized"
    before = noisy.read_text()
    noisy.write_text(f'command="echo hello; eval \\"$SSH_ORIGINAL_COMMAND\\"" {before}')
    try:
        with pytest.raises(HostRefused, match="does not take quoted words") as caught:
            far.host().connect()
    finally:
        noisy.write_text(before)
    assert "hello" in caught.value.observed


def test_a_lost_connection_is_named_and_made_again(far, host):
    os.kill(host.master_pid, signal.SIGKILL)
    assert wait_until(lambda: not host.connected)
    assert host.run(["echo", "again"]).text == "again\n"
    process = subprocess.Popen(["sh", "-c", f"sleep 0.5; kill -9 {host.master_pid}"])
    with pytest.raises(ConnectionLost) as caught:
        host.run(["sleep", "3"])
    process.wait(PATIENCE_S)
    assert "sleep 3" in caught.value.where
    # The host itself ends what is not waited for any more.
    assert host.run(["echo", "again"]).text == "again\n"


def test_what_a_killed_nfvbed_left_ends_by_itself(far):
    argv = [sys.executable, "-c", KILLED, json.dumps(far.keys() | {"lease_s": 2}), str(far.folder)]
    nfvbed = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).resolve().parents[2])
    pid, master, directory = nfvbed.stdout.readline().split()
    begun = start_time(int(master))
    time.sleep(2.5)
    assert int(pid) in far.processes("4711"), "signs of life keep it beyond its lease"
    nfvbed.kill()
    nfvbed.wait(PATIENCE_S)
    assert wait_until(lambda: not far.processes("4711"))
    assert wait_until(lambda: not Path(directory).exists())
    assert wait_until(lambda: not is_alive(int(master), begun)), "its connection has ended with it"


def test_a_program_is_kept_over_a_lost_connection_and_ended_for_certain(far, host):
    kept = RemoteProgram(host)
    kept.start(["sh", "-c", "echo begun; exec sleep 4713"])
    first = kept.attach()
    host.disconnect()
    assert first.socket.recv(1) == b"", "it is lost"
    first.close()
    assert kept.pid in far.processes("4713")
    with_another = kept.attach()
    assert kept.alive()
    assert kept.log_tail() == "begun\n"
    with_another.close()
    kept.stop()
    kept.stop()
    assert not far.processes("4713") and not kept.alive()
    assert not Path(kept.directory).exists()
