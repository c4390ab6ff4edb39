"""Host aggregates of Nova's by which instances come to the computes of one variant, or to one compute.

All of nfvbed's flavors ask for a property that one aggregate has at a time: that of the variant that is measured. No
descriptor names a host, and other flavors' instances go where they went before.

Machines of one VNF that are to be on certain computes are asked for by availability zones, each of one compute: a
zone is what descriptors and Heat can name, and Nova's scheduler still looks for room, cores and pages there.
"""

import logging
from collections.abc import Sequence
from typing import Any

from openstack.connection import Connection

from nfvbed.cloud.tacker.connection import asking
from nfvbed.errors import OnboardError
from nfvbed.sites.kolla.pinning import Pinning

PROPERTY = "nfvbed_takes_instances"
ASKED_FOR = {f"aggregate_instance_extra_specs:{PROPERTY}": "yes"}
"""Extra spec of flavors; of Nova's AggregateInstanceExtraSpecsFilter, which a rendering turns on."""
_log = logging.getLogger(__name__)


def name_of(variant: str) -> str:
    """Return the name of a variant's aggregate."""
    return f"nfvbed-{variant}"


def provide(connection: Connection, pinning: Pinning) -> None:
    """Make an aggregate for each variant, with the computes that are pinned to it; idempotent.

    Raises:
        OnboardError, UnsupportedError: the cloud refuses it.
    """
    with asking("host aggregates"):
        found = {one.name: one for one in connection.compute.aggregates()}
        for variant in pinning.each:
            name, wanted = name_of(variant.name), set(pinning.computes_of(variant.name))
            if name not in found:
                _log.info("making aggregate %s", name)
            one = found.get(name) or connection.compute.create_aggregate(name=name)
            has = set(one.hosts or ())
            for host in sorted(has - wanted):
                connection.compute.remove_host_from_aggregate(one, host)
            for host in sorted(wanted - has):
                connection.compute.add_host_to_aggregate(one, host)


def zone_of(compute: str) -> str:
    """Return the name of a compute's own availability zone, and of its aggregate."""
    return f"nfvbed-on-{compute}"


def provide_zones(connection: Connection, computes: Sequence[str]) -> dict[str, str]:
    """Make an availability zone for each compute where it is missing, and return them by compute; idempotent.

    Nova gives a compute with instances no other zone: so they are made before the first instance that asks for one.

    Raises:
        OnboardError, UnsupportedError: the cloud refuses it.
    """
    with asking("host aggregates"):
        found = {one.name: one for one in connection.compute.aggregates()}
    for compute in computes:
        name = zone_of(compute)
        try:
            with asking(f"availability zone {name}"):
                if name not in found:
                    _log.info("making availability zone %s", name)
                one = found.get(name) or connection.compute.create_aggregate(name=name, availability_zone=name)
                if compute not in (one.hosts or ()):
                    connection.compute.add_host_to_aggregate(one, compute)
        except OnboardError as failure:
            raise OnboardError(
                f"compute {compute} cannot be given an availability zone of its own",
                where=name,
                observed=failure.observed,
                fix="remove the instances that are on it, or the zone that it is in (openstack aggregate list --long)",
            ) from None
    return {compute: zone_of(compute) for compute in computes}


def choose(connection: Connection, pinning: Pinning, variant: str) -> None:
    """Restrict instances of nfvbed's flavors to the computes of one variant; for a moment none takes them.

    Raises:
        OnboardError, UnsupportedError: the cloud refuses it.
    """
    with asking("host aggregates"):
        found: dict[str, Any] = {one.name: one for one in connection.compute.aggregates()}
        for other in pinning.each:
            if other.name != variant:
                connection.compute.set_aggregate_metadata(found[name_of(other.name)], {PROPERTY: None})
        connection.compute.set_aggregate_metadata(found[name_of(variant)], {PROPERTY: "yes"})
