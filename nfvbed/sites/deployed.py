"""A deployment that a command left on a site, as the next command finds it."""

from dataclasses import dataclass

from nfvbed.dataplanes.wiring import on_path, vnf_port_kind
from nfvbed.errors import BusyError, DeployError
from nfvbed.records import Deployment, PortKind
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs import onboarded


def not_readable(where: str, failure: Exception) -> DeployError:
    """Return the error for records of a deployment that cannot be read; it is removed all the same."""
    return DeployError(
        "what was written down of a deployment cannot be read",
        where=where,
        observed=f"{type(failure).__name__}: {failure}",
        fix="another version of nfvbed deployed it: nfvbed destroy --all, with the site",
    )


@dataclass(frozen=True)
class InstancePlacement:
    """The place of a VNF that is an instance of a cloud."""

    hosts: tuple[str, ...]
    """The computes: several of a VNF of several machines."""
    instances: tuple[str, ...]
    """Nova's ids."""
    stack: str
    """Heat's id; empty: it has none, or it is not known."""
    tacker_api: str
    """Which of Tacker's APIs onboarded it, or `existing`."""
    tacker_id: str
    """There; empty: Tacker does not have it."""


@dataclass(frozen=True)
class DeploymentRecord:
    """The record of a deployment, as it was deployed."""

    deployment: Deployment
    variant: Variant
    vnf: VnfChoice | None
    """What its VNFs are; None where none were onboarded."""
    where: str
    """The place at which the site keeps it."""
    since: str
    """When and by whom it was deployed."""
    computes: tuple[str, ...] = ()
    """Computes of a cloud that it uses; none: it is on this host, or they are not known."""
    placed: tuple[InstancePlacement, ...] = ()
    """Its VNFs, in the order of the path, where they are instances of a cloud."""
    freed_by: str = "nfvbed destroy"
    """Command that makes room for another deployment: on a cloud that one which removes the VNFs is enough."""

    def is_same(self, variant: Variant, topology: str, vnf_kind: PortKind | None = None) -> bool:
        """Return whether the deployment is the one that is asked for, options included.

        Args:
            vnf_kind: kind of ports that its VNFs want; None: there are no VNFs, or any kind will do. Ports of a cloud
                that is not looked into match any kind: Neutron chose them.
        """
        kinds = {port.kind for ports in self.deployment.vnf_ports for port in ports} - {PortKind.NEUTRON}
        fits = vnf_kind is None or kinds <= {vnf_kind}
        return self.variant == variant and self.deployment.topology == topology and fits

    def adapted(self, wanted: Variant) -> Variant:
        """Return the wanted variant, with ports of the deployed MTU where it is the same otherwise."""
        return wanted.carrying(self.variant.mtu) if self.variant.carrying(wanted.mtu) == wanted else wanted

    def in_the_way(self, wanted: str) -> BusyError:
        """Return the error for a deployment that is there where something else is wanted."""
        if self.vnf is not None:
            what = f"{self.deployment.variant} ({self.deployment.topology}, {self.vnf.vnf.name})"
        else:
            what = self.deployment.variant
        return BusyError(
            f"{wanted} cannot be deployed: {what} is deployed on {self.place}",
            where=self.where,
            observed=f"deployed since {self.since}, with ports of MTU {self.variant.mtu}",
            fix=f"{self.freed_by}, then again",
        )

    @property
    def place(self) -> str:
        """Where it is, in words."""
        return f"site {self.deployment.site}" if self.placed or self.computes else "this host"

    def require_same(self, wanted: Variant, topology: str, choice: VnfChoice | None) -> None:
        """Refuse, in a dry run, what a deployment would refuse to take over.

        Raises:
            BusyError: another variant, topology or kind of VNF ports is deployed.
            OnboardError: another VNF is running on it.
        """
        kind = None if choice is None else vnf_port_kind(wanted, on_path(layout(topology), choice))
        if not self.is_same(wanted, topology, kind):
            raise self.in_the_way(wanted.name)
        if choice is not None and self.vnf is not None:
            onboarded.require_same(self.deployment, self.vnf, choice, freed_by=self.freed_by)

    def require_room(self, wanted: Variant, topology: str) -> None:
        """Refuse to onboard where another data plane is deployed, or this one with other VNFs' ports.

        Raises:
            BusyError: it does.
        """
        same = self.variant == wanted
        if not same or (self.deployment.topology != topology and self.deployment.vnf_ports):
            raise self.in_the_way(f"{wanted.name} ({topology})")
