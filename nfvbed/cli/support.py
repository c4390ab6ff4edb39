"""Whether this host can run what a command is about to set up, and whether what stands is that."""

from nfvbed.dataplanes.wiring import on_path, vnf_port_kind
from nfvbed.sites.lab.onboarding import OnboardingSite
from nfvbed.sites.lab.standing import Standing, find_standing
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs import standing as standing_vnfs


def require_host(lab: OnboardingSite, variant: Variant) -> None:
    """Probe a variant before it is set up: what a host lacks is told as such, not as a deployment that failed.

    What stands shows that the host can, and is not disturbed by a probe; whether it is the right one, `deploy` says.

    Raises:
        UnsupportedError, PrerequisiteError: this host cannot run it; with the probe's reason and fix.
        BusyError: another nfvbed is at work.
    """
    lab.begin()
    if find_standing() is None:
        lab.require(variant)


def require_same(standing: Standing, wanted: Variant, topology: str, choice: VnfChoice | None) -> None:
    """Refuse, in a dry run, what a deployment would refuse to take as it stands.

    Raises:
        BusyError: another variant, topology or kind of VNF ports stands.
        OnboardError: another VNF stands on it.
    """
    kind = None if choice is None else vnf_port_kind(wanted, on_path(layout(topology), choice))
    if not standing.is_same(wanted, topology, kind):
        raise standing.in_the_way(wanted.name)
    vnfs = standing_vnfs.find(standing.deployment)
    if choice is not None and vnfs is not None:
        standing_vnfs.require_same(standing.deployment, vnfs, choice)
