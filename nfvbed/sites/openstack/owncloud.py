"""The OpenStack that nfvbed runs itself, as deployments are set up on it."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from openstack.connection import Connection

from nfvbed.cloud.compute import Compute
from nfvbed.cloud.devcloud import access, contents, enable
from nfvbed.cloud.devcloud.cloud import DevCloud
from nfvbed.cloud.devcloud.lines import StageLines
from nfvbed.cloud.devcloud.rest import CloudApi
from nfvbed.cloud.devcloud.services.settings import Secrets
from nfvbed.cloud.devcloud.status import look
from nfvbed.cloud.novaflavor import PREFIX, extra_specs
from nfvbed.cloud.tacker import ownflavors, zones
from nfvbed.cloud.tacker.connection import connect
from nfvbed.dataplanes.devcloud import compute_of, computes
from nfvbed.errors import UnsupportedError
from nfvbed.records.findings import Finding, State
from nfvbed.sites.openstack.paths import OF_TWO_COMPUTES, OWN, PathNetworks
from nfvbed.sites.openstack.target import Target
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.variant import Variant
from nfvbed.vnfs.descriptors.naming import CloudNames


class OwnCloud(Target):
    """The devcloud of a project.

    Args:
        site: name of the site, for messages.
        computes: computes of a data plane, 1 or 2.
    """

    def __init__(self, cloud: DevCloud, site: str = "", computes: int = 1) -> None:
        self._cloud, self._site, self._computes = cloud, site, computes

    @property
    def folder(self) -> Path:
        """Gone with the cloud."""
        return self._cloud.places.run

    @cached_property
    def connection(self) -> Connection:
        """The connection as the administrator."""
        return connect(access.NAME, self._cloud.places.clouds)

    @property
    def networks(self) -> PathNetworks:
        """Those of one compute, or of two."""
        return OWN if self._computes == 1 else OF_TWO_COMPUTES

    def runs(self) -> bool:
        """Return whether its controller runs."""
        return self._cloud.find_node() is not None

    @property
    def contents(self) -> CloudNames:
        """What every start fills it with; no user's key is in it."""
        names = [PREFIX + flavor.name for flavor in (contents.SMALL, *self._cloud.flavors)]
        return CloudNames(
            networks=[network.name for network in contents.NETWORKS],
            flavors=names,
            images=[contents.CIRROS],
            keys=[],
            zones=[contents.ZONE],
            floating=[],
            subnets={network.name: [network.cidr] for network in contents.NETWORKS},
        )

    @property
    def flavor_specs(self) -> Mapping[str, Mapping[str, str]]:
        """Those of every flavor that it is filled with."""
        return {PREFIX + one.name: extra_specs(one) for one in (contents.SMALL, *self._cloud.flavors)}

    def bring_up(self) -> None:
        """Start the cloud, where not every process of it runs."""
        if not look(self._cloud).complete:
            self._cloud.start(StageLines())

    def provide_flavor(self, flavor: Flavor) -> None:
        """Make a flavor of an experiment that is missing; it is gone with the cloud."""
        ownflavors.provide(self.connection, flavor)

    def compute(self, variant: Variant) -> Compute:
        """Return the compute of the variant's data plane, the first one of two."""
        found = compute_of(variant, self._cloud)
        if self._computes > 1 and not found.second_host:
            raise UnsupportedError(
                f"{variant.name} has one compute on a devcloud",
                where=f"computes: {self._computes} of site {self._site}",
                observed=f"data plane {variant.options.dataplane} has no second one there",
                fix="a site with one compute a data plane, such as devcloud",
            )
        return found

    def no_made_networks(self, variant: Variant) -> str:
        """Return why the variant's compute binds no such ports."""
        return self.compute(variant).no_made_networks

    def computes_of(self, variant: Variant) -> tuple[str, ...]:
        """Return the one compute that has the variant."""
        return (self.compute(variant).host,)

    def computes_apart(self, variant: Variant) -> tuple[str, ...]:
        """Return both computes, where the site has two; the second takes only machines that are asked to be there."""
        found = self.compute(variant)
        return (found.host, found.second_host) if self._computes > 1 else (found.host,)

    def zones(self, variant: Variant) -> Mapping[str, str]:
        """Return a zone of both computes, which are enabled then; none where there is one."""
        hosts = self.computes_apart(variant)
        if len(hosts) == 1:
            return {}
        enable.only(self._api, *hosts)
        return zones.provide_zones(self.connection, hosts)

    def choose(self, compute: Compute) -> None:
        """Disable Nova's compute services of all other computes; a second compute is started, and disabled, too."""
        if self._computes > 1:
            self._cloud.start_compute(compute.second_host, StageLines(), self._cloud.guests_mib)
        enable.only(self._api, compute.host)

    @property
    def _api(self) -> CloudApi:
        return CloudApi(Secrets.open(self._cloud.places.secrets)("admin"))

    def stop(self) -> bool:
        """Take the whole cloud down."""
        return self._cloud.stop()

    def topics(self) -> tuple[Finding, ...]:
        """Return whether the cloud runs, what it takes, and which data planes have a compute."""
        found = look(self._cloud)
        state = State.PRESENT if found.complete else State.LIMITED if found.running else State.ABSENT
        runs = f"runs: {len(found.services)} processes, {found.memory_mib} MiB" if found.running else "does not run"
        if found.running and found.missing:
            runs += f"; missing: {', '.join(found.missing)}"
        root = f"{len(found.differences)} are not of the tested set" if self._cloud.root.ready() else "not unpacked yet"
        return (
            Finding(topic="cloud", state=state, summary=runs, probed="asked it", fix="make devcloud"),
            Finding(topic="packages", state=State.PRESENT, summary=root, probed="read"),
            Finding(topic="computes", state=State.PRESENT, summary=", ".join(computes()), probed="read"),
        )
