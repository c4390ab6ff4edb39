"""Images that kolla-ansible asks a registry for, by its variables; Ansible evaluates them, and only files are read."""

import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nfvbed.errors import PrerequisiteError
from nfvbed.patience import VARIABLE, patient
from nfvbed.spec import boundedyaml
from nfvbed.spec.textfile import read_text

_RUN_S = 300.0
_LAST = 3000


@dataclass(frozen=True)
class ImageSet:
    """Images that are asked for, by name, and their one tag."""

    names: tuple[str, ...]
    tag: str


def asked(kolla: Path, each: Iterable[Mapping[str, object]]) -> ImageSet:
    """Return the images of all services that are deployed with some variables, and their one tag.

    Args:
        kolla: environment of kolla-ansible.
        each: what `globals.yml` has, once for each rack.

    Raises:
        PrerequisiteError: kolla-ansible is not there, or its files are of another form.
    """
    data = kolla / "share" / "kolla-ansible" / "ansible"
    if not (data / "site.yml").is_file():
        raise PrerequisiteError("kolla-ansible is not there", where=str(data), fix="setup/kolla")
    names: set[str] = set()
    tags: set[str] = set()
    for variables in each:
        for image in _images(kolla, data, variables):
            place, _, tag = image.rpartition(":")
            names.add(place.rpartition("/")[2])
            tags.add(tag)
    if len(tags) != 1:
        raise PrerequisiteError(
            "kolla-ansible's images are not of one tag", where=str(data), observed=", ".join(sorted(tags))
        )
    return ImageSet(tuple(sorted(names)), tags.pop())


def playbook(data: Path, out: Path) -> list[dict[str, Any]]:
    """Return a playbook that writes the images of all enabled services into a file, a line each.

    Kolla's `site.yml` makes groups of hosts by what is enabled, and its plays name them: both are taken from there.
    """
    site = _plays(data / "site.yml")
    grouping = [task for play in site for task in play.get("tasks", ()) if "ansible.builtin.group_by" in task]
    keys = [key for task in grouping for key in task.get("with_items", ())]
    tasks: list[dict[str, Any]] = [
        # What is asked for when an operator's command is `kolla-ansible pull`.
        {"name": "Set the action", "ansible.builtin.set_fact": {"kolla_action": "pull"}},
        {"name": "Read variables", "ansible.builtin.include_vars": {"dir": str(data / "group_vars" / "all")}},
        {"name": "Evaluate groups", "ansible.builtin.set_fact": {"nfvbed_groups": keys}},
    ]
    for play in site:
        hosts = play.get("hosts", ())
        needed = [one.removeprefix("&") for one in hosts if one.startswith("&")] if isinstance(hosts, list) else []
        for role in _roles(play):
            defaults = data / "roles" / role["role"] / "defaults" / "main.yml"
            if not defaults.is_file():
                continue
            wanted: list[str] = [f"{key!r} in nfvbed_groups" for key in needed]
            conditions = role.get("when", [])
            wanted += conditions if isinstance(conditions, list) else [str(conditions)]
            tasks.append({"name": "Read defaults", "ansible.builtin.include_vars": {"file": str(defaults)}})
            found = boundedyaml.load(read_text(defaults)) or {}
            # Those for Keystone are lists, of what has no image.
            for services in (one for one in found if one.endswith("_services") and isinstance(found[one], dict)):
                tasks.append(
                    {
                        "name": f"Write images of {services}",
                        "ansible.builtin.lineinfile": {
                            "path": str(out),
                            "create": True,
                            "mode": "0600",
                            "line": f"{{{{ {services}[item].image }}}}",
                        },
                        "loop": f"{{{{ {services}.keys() | list }}}}",
                        "when": [*wanted, f"{services}[item].image is defined", f"{services}[item].enabled | bool"],
                    }
                )
    return [{"name": "Find images", "hosts": "localhost", "gather_facts": False, "tasks": tasks}]


def _roles(play: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a play's roles with their conditions, whether it has them as roles or imports them in tasks."""
    found = [{"role": one} if isinstance(one, str) else one for one in play.get("roles", ())]
    for task in play.get("tasks", ()):
        imported = task.get("ansible.builtin.import_role") or task.get("ansible.builtin.include_role")
        if imported:
            found.append({"role": imported["name"], **{key: task[key] for key in ("when",) if key in task}})
    return found


def _plays(path: Path) -> list[dict[str, Any]]:
    """Return the plays of a playbook and of those that it imports."""
    found: list[dict[str, Any]] = []
    for play in boundedyaml.load(read_text(path)):
        imported = play.get("ansible.builtin.import_playbook", play.get("import_playbook"))
        found += _plays(path.parent / imported) if imported else [play]
    return found


def _images(kolla: Path, data: Path, variables: Mapping[str, object]) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="nfvbed-images-") as name:
        folder = Path(name)
        out = folder / "images"
        (folder / "play.yml").write_text(yaml.safe_dump(playbook(data, out), sort_keys=False))
        (folder / "globals.yml").write_text(yaml.safe_dump(dict(variables)))
        argv = [str(kolla / "bin" / "ansible-playbook"), "--inventory", str(data / "inventory" / "all-in-one")]
        argv += ["--extra-vars", f"@{folder}/globals.yml", str(folder / "play.yml")]
        environment = {
            "ANSIBLE_FILTER_PLUGINS": str(data / "filter_plugins"),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_HOME": str(folder / "home"),
            "ANSIBLE_PYTHON_INTERPRETER": str(kolla / "bin" / "python"),
            "PATH": f"{kolla}/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C.UTF-8",
            "HOME": str(folder),
        }
        try:
            done = subprocess.run(
                argv, capture_output=True, text=True, check=False, timeout=patient(_RUN_S), env=environment
            )
        except subprocess.TimeoutExpired as failure:
            raise PrerequisiteError(
                "kolla-ansible's images were not read in time",
                where=str(data),
                observed=f"ansible-playbook had not ended after {failure.timeout:g} s",
                fix=f"{VARIABLE}=3 gives it three times as long, on a machine that is busy",
            ) from failure
        if done.returncode != 0 or not out.is_file():
            raise PrerequisiteError(
                "kolla-ansible's images cannot be read from its files",
                where=str(data),
                observed=(done.stdout + done.stderr)[-_LAST:],
                fix="setup/kolla: these files are of a version that nfvbed was not tried with",
            )
        return out.read_text().split()
