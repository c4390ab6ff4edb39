"""Renders the files that kolla-ansible takes from a variant, a site and a release. Nothing is read or run here."""

from nfvbed.cloud.kolla import nicnames
from nfvbed.cloud.kolla.agent import ServiceOptions
from nfvbed.cloud.kolla.placement import (
    Placement,
    Polling,
    place_on_shared_cores,
    place_with_polling,
    place_without_polling,
)
from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.sites.kolla import boxglobals, guests, inventory, overrides, variables
from nfvbed.sites.kolla.boxglobals import BoxHost
from nfvbed.sites.kolla.model import Order, Rendering
from nfvbed.sites.kolla.options import check_options
from nfvbed.sites.kolla.pinning import Pinning, check_together, plane_of
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.kollarelease import KollaReleaseSpec
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.vnfs.descriptors.yamltext import dump

UNBOUNDED = BoxHost()


def order_of(variant: Variant, site: KollaSiteSpec, release: KollaReleaseSpec) -> Order:
    """Return the order of a variant on a site with a release, with the cores of each process.

    Raises:
        UnsupportedError: the release or Neutron cannot, with the release that can.
        ConfigurationError: the site's file lacks what the variant needs.
    """
    return order_pinned(Pinning.everywhere(variant, site), site, release)


def order_pinned(pinning: Pinning, site: KollaSiteSpec, release: KollaReleaseSpec) -> Order:
    """Return the order of variants that computes are pinned to.

    Raises:
        UnsupportedError, ConfigurationError: as `order_of`; or variants cannot be on one rack at the same time.
    """
    for variant in pinning.each:
        check_release(variant, release)
        check_options(variant)
    check_together(pinning, site)
    _check_images(site, release)
    placements = dict[str, Placement]()
    for name, variant in pinning.variants.items():
        _check_nics(variant, site, name)
        switch = plane_of(variant).switch
        switch.check(variant, name, site.hosts[name])
        placements[name] = _placed(switch.polling(variant), site, name)
    return Order(pinning, site, release, placements)


def check_release(variant: Variant, release: KollaReleaseSpec) -> None:
    """Make sure that a release supports a variant's data plane.

    Raises:
        UnsupportedError: it cannot; with the release that can.
    """
    plane = plane_of(variant)
    support = plane.on(release)
    if support is not None and support.is_deployed:
        return
    possible = support.possible_on if support else ""
    if support is not None:
        observed = support.reason
    elif plane.releases:
        observed = f"what is known of {plane.name} is about {', '.join(plane.releases)}"
    else:
        observed = f"no mechanism of Neutron's is for {plane.name}; it is measured in the lab"
    raise UnsupportedError(
        f"variant {variant.name} cannot be deployed with {release.title}",
        where=f"deploy/variants/{variant.name}.yml options.dataplane",
        observed=observed,
        fix=f"--release {possible}" if possible else f"one of {', '.join(deployable(release))}; or the site lab",
    )


def deployable(release: KollaReleaseSpec) -> tuple[str, ...]:
    """Return the names of the data planes that a release can have."""
    supports = {name: plane.on(release) for name, plane in CATALOGUE.kolla.items()}
    return tuple(sorted(name for name, support in supports.items() if support is not None and support.is_deployed))


def render(order: Order, flavors: tuple[Flavor, ...], host: BoxHost = UNBOUNDED) -> Rendering:
    """Render all files.

    Args:
        flavors: flavors that are made in the cloud.
        host: machine that the box is on, where the site is one.
    """
    everywhere = variables.global_variables(order) | boxglobals.rendered(order.site, host)
    files = boxglobals.files(order.site) | {
        "globals.yml": dump(everywhere),
        "inventory/hosts": inventory.hosts_file(order),
    }
    for name in order.hosts:
        files[f"inventory/host_vars/{name}.yml"] = dump(variables.host_variables(order, name))
        if order.release.facts == "none":
            files |= nicnames.link_files(name, order.site.hosts[name])
    files |= {f"config/{path}": ini(options) for path, options in overrides.override_files(order).items()}
    files["nfvbed/guests.yml"] = dump(guests.guests_file(order, flavors))
    return Rendering(files, order.roles)


def ini(options: ServiceOptions) -> str:
    """Return the text of an INI file; an option with several values is written once for each."""
    blocks = []
    for section, pairs in options.items():
        lines = [f"[{section}]"]
        for key, value in pairs.items():
            lines += [f"{key} = {one}" for one in ((value,) if isinstance(value, str) else value)]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _check_images(site: KollaSiteSpec, release: KollaReleaseSpec) -> None:
    if release.image_python and site.base_distro not in release.image_python:
        raise UnsupportedError(
            f"{release.title} has no images of {site.base_distro}",
            where=f"deploy/sites/{site.name}.yml base_distro",
            observed=site.base_distro,
            fix=f"base_distro: {', '.join(sorted(release.image_python))}",
        )


def _placed(polling: Polling | None, site: KollaSiteSpec, name: str) -> Placement:
    host = site.hosts[name]
    if polling is None:
        return place_on_shared_cores(host) if site.machines == "box" else place_without_polling(host)
    try:
        mtus = {site.networks[nic.network].mtu for nic in host.nics_of("dpdk") if nic.network is not None}
        return place_with_polling(name, host, polling, mtus)
    except ConfigurationError as failure:
        where = f"deploy/sites/{site.name}.yml {failure.where}"
        raise ConfigurationError(failure.what, where=where, observed=failure.observed, fix=failure.fix) from failure


def _check_nics(variant: Variant, site: KollaSiteSpec, name: str) -> None:
    plane, host = plane_of(variant), site.hosts[name]
    file = f"deploy/sites/{site.name}.yml hosts.{name}.nics"
    use = plane.nics
    needed = host.nics_of(use.role) if use.role else ()
    if use.role and not needed:
        raise ConfigurationError(
            f"{name} has no NIC for variant {variant.name}",
            where=file,
            observed=f"roles: {', '.join(nic.role for nic in host.nics)}",
            fix=f"describe one with role: {use.role}, or choose a variant that needs none",
        )
    if use.by_address and any(nic.pci is None for nic in needed):
        raise ConfigurationError(
            f"a NIC of {name} for variant {variant.name} has no PCI address",
            where=file,
            observed=", ".join(nic.named for nic in needed),
            fix=f"give its pci: {use.by_address}",
        )
    if use.no_external and host.nics_of("external"):
        raise UnsupportedError(
            f"{name} has a NIC for external networks apart from the data plane's",
            where=file,
            observed=use.no_external,
            fix="have the external networks as VLANs of the NIC of role dpdk, as deploy/sites/rack-two-machines.yml",
        )
    if not use.uplinks and host.is_controller:
        raise UnsupportedError(
            f"{name} is controller and compute: its NIC would be the bridge's and that of {plane.name} at once",
            where=file,
            observed="DHCP and routers are attached to the controller's bridge",
            fix="a site whose controller is a machine of its own, as deploy/sites/rack.yml",
        )
