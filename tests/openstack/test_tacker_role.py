"""The role that registers a cloud as Tacker's VIM, against the real Keystone and Tacker of devcloud."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from nfvbed.cloud.devcloud.services.settings import PORTS
from tests.kolla.genconfig import ENVIRONMENT
from tests.openstack.cloud_driver import ROOT, Cloud

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(1800)]
NAME = "nfvbed-role"
TIMEOUT_S = 300


class Play:
    """Runs the role for this machine; the password is in a file that its owner alone reads, as Kolla's is."""

    def __init__(self, cloud: Cloud, folder: Path) -> None:
        self.cloud, self.folder = cloud, folder
        self.secrets = folder / "passwords.yml"
        self.secrets.touch(mode=0o600)
        self.secrets.write_text(yaml.safe_dump({"keystone_admin_password": cloud.auth["password"]}))

    def run(self, action: str, password_file: bool = True) -> tuple[int, str]:
        """Run one action of the role; return the exit status and all that Ansible prints."""
        task = {"ansible.builtin.include_role": {"name": "nfvbed_tacker", "tasks_from": action}, "name": "Run it"}
        play = [{"name": "Run", "hosts": "localhost", "gather_facts": False, "tasks": [task]}]
        (self.folder / "play.yml").write_text(json.dumps(play))
        variables = {
            "nfvbed_tacker_vim": NAME,
            "nfvbed_tacker_address": "127.0.0.1",
            "nfvbed_tacker_identity": f"http://127.0.0.1:{PORTS['keystone']}",
            "nfvbed_tacker_endpoint": f"http://127.0.0.1:{PORTS['tacker']}",
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
        }
        argv = [str(ENVIRONMENT / "bin/ansible-playbook"), "-vvv", "-i", "localhost,", "-e", json.dumps(variables)]
        done = subprocess.run(
            [*argv, *(["-e", f"@{self.secrets}"] if password_file else []), str(self.folder / "play.yml")],
            env={
                "PATH": f"{ENVIRONMENT / 'bin'}:{os.environ['PATH']}",
                "HOME": str(self.folder),
                "LANG": "C.UTF-8",
                "ANSIBLE_ROLES_PATH": str(ROOT / "deploy" / "roles"),
                "ANSIBLE_NOCOLOR": "1",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert self.cloud.auth["password"] not in done.stdout
        return done.returncode, done.stdout

    def vims(self) -> list[str]:
        """Return the names of Tacker's VIMs."""
        return sorted(vim["name"] for vim in self.cloud.api.get("tacker", "/v1.0/vims")["vims"])


def test_the_cloud_is_registered_once_and_taken_back(onboarding_cloud, tmp_path):
    play = Play(onboarding_cloud, tmp_path)
    before = play.vims()
    status, said = play.run("main", password_file=False)
    assert status != 0 and "give Ansible Kolla's files" in said and play.vims() == before

    for changed in (1, 0):
        status, said = play.run("main")
        assert status == 0 and f"changed={changed} " in said, said
        assert play.vims() == sorted([*before, NAME])

    for changed in (1, 0):
        status, said = play.run("undo")
        assert status == 0 and f"changed={changed} " in said, said
        assert play.vims() == before
