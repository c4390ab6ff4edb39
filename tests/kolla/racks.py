"""A rack whose machines are one network namespace with an sshd, and a project that deploys on it with small playbooks.

All machines of the example rack are led to the one sshd by a file for OpenSSH: names, addresses and variables are
theirs, the files are this machine's, so that playbooks here change nothing but what is in the test's own folder.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from nfvbed.cloud.devcloud.places import write_private
from nfvbed.sites.kolla.executor.places import RackPlaces
from tests.functional.ssh_host import THERE, HostOfItsOwn

ROOT = Path(__file__).resolve().parents[2]
SHARED = ("deploy/variants", "deploy/roles", "flavors", "kolla", "vnfd", "tosca", "vsperf-conf", "images", "native")
DRIVER = Path(__file__).parent / "rack_driver.py"
FACTS = "  gather_facts: false\n"


class TestRack:
    """A project of its own, with the example rack in it.

    Args:
        folder: for the project.
        host: what answers for all machines.
        passwords: that Kolla's generator has made, which takes its time; empty: it makes them here.
    """

    __test__ = False

    def __init__(self, folder: Path, host: HostOfItsOwn, passwords: str = "") -> None:
        self.folder = folder / "project"
        self.host = host
        self.seen = folder / "seen"
        """Where playbooks leave what they did."""
        self.seen.mkdir()
        for name in SHARED:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).symlink_to(ROOT / name)
        (self.folder / "deploy" / "sites").mkdir()
        (self.folder / ".nfvbed").mkdir()
        (self.folder / ".nfvbed" / "kolla").symlink_to((ROOT / ".nfvbed" / "kolla").resolve())
        self.places = RackPlaces.of(self.folder, "rack")
        self.write_site()
        if passwords:
            self.places.make()
            write_private(self.places.passwords, passwords)

    def write_site(self, vault: Path | None = None, **ssh: object) -> None:
        """Write the site's file; machines are reached as said, else as they are.

        Args:
            vault: file with the password of the vault; None: passwords are not encrypted.
        """
        config = self.folder / "ssh_config"
        config.write_text(f"Host 10.10.0.*\n  HostName {THERE}\n")
        keys = self.host.keys()
        access = {name: keys[name] for name in ("key", "known_hosts", "port", "connect_timeout_s", "keepalive_s")}
        site = yaml.safe_load((ROOT / "deploy/sites/rack.yml").read_text())
        site["ssh"] = {"user": "root", "ssh_config": str(config), **access, **ssh}
        if vault is not None:
            site["vault_password_file"] = str(vault)
        (self.folder / "deploy/sites/rack.yml").write_text(yaml.safe_dump(site))

    def playbook(self, name: str, *tasks: str, hosts: str = "compute", head: str = FACTS) -> str:
        """Write a playbook of one play, and return its stage's name."""
        text = "\n".join(f"    - {task}" for task in tasks)
        folder = self.folder / "deploy" / "playbooks"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.yml").write_text(f"- name: Play of {name}\n  hosts: {hosts}\n{head}  tasks:\n{text}\n")
        return name

    def leaves(self, name: str) -> str:
        """Return a task that leaves a line for each machine each time that it runs."""
        return (
            f"{{name: Leave a line, ansible.builtin.shell: 'echo {{{{ inventory_hostname }}}} >> {self.seen / name}'}}"
        )

    def left(self, name: str) -> list[str]:
        """Return these lines."""
        path = self.seen / name
        return sorted(path.read_text().split()) if path.exists() else []

    def argv(self, verb: str, stages: Sequence[str], *words: str) -> list[str]:
        """Return the command line of the driver."""
        return [sys.executable, str(DRIVER), str(self.folder), verb, ",".join(stages), *words]

    def run(self, verb: str, stages: Sequence[str], *words: str, timeout_s: float = 120.0) -> "Ran":
        """Run it to its end."""
        done = subprocess.run(
            self.argv(verb, stages, *words),
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
        )
        return Ran(done.returncode, done.stdout + done.stderr)

    def deploy(self, *stages: str, inventory: Path | None = None) -> "Ran":
        """Deploy with these stages."""
        return self.run("deploy", stages, *(("--inventory", str(inventory)) if inventory else ()))

    def journal(self) -> dict:
        """Return what was written down."""
        return json.loads(self.places.journal.read_text())

    def outcomes(self) -> dict[str, str]:
        """Return the outcome of each stage."""
        return {name: one["outcome"] for name, one in self.journal()["stages"].items()}

    def secret(self) -> str:
        """Return one of the passwords."""
        return str(yaml.safe_load(self.places.passwords.read_text())["keystone_admin_password"])

    def kept(self) -> str:
        """Return all that is kept for the rack, but for what has the secrets."""
        paths = [path for path in self.places.directory.rglob("*") if path.is_file()]
        return "\n".join(path.read_text(errors="replace") for path in paths if path != self.places.passwords)


class Ran:
    """How a command ended, and what it said."""

    def __init__(self, code: int, said: str) -> None:
        self.code = code
        self.said = said

    def part(self, label: str) -> str:
        """Return a part of the error's message: `where`, `observed`, `fix`."""
        found = re.search(rf"^  {label}: (.*?)(?=^  (?:where|observed|fix): |\Z)", self.said, re.MULTILINE | re.DOTALL)
        assert found, self.said
        return found[1]
