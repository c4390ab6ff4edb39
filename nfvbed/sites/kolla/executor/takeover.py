"""The access that Kolla's post-deploy writes, taken over under the site's name. Nothing of it is ever shown."""

import yaml

from nfvbed.cloud.devcloud.places import write_private
from nfvbed.errors import ConfigurationError, DeployError
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.spec import boundedyaml
from nfvbed.spec.textfile import read_text
from nfvbed.vnfs.descriptors.yamltext import dump

KOLLAS_NAME = "kolla-admin"
"""Name of the administrator's entry in Kolla's `clouds.yaml`."""


def take_over(places: RackPlaces, site: str) -> None:
    """Write a `clouds.yaml` with the administrator's entry under the site's name, for its owner alone.

    Raises:
        DeployError: Kolla has not written what is expected.
    """
    try:
        found = boundedyaml.load(read_text(places.kolla_clouds))
        entry = found["clouds"][KOLLAS_NAME]
        complete = isinstance(entry, dict) and {"auth_url", "password"} <= set(entry.get("auth", {}))
    except (ConfigurationError, yaml.YAMLError, KeyError, TypeError) as failure:
        raise _unexpected(places, type(failure).__name__) from None
    if not complete:
        raise _unexpected(places, "it has no auth_url and password")
    write_private(places.clouds, dump({"clouds": {site: entry}}))


def _unexpected(places: RackPlaces, observed: str) -> DeployError:
    return DeployError(
        f"the access to the cloud that was deployed is not in Kolla's file as {KOLLAS_NAME}",
        where=str(places.kolla_clouds),
        observed=observed,
        fix="the same command runs post-deploy again",
    )
