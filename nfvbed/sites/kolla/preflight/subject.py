"""One machine as the checks see it: the part of the site's file, and the facts that were found."""

from dataclasses import dataclass

from nfvbed.cloud.kolla.placement import Placement
from nfvbed.cloud.kolla.plane import KollaPlane
from nfvbed.sites.kolla.preflight.facts import MachineFacts, NicFacts
from nfvbed.sites.kolla.preflight.finding import Finding
from nfvbed.spec.rack import RackHostSpec, RackNicSpec
from nfvbed.spec.site import KollaSiteSpec


@dataclass(frozen=True)
class Subject:
    """A machine, and what a variant needs of it."""

    site: KollaSiteSpec
    name: str
    spec: RackHostSpec
    facts: MachineFacts
    plane: KollaPlane
    """Data plane of the variant."""
    placement: Placement | None
    """Who has which core; None: it is no compute, or cannot have the variant."""

    def remark(self, what: str, key: str, observed: str, fix: str) -> Finding:
        """Return a finding that does not prevent a deployment; arguments as of `finding`."""
        return self.finding(what, key, observed, fix).model_copy(update={"stops": False})

    def finding(self, what: str, key: str, observed: str, fix: str, prepared_by: str = "") -> Finding:
        """Return a finding about this machine.

        Args:
            key: key in the machine's part of the site's file; empty: the whole part.
            prepared_by: name of the role that repairs it.
        """
        where = f"deploy/sites/{self.site.name}.yml hosts.{self.name}" + (f".{key}" if key else "")
        return Finding(machine=self.name, what=what, key=where, observed=observed, fix=fix, prepared_by=prepared_by)

    def polls(self, nic: RackNicSpec) -> bool:
        """Return whether DPDK takes a NIC: for the switch, or for the generator."""
        of_switch = self.spec.is_compute and self.plane.switch.is_on_dpdk
        return nic.role == "dpdk" and (of_switch or "generator" in self.spec.roles)

    def gives(self, nic: RackNicSpec) -> bool:
        """Return whether instances get virtual functions of a NIC."""
        return nic.functions > 0 and self.plane.has_functions and self.spec.is_compute

    def found(self, nic: RackNicSpec) -> tuple[NicFacts, ...]:
        """Return the ports that match a NIC of the file: exactly one, if all is well."""
        if nic.pci is not None:
            return tuple(port for port in self.facts.nics if port.pci == nic.pci)
        return tuple(port for port in self.facts.nics if port.mac == nic.mac and not port.is_function)

    def ports(self) -> tuple[tuple[int, RackNicSpec, NicFacts], ...]:
        """Return the NICs of the file that were found once, each with its place there."""
        pairs = [(place, nic, self.found(nic)) for place, nic in enumerate(self.spec.nics)]
        return tuple((place, nic, ports[0]) for place, nic, ports in pairs if len(ports) == 1)
