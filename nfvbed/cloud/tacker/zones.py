"""Availability zones of single computes, by which machines of one VNF come to certain computes.

A zone is what descriptors and Heat can name, and Nova's scheduler still looks for room, cores and pages there.
"""

import logging
from collections.abc import Sequence

from openstack.connection import Connection

from nfvbed.cloud.tacker.connection import asking
from nfvbed.errors import OnboardError

_log = logging.getLogger(__name__)


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
