"""The role nfvbed_tacker with the real Ansible, against a double of Keystone and Tacker on this machine's loopback."""

import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.kolla.genconfig import ENVIRONMENT

ROOT = Path(__file__).resolve().parents[2]
PASSWORD, TOKEN = "Xw8-not-to-be-shown", "gAAAA-token-not-to-be-shown"
REFUSED = "Unable to open key file /etc/tacker/vim/fernet_keys for VIM"
PLAYBOOK = """\
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Run the role
      ansible.builtin.import_role: {name: nfvbed_tacker, tasks_from: TASKS}
"""


class Cloud(ThreadingHTTPServer):
    """Keystone and Tacker at one port."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answering)
        self.vims, self.refuses, self.rejects = [], False, False


class Answering(BaseHTTPRequestHandler):
    """Answers as API references of Keystone and Tacker say."""

    server: Cloud

    def log_message(self, *_):
        """Not looked at."""

    def answer(self, status, document=None, headers=()):
        content = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(content))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def asked(self):
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")

    def do_POST(self):  # the name that the library calls
        document = self.asked()
        if self.path.endswith("/tokens"):
            if self.server.rejects:
                said = {"error": {"code": 401, "message": "The request you have made requires authentication."}}
                return self.answer(401, said)
            return self.answer(201, {"token": {}}, (("X-Subject-Token", TOKEN),))
        if self.server.refuses:
            password = document["vim"]["auth_cred"]["password"]
            return self.answer(500, {"message": f"{REFUSED} {password} {self.headers['X-Auth-Token']}"})
        self.server.vims.append({"id": "1", "is_default": True, **document["vim"]})
        return self.answer(201, document)

    def do_GET(self):  # the name that the library calls
        self.answer(200, {"vims": self.server.vims})

    def do_DELETE(self):  # the name that the library calls
        if self.server.refuses:
            return self.answer(409, {"message": "VIM is in use"})
        self.server.vims = [vim for vim in self.server.vims if vim["id"] != self.path.rpartition("/")[2]]
        return self.answer(204)


@pytest.fixture(name="cloud")
def _cloud():
    server = Cloud()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def run(folder, cloud, tasks="main"):
    """Run the role, and return its exit status and all that Ansible printed."""
    assert (ENVIRONMENT / "bin/ansible-playbook").is_file(), "kolla-ansible is not there: run setup/kolla"
    address = f"http://127.0.0.1:{cloud.server_address[1]}"
    variables = {"nfvbed_tacker_identity": address, "nfvbed_tacker_endpoint": address, "nfvbed_tacker_vim": "rack"}
    variables |= {"keystone_admin_password": PASSWORD, "kolla_internal_vip_address": "127.0.0.1"}
    (folder / "vars.json").write_text(json.dumps(variables))
    (folder / "play.yml").write_text(PLAYBOOK.replace("TASKS", tasks))
    done = subprocess.run(
        [ENVIRONMENT / "bin/ansible-playbook", "-vvv", "-e", f"@{folder / 'vars.json'}", folder / "play.yml"],
        env={
            "PATH": f"{ENVIRONMENT / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "ANSIBLE_ROLES_PATH": str(ROOT / "deploy" / "roles"),
            "ANSIBLE_LOCALHOST_WARNING": "False",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert PASSWORD not in done.stdout and TOKEN not in done.stdout
    return done.returncode, done.stdout


def test_a_vim_is_registered_once_and_removed(tmp_path, cloud):
    for _ in range(2):
        status, said = run(tmp_path, cloud)
        assert status == 0, said
        assert [vim["name"] for vim in cloud.vims] == ["rack"]
    status, said = run(tmp_path, cloud, "undo")
    assert status == 0 and cloud.vims == [], said


def test_tacker_s_own_words_are_shown_without_secrets(tmp_path, cloud):
    cloud.refuses = True
    status, said = run(tmp_path, cloud)
    assert status == 2 and REFUSED in said and "Status code was 500" in said, said
    assert "/v1.0/vims" in said and "********" in said


def test_keystone_s_own_words_and_those_of_a_removal(tmp_path, cloud):
    cloud.rejects = True
    status, said = run(tmp_path, cloud)
    assert status == 2 and "requires authentication" in said, said
    cloud.rejects, cloud.refuses = False, True
    cloud.vims = [{"id": "1", "name": "rack", "description": "made by nfvbed", "is_default": True}]
    status, said = run(tmp_path, cloud, "undo")
    assert status == 2 and "VIM is in use" in said, said
