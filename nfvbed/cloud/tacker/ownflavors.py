"""Flavors that an experiment alone has, in Nova."""

from collections.abc import Mapping

from openstack.connection import Connection

from nfvbed.cloud.novaflavor import extra_specs, nova_name
from nfvbed.cloud.tacker.connection import asking
from nfvbed.errors import OnboardError
from nfvbed.spec.flavor import Flavor


def provide(connection: Connection, flavor: Flavor, placing: Mapping[str, str] | None = None) -> None:
    """Make a flavor that is missing; idempotent.

    It stays: the name is the experiment's, and the next run of it takes the same.

    Args:
        connection: the administrator's.
        placing: extra specs that say on which computes instances are; None: on any.

    Raises:
        OnboardError: there is a flavor of that name with another size or other extra specs, or the cloud refuses it.
    """
    name, specs = nova_name(flavor), extra_specs(flavor) | dict(placing or {})
    compute = connection.compute
    with asking(f"flavor {name}"):
        found = compute.find_flavor(name, ignore_missing=True, get_extra_specs=True)
        if found is None:
            made = compute.create_flavor(name=name, vcpus=flavor.vcpus, ram=flavor.memory_mib, disk=flavor.disk_gib)
            compute.create_flavor_extra_specs(made, specs)
            return
        wanted = {"vcpus": flavor.vcpus, "ram": flavor.memory_mib, **specs}
        has = {"vcpus": found.vcpus, "ram": found.ram, **(found.extra_specs or {})}
    # What an earlier experiment was placed by is no part of what a guest is.
    differing = [key for key, value in wanted.items() if has.get(key) != value]
    differing += [key for key in has.keys() - wanted.keys() if key.startswith("hw:")]
    if differing:
        raise OnboardError(
            f"the cloud has another flavor {name}",
            where="flavors of the experiment",
            observed=", ".join(f"{key}={has.get(key)} (not {wanted.get(key)})" for key in sorted(differing)),
            fix=f"give the experiment's flavor another name, or openstack flavor delete {name}",
        )
