"""Ansible's collection `openstack.kolla`, whose role prepares machines: no package index has it.

Kolla's own command `install-deps` takes it from the network. Only `bootstrap-servers` needs it.
"""

import os
from pathlib import Path

NAME = "openstack.kolla"
VARIABLE = "NFVBED_KOLLA_COLLECTIONS"
"""Names a folder of the user's own that has it."""
ENVIRONMENT = Path(".nfvbed") / "kolla"
"""Environment with kolla-ansible, below the project's root."""
INSTALLED = ENVIRONMENT / "collections"
"""Where `setup/kolla deps` has it installed."""
OF_THE_SYSTEM = Path("/usr/share/ansible/collections")
_IN_A_FOLDER = Path("ansible_collections", *NAME.split("."), "roles", "baremetal", "tasks")
_PLAYBOOK = ENVIRONMENT / "share" / "kolla-ansible" / "ansible" / "kolla-host.yml"


def folders(root: Path) -> tuple[Path, ...]:
    """Return the folders of collections that Ansible is given, in its order: the user's own first."""
    named = os.environ.get(VARIABLE)
    own = (Path(named).absolute(),) if named else ()
    return (*own, (root / INSTALLED).absolute(), OF_THE_SYSTEM)


def found(root: Path) -> Path | None:
    """Return the folder that has the collection; None: there is none."""
    beside_packages = sorted((root / ENVIRONMENT).glob("lib/python3*/site-packages"))  # Ansible looks there unasked
    return next((one for one in (*folders(root), *beside_packages) if (one / _IN_A_FOLDER).is_dir()), None)


def is_needed(root: Path) -> bool:
    """Return whether the kolla-ansible that is installed has no such role of its own, as releases before Zed had."""
    try:
        return f"{NAME}." in (root / _PLAYBOOK).read_text()
    except OSError:
        return False  # none is installed, which is another fault


def seen(root: Path) -> str:
    """Return where it was looked for, for a message."""
    return f"no {NAME} in {', '.join(map(str, folders(root)))}"
