"""Addresses of a box's computes in the network of tunnels: a machine has its own where its data plane leaves it that.

On other racks the machines have theirs before anything is deployed, or a bridge gets it.
"""

from pathlib import Path

from nfvbed.cloud.box.box import find_box
from nfvbed.sites.kolla.pinning import Pinning, plane_of
from nfvbed.spec.site import KollaSiteSpec


def addresses(site: KollaSiteSpec, pinning: Pinning) -> dict[str, str]:
    """Return the address that each compute has itself, with its prefix length; empty: none."""
    found = dict[str, str]()
    for name, host in site.hosts_with("compute").items():
        owner = plane_of(pinning.on(name)).neutron.overlay_address
        found[name] = (host.overlay_address or "") if owner == "of-machine" else ""
    return found


def set_addresses(root: Path, site: KollaSiteSpec, pinning: Pinning) -> None:
    """Set the addresses on the computes of a box; nothing to do for other sites.

    Raises:
        DeployError: a machine does not run.
    """
    box = find_box(site, root)
    if box is None:
        return
    for name, address in addresses(site, pinning).items():
        box.set_tunnel_address(name, address)
