"""Host aggregates of Nova's by which instances come to the computes of one variant.

All of nfvbed's flavors ask for a property that one aggregate has at a time: that of the variant that is measured. No
descriptor names a host, and other flavors' instances go where they went before.

Machines of one VNF that are to be on certain computes are asked for by availability zones (`cloud/tacker/zones.py`).
"""

import logging
from typing import Any

from openstack.connection import Connection

from nfvbed.cloud.tacker.connection import asking
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
