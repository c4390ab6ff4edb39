"""Ansible's access to the machines: the site file's part on SSH, as an inventory."""

import shlex
from pathlib import Path
from typing import Any

from nfvbed.errors import ConfigurationError
from nfvbed.sites.kolla.model import Order
from nfvbed.spec.remote import RemoteHostSpec
from nfvbed.vnfs.descriptors.yamltext import dump

FILE = "inventory/access.yml"
"""Before `hosts` in the order of names: what a user's inventory says of a machine comes after, and counts."""


def access_file(order: Order, python: Path) -> str:
    """Return an inventory with the variables of Ansible's connections.

    Args:
        python: Python of the environment, for tasks on this machine: by default Ansible takes the first one on a path.

    Raises:
        ConfigurationError: the site's file does not say how a machine is reached.
    """
    hosts = {"localhost": {"ansible_connection": "local", "ansible_python_interpreter": str(python)}}
    for name in order.hosts:
        reached = order.site.reached(name)
        if reached is None:
            raise ConfigurationError(
                f"it is not known how {name} is reached",
                where=f"deploy/sites/{order.site.name}.yml ssh",
                observed="the file has no ssh, for all machines or for this one",
                fix="ssh: {user: root, key: ..., known_hosts: ...} (docs/reference/files/sites.md)",
            )
        hosts[name] = _variables(reached)
    return dump({"all": {"hosts": hosts}})


def _variables(reached: RemoteHostSpec) -> dict[str, Any]:
    options = [
        *("-o", "StrictHostKeyChecking=yes", "-o", f"UserKnownHostsFile={reached.known_hosts}"),
        *("-o", "GlobalKnownHostsFile=none", "-o", "PasswordAuthentication=no", "-o", "ForwardAgent=no"),
        *("-o", f"ServerAliveInterval={reached.keepalive_s}", "-o", "ServerAliveCountMax=3"),
    ]
    # Without a file named none is read, the account's own neither.
    return {
        "ansible_user": reached.user,
        "ansible_port": reached.port,
        "ansible_ssh_common_args": shlex.join(["-F", str(reached.ssh_config or "none"), *options]),
        "ansible_ssh_private_key_file": str(reached.key),
        "ansible_timeout": reached.connect_timeout_s,
    }
