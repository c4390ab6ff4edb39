"""Runs the real `kolla-ansible genconfig` over what nfvbed renders, for machines that are not here.

Two programs of Kolla's are doubles (tests/kolla/doubles): its module that asks services in containers, and the one
that would bind this machine's NICs to DPDK. Facts of the machines come from a cache, every connection is local, and
services' files go to a folder: nothing of this machine is changed.
"""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.sites.kolla import inventory, output
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.kolla.render import order_pinned, render
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.pins import PinnedComputeSpec
from nfvbed.spec.site import KollaSiteSpec
from tests.kolla.machines import write_facts

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".nfvbed" / "kolla"
SHARE = ENVIRONMENT / "share/kolla-ansible"
DOUBLES = Path(__file__).parent / "doubles"
DATABASE = "switch-database.yml"
ALL_TAGS = "openvswitch,ovs-dpdk,neutron,nova,nova-cell,tacker"
TIMEOUT_S = 900
LOG = "log"
_TASK = re.compile(r"^TASK \[(.+?)\] \*", re.MULTILINE)
_SECTION, _OPTION = re.compile(r"^\[(.+)\]$"), re.compile(r"^([^\s=]+)\s*=\s*(.*)$")
Files = dict[str, str]


@dataclass(frozen=True)
class Case:
    """A variant on a site, with or without what nfvbed puts right."""

    variant: str
    site: str = "rack"
    release: str = NEWEST
    change: Callable[[Files], Files] | None = None
    """What is done to the rendered files before Kolla gets them."""
    tags: str = ALL_TAGS
    """Kolla's tags of the services whose files are made."""
    load_balancer: bool = False
    """Whether files of the load balancer for these services are made as well."""
    database: bool = False
    """Whether it is asked as well what Kolla writes into the machines' databases of Open vSwitch."""
    pins: tuple[str, ...] = ()
    """Variants that the site's computes are pinned to, in order; none: all have the one variant."""

    @property
    def name(self) -> str:
        """Name of its folder."""
        return "-".join((self.release, self.variant, self.site, *self.pins, *(("changed",) if self.change else ())))

    @property
    def place(self) -> KollaSiteSpec:
        """The site, with its computes pinned."""
        site = open_project(ROOT).load_site(self.site)
        pins = zip(site.hosts_with("compute"), self.pins, strict=bool(self.pins))
        return site.model_copy(update={"computes": {host: PinnedComputeSpec(variant=name) for host, name in pins}})


@dataclass(frozen=True)
class Services:
    """Files of services that Kolla made."""

    folder: Path
    seconds: float

    def options(self, host: str, file: str) -> dict[str, dict[str, list[str]]]:
        """Return what an INI file says: section -> option -> values."""
        return read_ini((self.folder / host / file).read_text())

    def one(self, host: str, file: str, option: str) -> str:
        """Return the value of an option (`section/key`) that has one."""
        section, _, key = option.partition("/")
        values = self.options(host, file)[section][key]
        assert len(values) == 1, f"{host} {file} {option}: {values}"
        return values[0]

    def has(self, host: str, service: str) -> bool:
        """Whether a service is on a machine."""
        return (self.folder / host / service).is_dir()

    def written_to_switch(self, host: str) -> dict[str, str]:
        """Return the settings (`external_ids`) that Kolla writes into a machine's database of Open vSwitch."""
        asked = self._asked_of_toolbox(host, "openvswitch_db")
        written = [one for one in asked if one["col"] == "external_ids" and one["state"] == "present"]
        return {one["key"]: str(one["value"]) for one in written}

    def ports_of_switch(self, host: str) -> list[tuple[str, str]]:
        """Return the bridges that Kolla makes on a machine, each with the device that it adds."""
        return [(one["bridge"], one["port"]) for one in self._asked_of_toolbox(host, "openvswitch_port")]

    def _asked_of_toolbox(self, host: str, module: str) -> list[dict[str, Any]]:
        asked = [json.loads(line) for line in (self.folder / host / "toolbox").read_text().splitlines()]
        return [one for one in asked if one["module"] == module]

    def given_to_dpdkctl(self, host: str) -> dict[str, str]:
        """Return the variables that Kolla gives its program for DPDK."""
        lines = (self.folder / host / "ovsdpdk-db" / "given-to-install").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)


def read_ini(text: str) -> dict[str, dict[str, list[str]]]:
    """Read an INI file whose options may be given several times."""
    found: dict[str, dict[str, list[str]]] = {}
    section: dict[str, list[str]] = {}
    for line in text.splitlines():
        if match := _SECTION.match(line):
            section = found.setdefault(match[1], {})
        elif match := _OPTION.match(line):
            section.setdefault(match[1], []).append(match[2])
    return found


def rendered(case: Case, share: Path = SHARE) -> Files:
    """Return nfvbed's files for a case, with the groups of the Kolla that takes them."""
    project = open_project(ROOT)
    pinning = pinning_of(project, case.place, case.variant)
    order = order_pinned(pinning, case.place, project.load_kolla_release(case.release))
    flavors = tuple(project.load_flavor(name) for name in project.flavor_names)
    multinode = (share / "ansible/inventory/multinode").read_text()
    files = dict(render(order, flavors).files) | {"inventory/groups": inventory.groups_file(multinode)}
    return case.change(files) if case.change else files


def project_hosts(case: Case) -> tuple[str, ...]:
    """Return the names of a case's machines."""
    return tuple(case.place.hosts)


def share_with_doubles(folder: Path) -> Path:
    """Copy Kolla's playbooks, and put the doubles into the copy."""
    share = folder / "share"
    shutil.copytree(SHARE, share, ignore=shutil.ignore_patterns("doc", "releasenotes"))
    shutil.copy(DOUBLES / "kolla_toolbox.py", share / "ansible/library/kolla_toolbox.py")
    shutil.copy(DOUBLES / DATABASE, share / "ansible" / DATABASE)
    shutil.copy(DOUBLES / "ovs-dpdkctl.sh", share / "ansible/roles/ovs-dpdk/files/ovs-dpdkctl.sh")
    return share


def make_passwords(folder: Path, share: Path) -> Path:
    """Have Kolla's generator make passwords, readable by their owner alone."""
    passwords = folder / "passwords.yml"
    passwords.touch(mode=0o600)
    passwords.write_text((share / "etc_examples/kolla/passwords.yml").read_text())
    run([str(ENVIRONMENT / "bin/kolla-genpwd"), "-p", str(passwords)], folder, environment(folder, ENVIRONMENT))
    return passwords


def genconfig(case: Case, folder: Path, share: Path, passwords: Path) -> Services:
    """Have Kolla make the services' files of a case.

    Raises:
        AssertionError: it fails; with the end of what it says.
    """
    config, out = folder / "etc", folder / "out"
    output.write(config, rendered(case))
    shutil.copy(passwords, config / "passwords.yml")
    (config / "passwords.yml").chmod(0o600)
    write_facts(folder / "facts", open_project(ROOT).load_site(case.site), ENVIRONMENT / "bin/python")
    for host in project_hosts(case):
        # Made by the load balancer's own tag, which has all services configured.
        for place in ("haproxy/services.d", "proxysql/users", "proxysql/rules"):
            (out / host / place).mkdir(parents=True)
    (folder / "ansible.cfg").write_text(_settings(folder))
    local = {
        "ansible_connection": "local",
        "ansible_become": False,
        "ansible_python_interpreter": str(ENVIRONMENT / "bin/python"),
        "node_config_directory": str(out / "{{ inventory_hostname }}"),
        "node_custom_config": str(config / "config"),
    }
    argv = [str(ENVIRONMENT / "bin/kolla-ansible"), "genconfig", "--configdir", str(config), "--tags", case.tags]
    argv += [] if case.load_balancer else ["--skip-tags", "loadbalancer"]
    argv += ["-i", str(config / "inventory"), "-e", json.dumps(local)]
    started = time.monotonic()
    run(argv, folder, environment(folder, ENVIRONMENT) | {"KOLLA_ANSIBLE_DATA_FILES_PATH": str(share)})
    if case.database:
        argv = [str(ENVIRONMENT / "bin/ansible-playbook"), "-i", str(config / "inventory")]
        argv += ["-e", f"@{config / 'globals.yml'}", "-e", f"@{config / 'passwords.yml'}", "-e", json.dumps(local)]
        run([*argv, str(share / "ansible" / DATABASE)], folder, environment(folder, ENVIRONMENT))
    return Services(out, time.monotonic() - started)


def _settings(folder: Path) -> str:
    lines = (
        "[defaults]",
        "gathering = smart",
        "fact_caching = jsonfile",
        f"fact_caching_connection = {folder / 'facts'}",
        "fact_caching_timeout = 0",
        f"local_tmp = {folder / 'tmp'}",
        f"remote_tmp = {folder / 'tmp'}",
        "forks = 3",
        "pipelining = True",
        "interpreter_python = auto_silent",
        "display_skipped_hosts = false",
        "localhost_warning = false",
    )
    return "\n".join(lines) + "\n"


def environment(folder: Path, of_kolla: Path) -> dict[str, str]:
    """Return the variables of a process of Ansible's."""
    return {
        "PATH": f"{of_kolla / 'bin'}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
    }


def run(argv: list[str], folder: Path, variables: dict[str, str]) -> None:
    """Run a program in a folder; its file `log` grows with what the program says.

    Raises:
        AssertionError: it fails; with the end of what it says.
    """
    log = folder / LOG
    with log.open("w") as said:
        status = subprocess.run(
            argv,
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_S,
            check=False,
        ).returncode
    assert status == 0, "\n".join(log.read_text().splitlines()[-60:])


def task_at(folder: Path) -> str:
    """Say which task a running playbook is at, and how many were before."""
    log = folder / LOG
    tasks = _TASK.findall(log.read_text(errors="replace")) if log.exists() else []
    return f"task {len(tasks)}, {tasks[-1]}" if tasks else "starting"
