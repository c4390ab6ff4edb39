"""The inventory: which machine is in which of Kolla's groups.

Kolla's own `inventory/multinode` has 100 groups or more, which differ from release to release, and six that are for its
user to fill. These six are rendered; the others are taken from the file of the kolla-ansible that is there.
"""

import re

from nfvbed.errors import PrerequisiteError
from nfvbed.sites.kolla.model import Order

_GROUP = re.compile(r"^\[([\w-]+)(:children|:vars)?\]\s*$")
FILLED = ("control", "network", "compute", "monitoring", "storage", "deployment")


def hosts_file(order: Order) -> str:
    """Return the groups that the user of Kolla fills with machines."""
    controllers = [*order.controllers]
    computes = [name for name, host in order.hosts.items() if host.is_compute]
    groups = {
        "control": controllers,
        "network": controllers,
        "compute": computes,
        "monitoring": [],
        "storage": [],
        "deployment": ["localhost ansible_connection=local"],
    }
    return "\n".join("\n".join((f"[{name}]", *lines, "")) for name, lines in groups.items())


def groups_file(multinode: str) -> str:
    """Return Kolla's groups without its example machines.

    The groups that are for its user to fill are in it, empty: Ansible wants all groups of a file to be there.

    Args:
        multinode: text of Kolla's `inventory/multinode`.

    Raises:
        PrerequisiteError: it has not the groups that it should have.
    """
    kept, filled, inside = [], set[str](), False
    for line in multinode.splitlines():
        group = _GROUP.match(line)
        if group:
            inside = group[1] in FILLED and not group[2]
            filled |= {group[1]} if inside else set()
        if (group or not inside) and line.strip() and not line.lstrip().startswith("#"):
            kept.append(line)
    missing = sorted({"control", "network", "compute"} - filled)
    if missing:
        raise PrerequisiteError(
            "the file is no inventory of Kolla's for several machines",
            where="inventory/multinode",
            observed=f"it has no group {', '.join(missing)}",
            fix="name share/kolla-ansible/ansible/inventory/multinode of the kolla-ansible that is used",
        )
    return "\n".join(kept) + "\n"
