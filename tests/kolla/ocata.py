"""Runs the real playbook of Ocata's kolla-ansible (4.0.5, Ansible 2.3, Python 2.7) over what nfvbed renders.

One program is a double (tests/kolla/doubles/setup.py): the module that finds out what a machine has. Machines are not
here; their NICs have the names that the rendered files for systemd give them, and those that no file names have their
kernel's. Every connection is local, and services' files go to a folder: nothing of this machine is changed.
"""

import json
import shutil
import time
from pathlib import Path

from nfvbed.cloud.kolla.nicnames import LINK_FOLDER
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.sites.kolla import output
from tests.kolla import genconfig
from tests.kolla.genconfig import Case, Files, Services, rendered
from tests.kolla.linkfiles import named_by_links
from tests.kolla.machines import machine

ENVIRONMENT = genconfig.ROOT / ".nfvbed" / "kolla-ocata"
SHARE = ENVIRONMENT / "usr/local/share/kolla-ansible"
TAGS = "neutron,nova,tacker"


def share_with_double(folder: Path) -> Path:
    """Copy Ocata's playbooks, and put the double into the copy."""
    share = folder / "share-ocata"
    shutil.copytree(SHARE, share, ignore=shutil.ignore_patterns("doc", "releasenotes"))
    shutil.copy(genconfig.DOUBLES / "setup.py", share / "ansible/action_plugins/setup.py")
    return share


def playbook(case: Case, folder: Path, share: Path, passwords: Path) -> Services:
    """Have Ocata's playbook make the services' files of a case.

    Raises:
        AssertionError: it fails; with the end of what it says.
    """
    config, out = folder / "etc", folder / "out"
    files = rendered(case, share)
    output.write(config, files)
    interpreter = str(ENVIRONMENT / "bin/python")
    # As Kolla's own command has them: variables given so have the greatest precedence.
    given = {
        "action": "config",
        "ansible_connection": "local",
        "ansible_python_interpreter": interpreter,
        "node_config_directory": str(out / "{{ inventory_hostname }}"),
        "node_custom_config": str(config / "config"),
        # Kolla would set the kernel's options of this machine.
        "set_sysctl": "no",
        "facts_of_machines": _facts(case, files),
    }
    (folder / "given.json").write_text(json.dumps(given))
    (folder / "ansible.cfg").write_text(_settings(folder))
    argv = [str(ENVIRONMENT / "bin/ansible-playbook"), "-i", str(config / "inventory")]
    for path in (config / "globals.yml", passwords, folder / "given.json"):
        argv += ["-e", f"@{path}"]
    argv += ["--tags", TAGS, "--skip-tags", "common", str(share / "ansible/site.yml")]
    started = time.monotonic()
    genconfig.run(argv, folder, genconfig.environment(folder, ENVIRONMENT))
    return Services(out, time.monotonic() - started)


def make_passwords(folder: Path, share: Path) -> Path:
    """Have the maintained Kolla's generator make Ocata's passwords, readable by their owner alone."""
    place = folder / "passwords-ocata"
    place.mkdir()
    return genconfig.make_passwords(place, share)


def _facts(case: Case, files: Files) -> dict[str, dict[str, object]]:
    found = {}
    site = open_project(genconfig.ROOT).load_site(case.site)
    for place, (name, host) in enumerate(site.hosts.items()):
        links = {path: text for path, text in files.items() if path.startswith(f"{LINK_FOLDER}/{name}/")}
        found[name] = named_by_links(machine(name, host, place), links)
    found["localhost"] = machine("localhost", next(iter(site.hosts.values())), len(site.hosts))
    return {name: {f"ansible_{key}": value for key, value in facts.items()} for name, facts in found.items()}


def _settings(folder: Path) -> str:
    lines = (
        "[defaults]",
        "gathering = explicit",
        f"local_tmp = {folder / 'tmp'}",
        f"remote_tmp = {folder / 'tmp'}",
        "forks = 3",
        "pipelining = True",
        "display_skipped_hosts = False",
        "retry_files_enabled = False",
    )
    return "\n".join((*lines, "[ssh_connection]", "pipelining = True")) + "\n"
