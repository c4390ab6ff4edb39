"""How a topology lies in a cloud: which networks the ports of each VNF are on."""

from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.records import VnfKind
from nfvbed.sites.openstack.instances import DATA_NETWORKS, LINK_NETWORK
from nfvbed.spec.layout import Layout, chain_length
from nfvbed.spec.vnf import VnfChoice

LONGEST = 3
"""VNFs of the longest chain: there are two networks between VNFs."""
BARE = "p2p"
"""The topology of a data plane that is deployed without VNFs; there is no path on it."""


def networks_of(plan: Layout) -> tuple[tuple[str, str], ...]:
    """Return the two networks of each VNF, in the order of the path."""
    inner = [LINK_NETWORK.format(number) for number in range(1, plan.vnfs)]
    line = [DATA_NETWORKS[0], *inner, DATA_NETWORKS[1]]
    return tuple((line[index], line[index + 1]) for index in range(plan.vnfs))


def check(plan: Layout, choice: VnfChoice | None, site: str) -> None:
    """Make sure that a cloud has such a path, and such VNFs.

    Raises:
        UnsupportedError: it has not.
    """
    length = chain_length(plan.name)
    if length is None or choice is None:
        raise UnsupportedError(
            f"topology {plan.name} has no path on site {site}",
            where=plan.name,
            observed="data0 and data1 are two networks: a VNF that follows another one, or is alone, joins them",
            fix="choose pvp or pvvp",
        )
    if length > LONGEST:
        raise UnsupportedError(
            f"a chain of {length} VNFs is too long for site {site}",
            where=plan.name,
            observed=f"{LONGEST - 1} networks join VNFs there",
            fix=f"choose a chain of at most {LONGEST} VNFs",
        )
    check_vnf(choice, site)


def check_vnf(choice: VnfChoice, site: str) -> None:
    """Make sure that Nova can run a VNF.

    Raises:
        UnsupportedError: it is no virtual machine; or it wants a port that is no network's.
        OnboardError: it has no image.
    """
    if choice.kind is not VnfKind.VM:
        failure = UnsupportedError(
            f"a VNF of kind {choice.kind.value} does not run on site {site}",
            where=f"{choice.vnf.name} ({choice.label})",
            observed="Nova runs virtual machines alone",
            fix="kind: vm (--kind vm)",
        )
        failure.of_vnf = True
        raise failure
    if choice.image is None:
        raise OnboardError(
            f"{choice.vnf.name} has no image", where=f"vnfd/{choice.vnf.name}/vnf.yml", fix="declare image"
        )
