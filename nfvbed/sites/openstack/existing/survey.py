"""Examines an existing cloud with a project's credentials: whether it has what a path needs, before anything begins.

Nothing is changed. What is refused to these credentials is named with the role that it takes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import openstack.connection
from keystoneauth1 import exceptions as keystone
from openstack import exceptions as sdk

from nfvbed.cloud.tacker.connection import asking, auth, said
from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.spec.site import CloudSiteSpec
from nfvbed.spec.validate import suggestion

ADMIN = "admin"
_READ = "the role `reader` or `member` in this project"
_FOR_ALL = ("compute", "network")
_FOR_TACKER = ("image", "orchestration", "nfv-orchestration")


@dataclass(frozen=True)
class Identity:
    """The owner of the credentials, as Keystone says."""

    project: str
    """Id."""
    project_name: str
    roles: tuple[str, ...]

    @property
    def is_admin(self) -> bool:
        """Whether they are an administrator's."""
        return ADMIN in self.roles


class Survey:
    """One survey of a site's cloud; what was read once is kept.

    Args:
        connection: connection with the credentials of `clouds.yaml`.
    """

    def __init__(self, spec: CloudSiteSpec, connection: openstack.connection.Connection) -> None:
        self._spec = spec
        self._connection = connection

    @cached_property
    def identity(self) -> Identity:
        """The owner of these credentials.

        Raises:
            PrerequisiteError: Keystone does not answer, does not let them in, or they are of no project.
        """
        session: Any = self._connection.session
        where = f"cloud {self._spec.os_cloud}, {auth(self._connection).get('auth_url', 'no auth_url')}"
        try:
            access = session.auth.get_access(session)
        except keystone.Unauthorized as failure:
            raise PrerequisiteError(
                f"cloud {self._spec.os_cloud} does not let these credentials in",
                where=where,
                observed=said(failure),
                fix="correct user, password and project in clouds.yaml (openstack token issue); an application"
                " credential may have expired",
            ) from None
        except (keystone.ClientException, sdk.SDKException) as failure:
            raise PrerequisiteError(
                f"cloud {self._spec.os_cloud} does not answer",
                where=where,
                observed=said(failure),
                fix="see whether auth_url in clouds.yaml is right and can be reached from this machine",
            ) from None
        if access.project_id is None:
            raise PrerequisiteError(
                f"the credentials for cloud {self._spec.os_cloud} are of no project",
                where=where,
                observed="Keystone's token has no project",
                fix="name one in clouds.yaml: project_name",
            )
        return Identity(str(access.project_id), str(access.project_name), tuple(sorted(access.role_names)))

    def require_services(self) -> tuple[str, ...]:
        """Return the services that the site needs.

        Raises:
            PrerequisiteError: the catalogue of this region has not all of them.
        """
        project = self.identity.project_name
        wanted = _FOR_ALL if self._spec.onboarding == "none" else (*_FOR_ALL, *_FOR_TACKER)
        with asking("Keystone's catalogue"):
            missing = [name for name in wanted if not self._connection.endpoint_for(name)]
        if missing:
            region = self._connection.config.get_region_name() or "any"
            raise PrerequisiteError(
                f"cloud {self._spec.os_cloud} has no service of type {', '.join(missing)}",
                where=f"Keystone's catalogue for project {project}, region {region}",
                observed=f"the site needs {', '.join(wanted)}",
                fix="another region (key region), another cloud"
                + ("" if self._spec.onboarding == "none" else "; without Tacker: onboarding: none"),
            )
        return wanted

    def networks(self) -> tuple[Any, ...]:
        """Return the networks of the site's file from Neutron: the outside ones, then those between VNFs.

        Raises:
            PrerequisiteError: one is not there, or not visible to this project.
        """
        return self._networks

    @cached_property
    def _networks(self) -> tuple[Any, ...]:
        keys = [f"networks[{place}]" for place in range(2)] + [f"links[{n}]" for n in range(len(self._spec.links))]
        names = (*self._spec.networks, *self._spec.links)
        return tuple(self._network(key, name) for key, name in zip(keys, names, strict=True))

    def _network(self, key: str, name: str) -> Any:
        with asking(f"network {name}", _READ):
            try:
                found = self._connection.network.find_network(name, ignore_missing=True)
            except sdk.DuplicateResource:
                raise PrerequisiteError(
                    f"several networks are called {name}", where=key, fix="name it by its id (openstack network list)"
                ) from None
            seen = [] if found is not None else sorted(str(one.name) for one in self._connection.network.networks())
        if found is None:
            raise PrerequisiteError(
                f"network {name} is not there, or not visible to project {self.identity.project_name}",
                where=f"{key} of site {self._spec.name}",
                observed=f"it sees {', '.join(seen) or 'no network'}",
                fix=f"{suggestion(name, seen)}; another project's is seen when its owner, or the role `{ADMIN}`, shares"
                f" it: openstack network rbac create --type network --action access_as_shared --target-project"
                f" {self.identity.project} {name}",
            )
        return found

    def require_ports_without_security(self) -> bool:
        """Make sure that ports can be without port security, which drops what a VNF forwards.

        Returns:
            Whether the networks have none themselves, so that ports need to say nothing of it.

        Raises:
            UnsupportedError: it is on, and these credentials cannot turn it off.
        """
        secured = [one for one in self.networks() if one.is_port_security_enabled]
        foreign = [str(one.name) for one in secured if str(one.project_id) != self.identity.project]
        if foreign and not self.identity.is_admin:
            raise UnsupportedError(
                f"ports on {', '.join(foreign)} cannot be without port security",
                where=f"networks of site {self._spec.name}",
                observed="Neutron would drop every frame that a VNF forwards; these networks have port security, and"
                f" are another project's (roles here: {', '.join(self.identity.roles)})",
                fix=f"the role `{ADMIN}`; or let their owner take it off (openstack network set --disable-port-security"
                " NETWORK: then nothing filters what its new ports send); or networks of this project",
            )
        return not secured

    def ports(self, **query: str) -> list[Any]:
        """Return Neutron's ports that a query names.

        Raises:
            UnsupportedError, OnboardError: Neutron refuses, or does not answer.
        """
        with asking("the list of ports", _READ):
            return list(self._connection.network.ports(**query))

    def port(self, name: str) -> Any:
        """Return a port by its name or id.

        Raises:
            PrerequisiteError: it is not there, or not this project's.
        """
        with asking(f"port {name}", _READ):
            found = self._connection.network.find_port(name, ignore_missing=True)
        if found is None:
            raise PrerequisiteError(
                f"port {name} is not there, or not one of project {self.identity.project_name}",
                where=f"existing.ports of site {self._spec.name}",
                fix=f"name one that openstack port list shows; another project's takes the role `{ADMIN}`",
            )
        return found

    def server(self, name: str) -> Any:
        """Return an instance by its name or id.

        Raises:
            PrerequisiteError: it is not there, not this project's, or does not run.
        """
        with asking(f"instance {name}", _READ):
            compute = self._connection.compute
            try:
                found = compute.find_server(name, ignore_missing=True)
            except sdk.DuplicateResource:
                raise PrerequisiteError(
                    f"several instances are called {name}",
                    where=f"existing.instances of site {self._spec.name}",
                    fix="name it by its id (openstack server list)",
                ) from None
            seen = [] if found is not None else sorted(str(one.name) for one in compute.servers())
        if found is None:
            raise PrerequisiteError(
                f"instance {name} is not there, or not one of project {self.identity.project_name}",
                where=f"existing.instances of site {self._spec.name}",
                observed=f"it has {', '.join(seen) or 'no instance'}",
                fix=f"{suggestion(name, seen)}; another project's are seen with that project's credentials",
            )
        if found.status != "ACTIVE":
            raise PrerequisiteError(
                f"instance {name} does not run",
                where=str(found.id),
                observed=f"Nova says {found.status}",
                fix=f"openstack server start {name}",
            )
        return found

    def lacking_quota(self, needed: dict[str, int]) -> Iterator[str]:
        """Yield what exceeds the project's quota in Nova.

        Args:
            needed: `instances`, `total_cores`, `total_ram` (MiB).
        """
        with asking("Nova's limits of this project", _READ):
            limits = self._connection.compute.get_limits().absolute
        for name, count in needed.items():
            most, used = getattr(limits, name), getattr(limits, f"{name}_used")
            if most is not None and most >= 0 and used + count > most:
                yield f"{name.removeprefix('total_')}: {used} of {most} are used, {count} more are needed"

    def flavor(self, name: str) -> Any | None:
        """Return a flavor; None: this project sees none of that name."""
        with asking(f"flavor {name}", _READ):
            return self._connection.compute.find_flavor(name, ignore_missing=True)
