"""Orders that tests of rendering share."""

from pathlib import Path

import yaml

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.sites.kolla.model import Order, Rendering
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.kolla.render import order_of, order_pinned, render
from nfvbed.spec.document import parse_document
from nfvbed.spec.site import AnySite, KollaSiteSpec
from nfvbed.spec.validate import build_one_of

PROJECT = open_project()


def site(text: str = "", name: str = "rack") -> KollaSiteSpec:
    """Return the example site, or the one that a text describes."""
    return build_one_of(parse_document(Path("x.yml"), text), AnySite) if text else PROJECT.load_site(name)


def changed(change) -> str:
    """Return the text of the example site after a change of its data."""
    data = yaml.safe_load((PROJECT.sites_folder / "rack.yml").read_text())
    change(data)
    return yaml.safe_dump(data)


def without_pci(name: str = "compute1") -> str:
    """Return the text of the example site whose machine has its NICs of role dpdk without PCI addresses."""

    def change(data) -> None:
        for place, nic in enumerate(nic for nic in data["hosts"][name]["nics"] if nic["role"] == "dpdk"):
            del nic["pci"]
            nic |= {"mac": f"52:54:00:30:{place:02x}:0b", "driver": "af_packet"}
        for network in data["networks"].values():
            network["mtu"] = 1500

    return changed(change)


def pinned(*variants: str, swap: str = "never") -> KollaSiteSpec:
    """Return the example site with its two computes pinned to these variants."""

    def change(data) -> None:
        data["computes"] = {f"compute{number}": {"variant": name} for number, name in enumerate(variants, 1)}
        data["swap"] = swap

    return site(changed(change))


def pinned_order(*variants: str, release: str = "2026.1") -> Order:
    """Return an order for variants side by side."""
    at = pinned(*variants)
    return order_pinned(pinning_of(PROJECT, at, variants[0]), at, PROJECT.load_kolla_release(release))


def order(variant: str, release: str = "2026.1", at: KollaSiteSpec | None = None) -> Order:
    """Return an order for a variant by its file's name."""
    return order_of(PROJECT.load_variant(variant), at or site(), PROJECT.load_kolla_release(release))


def rendering(variant: str, release: str = "2026.1", at: KollaSiteSpec | None = None) -> Rendering:
    """Return what is rendered for it."""
    return render(order(variant, release, at), tuple(PROJECT.load_flavor(name) for name in PROJECT.flavor_names))
