"""An existing path: its instances in order, with the ports by which frames come in and go out."""

from typing import Any

from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.sites.openstack.existing.survey import ADMIN, Survey
from nfvbed.spec.existing import ExistingPathSpec
from nfvbed.spec.site import CloudSiteSpec


class ExistingPath:
    """The path that the key `existing` of a site's file describes."""

    def __init__(self, spec: CloudSiteSpec, survey: Survey) -> None:
        self._spec = spec
        self._survey = survey

    @property
    def _path(self) -> ExistingPathSpec:
        if self._spec.existing is None:
            return ExistingPathSpec()
        return self._spec.existing

    def require(self) -> None:
        """Make sure that the instances run, and that nothing that can be read drops what they forward.

        Raises:
            PrerequisiteError: an instance or a port is not there.
            UnsupportedError: port security is on at a port.
        """
        for instance in self.instances():
            for port in instance.ports:
                self._require_open(port.id, f"instance {instance.name}, network {port.network}")
        for name in self._path.ports or ():
            self._require_open(name, "existing.ports")

    def instances(self) -> tuple[PlacedInstance, ...]:
        """Return the instances in the order of the path, each with its two ports on it; none where none is named.

        Raises:
            PrerequisiteError: one is not there, does not run, or is not on the path's networks.
        """
        servers = [self._survey.server(name) for name in self._path.instances]
        ports = [self._survey.ports(device_id=str(server.id)) for server in servers]
        if not servers:
            return ()
        line = self._networks(servers, ports)
        return tuple(
            PlacedInstance(
                str(server.id),
                str(server.name),
                str(server.compute_host or ""),
                tuple(self._port(server, listed, network) for network in line[place : place + 2]),
            )
            for place, (server, listed) in enumerate(zip(servers, ports, strict=True))
        )

    def end_macs(self) -> tuple[str, str] | None:
        """Return Neutron's addresses of the first and last port; None: the file names neither ports nor instances."""
        if self._path.ports:
            first, last = (str(self._survey.port(name).mac_address) for name in self._path.ports)
            return first, last
        instances = self.instances()
        return (instances[0].ports[0].mac, instances[-1].ports[1].mac) if instances else None

    def shown(self) -> str:
        """Return the path as a text."""
        self.require()
        named = ", ".join(one.name for one in self.instances()) or "instances that the file does not name"
        return f"{self._path.topology} through {named}"

    def _networks(self, servers: list[Any], ports: list[list[Any]]) -> list[str]:
        """Return the ids of the networks of the path, one more than instances."""
        first, last, *links = (str(one.id) for one in self._survey.networks())
        if not links:
            links = [self._joining(servers, ports, place) for place in range(len(servers) - 1)]
        if len(links) != len(servers) - 1:
            raise PrerequisiteError(
                f"links names {len(links)} networks between {len(servers)} instances",
                where=f"links of site {self._spec.name}",
                fix=f"name {len(servers) - 1}, or none: then it is the one that both neighbours are on",
            )
        return [first, *links, last]

    def _joining(self, servers: list[Any], ports: list[list[Any]], place: int) -> str:
        """Return the network that joins an instance to the next one, and is no end of the path."""
        outside = {str(one.id) for one in self._survey.networks()[:2]}
        near, far = ({str(port.network_id) for port in ports[number]} - outside for number in (place, place + 1))
        both = sorted(near & far)
        if len(both) != 1:
            raise PrerequisiteError(
                f"it is not clear which network joins {servers[place].name} and {servers[place + 1].name}",
                where=f"existing.instances of site {self._spec.name}",
                observed=f"both are on {', '.join(both) or 'none but the ends of the path'}",
                fix="name the networks between instances: links",
            )
        return both[0]

    def _port(self, server: Any, listed: list[Any], network: str) -> InstancePort:
        names = {str(one.id): str(one.name) for one in self._survey.networks()}
        found = [port for port in listed if str(port.network_id) == network]
        if len(found) != 1:
            on = ", ".join(names.get(str(port.network_id), str(port.network_id)) for port in listed)
            raise PrerequisiteError(
                f"instance {server.name} has {len(found)} ports on network {names.get(network, network)}",
                where=f"existing.instances of site {self._spec.name}",
                observed=f"its ports are on {on or 'no network that is shown'}",
                fix="name instances in the order of the path, from the first of networks to the last",
            )
        return InstancePort(str(found[0].id), names.get(network, network), str(found[0].mac_address))

    def _require_open(self, name: str, where: str) -> None:
        """Refuse a port whose security drops foreign addresses; where it allows some, the frames decide."""
        port = self._survey.port(name)
        if port.is_port_security_enabled and not port.allowed_address_pairs:
            raise UnsupportedError(
                "a port of the path has port security",
                where=f"{where}, port {port.id}",
                observed="Neutron drops every frame with another address than the port's own: what an instance forwards"
                " does not leave it",
                fix=f"openstack port set --no-security-group --disable-port-security {port.id} (its network's owner, or"
                f" the role `{ADMIN}`): then nothing filters what comes and goes by it",
            )
