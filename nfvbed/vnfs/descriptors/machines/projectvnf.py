"""A VNF of the project with several machines, onboarded by itself: its descriptor is written for its owner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nfvbed.cloud.tacker.api import OnboardRequest, VnfIdentity
from nfvbed.spec.machines import MachinesVnfSpec
from nfvbed.vnfs.descriptors import legacy, naming, written
from nfvbed.vnfs.descriptors.epa import Mismatch
from nfvbed.vnfs.descriptors.machines.descriptor import DeploymentInputs, descriptor_of
from nfvbed.vnfs.descriptors.model import Flavour, Machine, VnfDescriptor
from nfvbed.vnfs.descriptors.naming import CloudNames, NamedResource
from nfvbed.vnfs.descriptors.onboardable import Form, OnboardableVnf


@dataclass(frozen=True, kw_only=True)
class ProjectVnf(OnboardableVnf):
    """One deployment flavour of such a VNF."""

    vnf: MachinesVnfSpec
    flavour: str
    given: DeploymentInputs
    values: Mapping[str, Any] = field(default_factory=dict)
    """Template: of inputs. Package: additionalParams of the request."""

    @property
    def own_hot(self) -> bool:
        """Whether it has one: all of nfvbed's packages do."""
        return self.form is Form.PACKAGE

    def descriptor(self, owner: str = "", seed: str = "") -> VnfDescriptor:
        """Return the VNF's descriptor; without arguments it has no owner's id and no secret.

        Raises:
            ConfigurationError: a link, a placement group or the flavour is named that there is not.
            UnsupportedError: groups are to be apart in a way that Nova has no rule for.
        """
        made = descriptor_of(self.vnf, replace(self.given, seed=seed), (self.flavour,))
        if self.form is Form.TEMPLATE:
            machines = tuple(self._with_values(one) for one in made.only.machines)
            made = replace(made, flavours=(replace(made.only, machines=machines),))
        return replace(made, purpose=" ".join(filter(None, (owner, self.name)))) if owner else made

    def _with_values(self, one: Machine) -> Machine:
        """Return a machine with the values that are given for inputs of its template."""
        named = legacy.named(one)
        values = {key: str(self.values.get(legacy.input_name(key, one), name)) for key, name in named.items()}
        image = replace(one.image, name=values["image"])
        return replace(one, image=image, flavor=values["flavor"], zone=values.get("zone", ""))

    def deployed(self) -> Flavour:
        """Return its deployment flavour, with the places of its machines in its file."""
        flavour = self.descriptor().only
        return replace(flavour, machines=tuple(replace(one, places=self._places(one)) for one in flavour.machines))

    def names(self) -> Sequence[NamedResource]:
        """Return the images, flavors, zones and networks that it needs from the cloud."""
        flavour = self.descriptor().only
        found = [
            NamedResource(kind, name, self._places(one)[kind])
            for one in flavour.machines
            for kind, name in legacy.named(one).items()
        ]
        links = [one for one in flavour.links if not one.made]
        return [*found, *(NamedResource("network", one.network, f"{self.source} link {one.name}") for one in links)]

    def _places(self, one: Machine) -> dict[str, str]:
        return dict.fromkeys(legacy.named(one), f"{self.source} machine {one.name}")

    def lacking(self, known: CloudNames) -> list[Mismatch]:
        """Return the names that the cloud does not have; its image is uploaded before."""
        names = [one for one in self.names() if one.kind != "image" or self.image is None]
        return naming.lacking(names, known, "--network LINK=NAME, --param INPUT=NAME say what this cloud calls it")

    def request(self, owner: str, seed: str) -> OnboardRequest:
        """Return the request, with the owner's id and the secret in its descriptor."""
        identity, made = VnfIdentity(owner, self.name), self.descriptor(owner, seed)
        if self.form is Form.PACKAGE:
            return written.for_api(identity, made, "sol", parameters=self.values)
        return written.for_api(identity, made, "legacy", has_inputs=False)
