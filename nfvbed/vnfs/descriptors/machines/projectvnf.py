"""A VNF of the project, of several machines, that is onboarded by itself: its descriptor is written for its owner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nfvbed.spec.machines import MachinesVnfSpec
from nfvbed.vnfs.descriptors import legacy, naming, written
from nfvbed.vnfs.descriptors.asked import Asked, of_machine
from nfvbed.vnfs.descriptors.epa import Mismatch
from nfvbed.vnfs.descriptors.machines.descriptor import Given, descriptor_of
from nfvbed.vnfs.descriptors.model import Machine, VnfDescriptor
from nfvbed.vnfs.descriptors.naming import CloudNames, NamedThing
from nfvbed.vnfs.descriptors.onboardable import DescribedMachine, Form, Onboardable
from nfvbed.vnfs.descriptors.written import WrittenDescriptor


@dataclass(frozen=True, kw_only=True)
class ProjectVnf(Onboardable):
    """One deployment flavour of such a VNF."""

    vnf: MachinesVnfSpec
    flavour: str
    given: Given
    values: Mapping[str, Any] = field(default_factory=dict)
    """Template: of inputs. Package: additionalParams of the request."""

    @property
    def own_hot(self) -> bool:
        """Whether it has one: all of nfvbed's packages do."""
        return self.form is Form.PACKAGE

    def descriptor(self, owner: str = "", seed: str = "") -> VnfDescriptor:
        """Return its descriptor: with nobody's id and no secret, where these are not given.

        Raises:
            ConfigurationError: a link, a placement group or the flavour is named that there is not.
            UnsupportedError: groups are to be apart in a way that Nova has no rule for.
        """
        made = descriptor_of(self.vnf, replace(self.given, seed=seed), (self.flavour,))
        return replace(made, purpose=" ".join(filter(None, (owner, self.name)))) if owner else made

    def machines(self) -> Sequence[DescribedMachine]:
        """Return its virtual machines; sizes are their flavors' to have."""
        flavors = {one.where: one for one in self.names() if one.kind == "flavor"}
        return [
            DescribedMachine(one.name, Asked(vnics=of_machine(one).vnics), flavors.get(self._place(one)))
            for one in self.descriptor().only.machines
        ]

    def names(self) -> Sequence[NamedThing]:
        """Return images, flavors, zones and networks of the cloud; what is given for an input stands for it."""
        flavour = self.descriptor().only
        found = []
        for one in flavour.machines:
            named = {"image": one.image.name, "flavor": one.flavor_name, "zone": one.zone}
            for kind, name in named.items():
                value = self.values.get(legacy.input_name(kind, one), name)
                found += [NamedThing(kind, value, self._place(one))] if value and isinstance(value, str) else []
        links = [one for one in flavour.links if not one.made]
        return [*found, *(NamedThing("network", one.network, f"{self.source} link {one.name}") for one in links)]

    def lacking(self, known: CloudNames) -> list[Mismatch]:
        """Return what it names and the cloud does not have; its image it gets before."""
        names = [one for one in self.names() if one.kind != "image" or self.image is None]
        return naming.lacking(names, known, "--network LINK=NAME, --param INPUT=NAME say what this cloud calls it")

    def written(self, owner: str, seed: str) -> WrittenDescriptor:
        """Return its descriptor with the owner's id and the secret."""
        made = self.descriptor(owner, seed)
        if self.form is Form.PACKAGE:
            return written.for_api(made, "sol", parameters=self.values)
        return written.for_api(made, "legacy", inputs=self.values)

    def _place(self, machine: Machine) -> str:
        return f"{self.source} machine {machine.name}"
