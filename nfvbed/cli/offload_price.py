"""`nfvbed onboard --offload-price`: what it costs an ordinary VNF to be without offloads."""

import json

import click

from nfvbed.compare.samples.statistics import ratio_interval
from nfvbed.dataplanes.wiring import vnf_port_kind
from nfvbed.errors import UnsupportedError, UsageError
from nfvbed.records import PortKind
from nfvbed.sites.hosted import require_host
from nfvbed.sites.site import Site
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.price import OffloadPrice, OffloadPricer
from nfvbed.vnfs.sockets.hosts import HostResources

_RUNS = 5
_RUN_S = 1
_ORDINARY = "bridge"
_KERNELS_OWN = (_ORDINARY, "nextepc")
"""What passes on a checksum that was left out, or completes it."""


def measure_price(site: Site, wanted: Variant, topology: str, choice: VnfChoice, as_json: bool) -> None:
    """Deploy for this measurement alone, measure, take everything down, and print the figures.

    Raises:
        UsageError: TCP between two hosts would not go through this VNF or topology.
        UnsupportedError: the VNF's ports are no kernel links.
        BusyError: something is deployed; measuring would take it apart.
        GeneratorError: iperf3 failed.
    """
    _check(wanted, topology, choice)
    site.begin()
    existing = site.find_deployed()
    if existing is not None:
        raise existing.in_the_way(f"{wanted.name} ({topology}), for the cost of offloads,")
    deployment = site.deploy(wanted, topology, vnf=choice)
    try:
        host = require_host(site, deployment, "the cost of offloads")
        host.close_generators()
        around = HostResources(host.workspace, host.arrangement)
        price = OffloadPricer(deployment, around).measure(_RUNS, _RUN_S)
    finally:
        site.destroy(deployment)
    interval = ratio_interval(price.off_bits_per_s, price.on_bits_per_s)
    if as_json:
        found = {"ratio": price.ratio, "ratio_interval": [interval.low, interval.high] if interval else None}
        click.echo(json.dumps(price.model_dump(mode="json") | found, indent=2))
        return
    _print(price, f"TCP through {choice.label} on {wanted.name} ({topology})")
    kind = "range" if interval is None or interval.is_range else f"{interval.level:.0%} interval"
    bounds = f"; {kind} {interval.low:.2f} - {interval.high:.2f}" if interval else ""
    click.echo(
        f"without offloads: {price.ratio:.2f} of the rate with them"
        f" (medians of {len(price.on_bits_per_s)} runs of {price.duration_s:g} s{bounds})"
    )


def _check(wanted: Variant, topology: str, choice: VnfChoice) -> None:
    if layout(topology).ways > 1 or layout(topology).one_way:
        raise UsageError(
            "the cost of offloads is measured through VNFs behind each other", observed=topology, fix="choose pvp"
        )
    if choice.forwarding not in _KERNELS_OWN:
        raise UsageError(
            "the cost of offloads is measured with a VNF that ordinary traffic gets through as it is",
            observed=f"{choice.label}: forwarding {choice.forwarding}",
            fix=f"--forwarding {_ORDINARY}; of a mobile core --forwarding nextepc",
        )
    kind = vnf_port_kind(wanted, choice)
    if kind is not PortKind.VETH:
        raise UnsupportedError(
            "the cost of offloads is measured where the kernel can turn them on and off, on veth ports",
            where=f"{choice.label} on {wanted.name}",
            observed=f"the VNF's ports are {kind}",
            fix="--variant linux-bridge --kind process",
        )


def _print(price: OffloadPrice, what: str) -> None:
    for name, runs in (("on", price.on_bits_per_s), ("off", price.off_bits_per_s)):
        click.echo(f"offloads {name}: {', '.join(f'{rate / 1e9:.2f}' for rate in runs)} Gbit/s of {what}")
