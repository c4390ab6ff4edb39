"""A user's own inventory, checked against the site's file before any machine is asked."""

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from nfvbed.errors import ConfigurationError
from nfvbed.patience import patient
from nfvbed.sites.kolla.executor.toolset import Toolset
from nfvbed.spec import boundedyaml
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.spec.textfile import read_text
from nfvbed.spec.validate import suggestion

_TIMEOUT_S = patient(120.0)
_ROLES = {"control": "controller", "network": "controller", "compute": "compute"}
"""Groups that are for Kolla's user to fill, and the role in the site's file."""
_LOCAL = ("localhost",)
_YAML = (".yml", ".yaml", ".json")
"""Ends of names by which Ansible takes an inventory for YAML."""


def checked(path: Path, site: KollaSiteSpec, tools: Toolset) -> str:
    """Return the text of an inventory after checking it against the site's file.

    Raises:
        ConfigurationError: it cannot be read; Ansible does not understand it; or a machine or group is missing, unknown
            or in the wrong place, with the line.
    """
    text = read_text(path, "--inventory FILE")
    if path.suffix in _YAML:
        _require_bounds(path, text)
    given = _UserInventory(path, text, _members(_listed(path, tools)))
    for group, role in _ROLES.items():
        _check_group(group, role, given, site)
    return text


def variables_beside(path: Path, site: KollaSiteSpec) -> dict[str, str]:
    """Return the files of an inventory's `group_vars` and `host_vars`, by path in the folder that Kolla is given.

    Raises:
        ConfigurationError: variables of a machine would take the place of the rendered ones, or cannot be read.
    """
    found = dict[str, str]()
    for folder in ("group_vars", "host_vars"):
        for file in sorted(one for one in (path.parent / folder).rglob("*") if one.is_file()):
            name = file.relative_to(path.parent / folder).parts[0]
            if folder == "host_vars" and Path(name).stem in site.hosts:
                raise ConfigurationError(
                    f"the inventory has variables of {Path(name).stem} alone, and nfvbed renders that machine's",
                    where=str(file),
                    observed="Ansible reads one of two files of a machine, and leaves the other out",
                    fix="write them for a group (group_vars), or for all machines: globals.d in"
                    f" .nfvbed/kolla-sites/{site.name}/etc",
                )
            found[f"inventory/{file.relative_to(path.parent)}"] = read_text(file)
    return found


@dataclass(frozen=True)
class _UserInventory:
    """A user's inventory."""

    path: Path
    text: str
    members: Mapping[str, list[str]]
    """All machines of each group."""

    def where(self, name: str, group: str) -> str:
        """Return file, line and group that name a machine."""
        return f"{self.path}{_line(self.text, name)} group {group}"


def _check_group(group: str, role: str, given: _UserInventory, site: KollaSiteSpec) -> None:
    members = given.members
    expected = [name for name, host in site.hosts.items() if role in host.roles]
    if group not in members:
        raise ConfigurationError(
            f"the inventory has no group {group}",
            where=str(given.path),
            observed=f"its groups: {', '.join(sorted(members)) or 'none'}",
            fix=f"[{group}] with {', '.join(expected)}",
        )
    for name in members[group]:
        if name not in site.hosts and name not in _LOCAL:
            raise ConfigurationError(
                f"the inventory names a machine that site {site.name} does not have",
                where=given.where(name, group),
                observed=name,
                fix=suggestion(name, list(site.hosts)) or f"describe it in deploy/sites/{site.name}.yml hosts",
            )
        if name not in expected:
            raise ConfigurationError(
                f"{name} is in group {group}, and is no {role} in the site's file",
                where=given.where(name, group),
                observed=f"deploy/sites/{site.name}.yml hosts.{name}.roles: {', '.join(site.hosts[name].roles)}",
                fix=f"[{group}] with {', '.join(expected)}, or roles that include {role}",
            )
    missing = [name for name in expected if name not in members[group]]
    if missing:
        raise ConfigurationError(
            f"a machine of site {site.name} is missing in the inventory",
            where=f"{given.path} group {group}",
            observed=f"{', '.join(missing)} not among {', '.join(members[group]) or 'no machine'}",
            fix=f"[{group}] with {', '.join(expected)}",
        )


def _require_bounds(path: Path, text: str) -> None:
    """Refuse YAML beyond nfvbed's bounds before Ansible reads it, which has none."""
    try:
        boundedyaml.load(text)
    except boundedyaml.BoundsExceeded as failure:
        raise ConfigurationError(
            "the inventory holds too much",
            where=str(path),
            observed=str(failure.problem),
            fix="write it smaller and flatter; nfvbed kolla render writes one for the site",
        ) from failure
    except yaml.YAMLError:
        pass  # tags of Ansible's own, for one: Ansible says what is wrong


def _listed(path: Path, tools: Toolset) -> dict[str, Any]:
    done = subprocess.run(
        [tools.program("ansible-inventory"), "-i", str(path.resolve()), "--list"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
        env={
            "PATH": f"{tools.directory / 'bin'}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True",
            "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "True",
            "ANSIBLE_NOCOLOR": "1",
        },
    )
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise ConfigurationError(
            "Ansible does not understand the inventory",
            where=str(path),
            observed="\n".join(said[:4]) or f"exit status {done.returncode}",
            fix="correct it; nfvbed kolla render writes one for the site",
        )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _members(listed: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return all machines of each group, those of its children too."""

    @cache  # a group can be below many others
    def of(group: str) -> tuple[str, ...]:
        here = listed.get(group, {})
        below = [name for child in here.get("children", ()) for name in of(child)]
        return tuple(dict.fromkeys([*here.get("hosts", ()), *below]))

    return {name: list(of(name)) for name in listed if name not in ("_meta", "all", "ungrouped")} | _empty(listed)


def _empty(listed: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return groups without machines, which Ansible lists only as children."""
    children = {child for one in listed.values() if isinstance(one, dict) for child in one.get("children", ())}
    return {name: [] for name in children - set(listed) - {"ungrouped"}}


def _line(text: str, name: str) -> str:
    """Return `:LINE` of the first line that names a machine."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"\s*{re.escape(name)}(?![\w.-])", line):
            return f":{number}"
    return ""
