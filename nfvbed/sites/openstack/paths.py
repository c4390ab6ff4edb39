"""The layout of a topology in a cloud: the networks of each VNF's ports."""

from dataclasses import dataclass, replace

from nfvbed.cloud.instances import DATA_NETWORKS, LINK_NETWORK, MANAGEMENT_NETWORK, TUNNEL_NETWORK, VLAN_NETWORK
from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.records import Deployment, VnfKind
from nfvbed.spec.layout import Layout, chain_length
from nfvbed.spec.site import DEVCLOUD_LINKS
from nfvbed.spec.vnf import VnfChoice

SIDE_BY_SIDE = 2
"""Instances of a VNF side by side, at most."""
_READDRESSES = "mac"
BARE = "p2p"
"""The topology of a data plane that is deployed without VNFs; there is no path on it."""


@dataclass(frozen=True)
class PathNetworks:
    """The networks of a cloud that paths lie on, by name or id."""

    outside: tuple[str, str]
    """At the generator's two ports."""
    links: tuple[str, ...]
    """Between VNFs of a chain, in its order."""
    tunnels: tuple[str, ...] = ()
    """Tunnels between computes, for machines of one VNF."""
    management: str = ""
    """On which Tacker reaches VNFs; empty: it is not known."""

    @property
    def named(self) -> dict[str, str]:
        """Names or ids of all, by the words that files of VNFs have for them: `data0`, `link1`, `tunnel1`."""
        found = dict(zip(DATA_NETWORKS, self.outside, strict=True))
        found |= {LINK_NETWORK.format(place): name for place, name in enumerate(self.links, 1)}
        return found | {TUNNEL_NETWORK.format(place): name for place, name in enumerate(self.tunnels, 1)}

    @property
    def longest(self) -> int:
        """VNFs of the longest chain."""
        return len(self.links) + 1


OWN = PathNetworks(
    DATA_NETWORKS,
    tuple(LINK_NETWORK.format(number + 1) for number in range(DEVCLOUD_LINKS)),
    management=MANAGEMENT_NETWORK,
)
"""Those of a devcloud."""
OF_TWO_COMPUTES = replace(OWN, links=tuple(VLAN_NETWORK.format(number + 1) for number in range(DEVCLOUD_LINKS)))
"""Those of a devcloud with two computes of a data plane: what is between VNFs reaches both."""


def networks_of(plan: Layout, networks: PathNetworks = OWN) -> tuple[tuple[str, str], ...]:
    """Return the two networks of each VNF, in the order of the path."""
    line = [networks.outside[0], *networks.links[: plan.vnfs - 1], networks.outside[1]]
    return tuple((line[index], line[index + 1]) for index in range(plan.vnfs))


def check(plan: Layout, choice: VnfChoice | None, site: str, networks: PathNetworks = OWN) -> None:
    """Make sure that a cloud supports such a path, and such VNFs.

    Raises:
        UnsupportedError: it has not.
    """
    require_chain(plan, choice, site, networks.outside)
    if plan.vnfs > networks.longest:
        raise UnsupportedError(
            f"a chain of {plan.vnfs} VNFs is too long for site {site}",
            where=plan.name,
            observed=f"{len(networks.links)} networks join VNFs there",
            fix=f"choose a chain of at most {networks.longest} VNFs",
        )
    if choice is None:
        return
    check_vnf(choice, site)
    if choice.vnf.is_managed and not networks.management:
        raise UnsupportedError(
            f"{choice.vnf.name} has a management port, and site {site} no network for it",
            where=f"ports of vnfd/{choice.vnf.name}/vnf.yml",
            observed=f"networks there: {', '.join(networks.named.values())}",
            fix="a VNF without a management port; or site devcloud",
        )


def require_chain(plan: Layout, choice: VnfChoice | None, site: str, outside: tuple[str, str]) -> None:
    """Make sure that a path is a chain of VNFs from one network to the other.

    Raises:
        UnsupportedError: it does not.
    """
    if chain_length(plan.name) is None or choice is None:
        first, last = outside
        raise UnsupportedError(
            f"topology {plan.name} has no path on site {site}",
            where=plan.name,
            observed=f"{first} and {last} are two networks: a VNF that follows another one, or is alone, joins them",
            fix="choose pvp or pvvp",
        )


def most_instances(plan: Layout, choice: VnfChoice) -> int:
    """Return up to how many instances of a path's VNF can be side by side between the same two networks.

    One that gives frames the addresses of its own and of a fixed peer is no loop beside another one: where a switch
    knows both addresses, nothing that it sends comes to the other.
    """
    is_alone = plan.vnfs == 1 and choice.vnf.monitoring is None
    return SIDE_BY_SIDE if is_alone and choice.forwarding == _READDRESSES else 1


def refuse_scaling(deployment: Deployment, vnfs: int, site: str, outside: tuple[str, str]) -> UnsupportedError:
    """Return the error for VNFs side by side: Tacker does not scale what forwards between two networks."""
    return UnsupportedError(
        f"VNFs on site {site} are not scaled",
        where=f"{deployment.variant} ({deployment.topology}) to {vnfs} VNFs",
        observed=f"two VNFs that forward between the same two networks, {outside[0]} and {outside[1]}, are a loop",
        fix="nfvbed offboard, then onboard a chain (--topology pvvp); VNFs side by side: site lab",
    )


def refuse_path(plan: Layout, site: str, only: str) -> UnsupportedError:
    """Return the error for another path than the one that is there."""
    return UnsupportedError(
        f"topology {plan.name} has no path on site {site}",
        where=plan.name,
        observed=f"its file describes {only}, which is there already",
        fix=f"topology {only}; or describe another path (key existing)",
    )


def check_vnf(choice: VnfChoice, site: str) -> None:
    """Make sure that Nova can run a VNF.

    Raises:
        UnsupportedError: it is no virtual machine; or it wants a port that is no network's, or other queues than Nova
            gives it.
        OnboardError: it has no image.
    """
    if choice.kind is not VnfKind.VM:
        raise refuse_kind(choice, site, "Nova runs virtual machines alone", "kind: vm (--kind vm)")
    if choice.image is None:
        raise OnboardError(
            f"{choice.vnf.name} has no image", where=f"vnfd/{choice.vnf.name}/vnf.yml", fix="declare image"
        )
    flavor = choice.flavor
    if flavor.queues not in (1, flavor.vcpus):
        # nova.virt.libvirt.vif, _get_virtio_mq_settings.
        raise UnsupportedError(
            f"Nova gives a port of flavor {flavor.name} as many queues as it has vCPUs, or one",
            where=f"{choice.vnf.name} ({choice.label})",
            observed=f"{flavor.queues} queues, {flavor.vcpus} vCPUs",
            fix=f"queues: {flavor.vcpus} (GUEST_NIC_QUEUES of VSPERF), or 1; or site lab",
        )


def refuse_kind(choice: VnfChoice, site: str, observed: str, fix: str) -> UnsupportedError:
    """Return the error for a kind of VNF that does not run on a site, whatever the data plane."""
    failure = UnsupportedError(
        f"a VNF of kind {choice.kind.value} does not run on site {site}",
        where=f"{choice.vnf.name} ({choice.label})",
        observed=observed,
        fix=fix,
    )
    failure.of_vnf = True
    return failure
