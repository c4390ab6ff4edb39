"""Check of this machine: it has the collection whose role prepares the rack's machines."""

from collections.abc import Iterator
from pathlib import Path

from nfvbed.sites.kolla import collectionfolders
from nfvbed.sites.kolla.preflight.finding import Finding
from nfvbed.spec.site import KollaSiteSpec

_FIX = (
    "setup/kolla deps, which runs Kolla's install-deps (it asks opendev.org and galaxy.ansible.com); or copy a folder"
    f" of collections that has it, and name that: {collectionfolders.VARIABLE}=FOLDER"
)


def check_collection(root: Path, site: KollaSiteSpec) -> Iterator[Finding]:
    """Find out before anything is prepared whether `bootstrap-servers` could run; a box has nfvbed's role for it."""
    if site.machines == "box" or not collectionfolders.is_needed(root) or collectionfolders.found(root):
        return
    yield Finding(
        machine="",
        what=f"Ansible's collection {collectionfolders.NAME} is not here, and Kolla's bootstrap-servers runs its role"
        " baremetal",
        key=f"setup/kolla, {collectionfolders.VARIABLE}",
        observed=collectionfolders.seen(root),
        fix=_FIX,
    )
