"""What an interrupted `kolla-ansible destroy` leaves is removed: the real Ansible, with a double of the engine."""

import os
import subprocess
from pathlib import Path

from tests.kolla.genconfig import ENVIRONMENT

PLAYBOOK = Path(__file__).resolve().parents[2] / "deploy/playbooks/left-volumes.yml"
ENGINE = """#!/bin/sh
case "$1 $2" in
"volume ls") [ "$*" = "volume ls --quiet --filter label=kolla_managed=true" ] && cat "$VOLUMES" ;;
"volume rm") shift 2; for name in "$@"; do sed -i "/^$name\\$/d" "$VOLUMES"; done ;;
*) exit 9 ;;
esac
"""
"""With the label of kolla-ansible 22.2 (`module_utils/kolla_docker_worker.py`)."""


def play(folder: Path, *variables: str) -> str:
    """Run the playbook for this machine, and return what it printed."""
    inventory = folder / "inventory"
    inventory.write_text("[control]\nhere ansible_connection=local\n[network]\n[compute]\n")
    done = subprocess.run(
        [ENVIRONMENT / "bin/ansible-playbook", "-i", inventory, *variables, PLAYBOOK],
        env={
            "PATH": f"{folder}:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "VOLUMES": str(folder / "volumes"),
            "ANSIBLE_HOME": str(folder / "ansible"),
            "ANSIBLE_PYTHON_INTERPRETER": str(ENVIRONMENT / "bin/python"),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_volumes_that_are_left_are_removed_once(tmp_path):
    engine, volumes = tmp_path / "podman", tmp_path / "volumes"
    engine.write_text(ENGINE)
    engine.chmod(0o755)
    volumes.write_text("mariadb\nkolla_logs\n")
    assert os.getuid() == 0, "it becomes root"
    assert "changed=1" in play(tmp_path, "-e", "kolla_container_engine=podman")
    assert volumes.read_text() == ""
    assert "changed=0" in play(tmp_path, "-e", "kolla_container_engine=podman")
