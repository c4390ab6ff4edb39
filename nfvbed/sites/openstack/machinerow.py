"""A VNF of several machines in a row on a path of a cloud: each machine on its compute, with a network between two."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from openstack.connection import Connection

from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.cloud.tacker.api import OnboardRequest, VnfIdentity
from nfvbed.errors import InternalError, OnboardError, UnsupportedError
from nfvbed.sites.openstack import machineplaces, requests
from nfvbed.sites.openstack.images import GlanceImage
from nfvbed.sites.openstack.paths import PathNetworks
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.layout import Layout, chain_length
from nfvbed.spec.loader import Project
from nfvbed.spec.machines import DEFAULT_FLAVOUR, LinkSpec, MachinesVnfSpec
from nfvbed.spec.vnf import Forwarding, VnfChoice
from nfvbed.vnfs.descriptors.cloudimage import CloudImage
from nfvbed.vnfs.descriptors.machines.descriptor import DeploymentInputs, descriptor_of
from nfvbed.vnfs.descriptors.machines.placing import require_placed, spread
from nfvbed.vnfs.descriptors.model import VnfDescriptor


@dataclass(frozen=True)
class RowPlace:
    """The networks and computes of a row of machines."""

    networks: PathNetworks
    """Networks of the site's paths."""
    computes: tuple[str, ...] = ()
    """Computes of the variant; none: they are not known, and Nova alone places the machines."""
    zones: Mapping[str, str] = field(default_factory=dict)
    """Availability zones, by compute; a compute without one is not asked for."""
    inherits_port_security: bool = False
    """Whether the networks have no port security, and ports are to say nothing of it."""


class MachineRowVnf:
    """A VNF whose machines a frame passes one after the other."""

    def __init__(self, project: Project, choice: VnfChoice) -> None:
        found = project.load_vnf(choice.vnf.name)
        if not isinstance(found, MachinesVnfSpec) or choice.row is None or found.row != choice.row:
            raise InternalError(f"VNF {choice.vnf.name} is no row of machines", where=f"vnfd/{choice.vnf.name}/vnf.yml")
        self._project, self._vnf, self._row = project, found, choice.row
        self._forwarding: Forwarding = choice.forwarding

    @property
    def vnf(self) -> MachinesVnfSpec:
        """Its file."""
        return self._vnf

    @property
    def sizes(self) -> tuple[tuple[Flavor, int], ...]:
        """Each flavor, with the number of machines that have it."""
        counted = Counter(one.name for one in self.flavors.values())
        by_name = {one.name: one for one in self.flavors.values()}
        return tuple((by_name[name], number) for name, number in counted.items())

    @property
    def flavors(self) -> dict[str, Flavor]:
        """The flavor of each machine, in the order of the path."""
        return {name: self._project.load_flavor(self._vnf.machine(name).flavor) for name in self._row.machines}

    @property
    def tunnels(self) -> tuple[str, ...]:
        """Tunnels between its machines, as its file names them."""
        return self._row.tunnels

    def check(self, plan: Layout, place: RowPlace, site: str) -> None:
        """Refuse a path that it is not alone on, a network that the site does not have, and too few computes.

        Raises:
            UnsupportedError: with what there would have to be.
        """
        where = f"VNF {self._vnf.name} ({', '.join(self._row.machines)})"
        if chain_length(plan.name) != 1:
            raise UnsupportedError(
                f"topology {plan.name} has no VNF of several machines",
                where=where,
                observed="the networks between VNFs of a chain are those between its machines",
                fix="topology pvp",
            )
        for link in filter(None, self._row.links):
            if link not in place.networks.named:
                raise UnsupportedError(
                    f"site {site} has no network {link} for {where}",
                    where=f"links of vnfd/{self._vnf.name}/vnf.yml",
                    observed=f"there are {', '.join(place.networks.named) or 'none'}",
                    fix="name one of these; tunnels: a rack whose data planes all have VXLAN",
                )
        if place.computes:
            spread(self._vnf.placement, place.computes, self._vnf.name)

    def request(self, identity: VnfIdentity, place: RowPlace, image: GlanceImage, form: str) -> OnboardRequest:
        """Return the request to Tacker.

        Args:
            form: `legacy` or `sol`.
        """
        made = self.descriptor(place, image.described)
        found = requests.of_descriptor(identity, made, form, inherits_port_security=place.inherits_port_security)
        order = {self._point(port): number for number, port in enumerate(self._vnf.path)}
        return requests.in_order(found, order.__getitem__)

    def descriptor(self, place: RowPlace, image: CloudImage) -> VnfDescriptor:
        """Return its descriptor: each machine in the zone of its compute, where the site has such zones."""
        wanted = self._wanted(place)
        given = DeploymentInputs(
            flavors={name: self._project.load_flavor(name) for name in self._project.flavor_names},
            image=image,
            networks={one.name: network for one in self._vnf.links if (network := _network(one, place))},
            zones_of_machines={name: place.zones[host] for name, host in wanted.items() if host in place.zones},
            forwarding=self._forwarding,
        )
        return descriptor_of(self._vnf, given, (DEFAULT_FLAVOUR,))

    def in_order(
        self, connection: Connection, instances: Sequence[PlacedInstance], place: RowPlace
    ) -> dict[str, PlacedInstance]:
        """Return the instances of its machines in the order of the path, by the machines' names, with their two ports.

        Raises:
            OnboardError: one is missing, has other ports, or is on another compute than its group wants.
        """
        found = machineplaces.by_machine(connection, instances)
        lacking = [name for name in self._row.machines if name not in found]
        if lacking:
            raise OnboardError(
                f"no instance of VNF {self._vnf.name} is its machine {lacking[0]}",
                observed=", ".join(one.name for one in instances) or "it has none",
            )
        placed = {
            name: replace(found[name], ports=self._ports(name, found[name], place)) for name in self._row.machines
        }
        hosts = {name: one.host for name, one in placed.items()}
        wanted = {name: host for name, host in self._wanted(place).items() if host in place.zones}
        require_placed(self._vnf.placement, wanted, hosts, self._vnf.name)
        return placed

    def _wanted(self, place: RowPlace) -> dict[str, str]:
        return spread(self._vnf.placement, place.computes, self._vnf.name) if place.computes else {}

    def _ports(self, name: str, one: PlacedInstance, place: RowPlace) -> tuple[InstancePort, InstancePort]:
        links = [self._vnf.link_of(port) for port in self._vnf.path if port.partition(".")[0] == name]
        # A network that is made with the VNF is called after its link.
        networks = [_network(link, place) or f"{self._vnf.name}-{link.name}" for link in links]
        by_network = {port.network: port for port in one.ports}
        if not set(networks) <= by_network.keys():
            raise OnboardError(
                f"machine {name} of VNF {self._vnf.name} is not on its networks",
                where=f"instance {one.id}",
                observed=f"it is on {', '.join(by_network) or 'none'}, and has to be on {', '.join(networks)}",
            )
        first, last = (by_network[network] for network in networks)
        return first, last

    def _point(self, port: str) -> str:
        """Return the name of the connection point of a port, as descriptors have it."""
        return f"{port.partition('.')[0]}_{self._vnf.link_of(port).name}"


def _network(link: LinkSpec, place: RowPlace) -> str:
    """Return the cloud's network that a link is; empty: it is made with the VNF."""
    return place.networks.named.get(link.network, link.network) if link.network else ""
