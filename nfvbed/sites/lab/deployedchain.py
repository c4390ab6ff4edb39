"""The path of a deployment that stays in the lab: reordered while it runs, given another length by redeploying."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from nfvbed.dataplanes.wiring import require_path
from nfvbed.errors import UnsupportedError
from nfvbed.records import Deployment
from nfvbed.signals import signals_held
from nfvbed.sites.deployedchain import DeployedChain
from nfvbed.sites.lab.lifecycle import EarlierDeployment
from nfvbed.sites.site import Site
from nfvbed.spec.layout import chain_length, chains, layout

ADDRESSED = ("mac", "router")
"""Ways of forwarding that write the next hop's address into frames: a VNF was given it when it was started."""


@dataclass(frozen=True)
class LabChain(DeployedChain):
    """The path of a deployment in the lab; a change is recorded beside the deployment once it is in force."""

    place: Site
    left: EarlierDeployment
    probe: Callable[[Deployment], None]
    """Sends frames through a deployment; raises where none come through."""

    @property
    def fixed(self) -> str:
        """Why the order cannot be changed: the path, the VNFs, or the data plane."""
        plan, forwarding = layout(self.deployment.topology), self.left.vnfs.choice.forwarding
        if plan.one_way:
            return "its VNFs are ends of the path"
        if plan.ways > 1:
            return "its VNFs are side by side, each with a share of the flows: there is no order"
        if plan.vnfs == 1:
            return "it has one VNF"
        if forwarding in ADDRESSED:
            return f"its VNFs forward as {forwarding}: each was given the address behind it when it was started"
        return self.control.fixed

    @property
    def lengths(self) -> tuple[int, ...]:
        """Chains that the variant offers, but for the one that runs."""
        variant, have = self.left.remembered.variant, chain_length(self.deployment.topology)
        offered = (length for length, name in enumerate(chains(), 1) if not variant.lacks(name))
        return tuple(length for length in offered if length != have)

    def apply(self, order: tuple[int, ...]) -> Deployment:
        """Change the order and send frames through; where none come through, and at Ctrl-C, it is changed back."""
        self.require_free()
        self.place.verify(self.deployment)
        try:
            changed = self._join(order)
            self.probe(changed)
        except BaseException:
            # Ctrl-C as well: an order that is not proven does not stay.
            self._join(self.deployment.order or tuple(range(len(order))))
            raise
        return changed

    def _join(self, order: tuple[int, ...]) -> Deployment:
        """Put an order into force and record it: both or neither, whatever signal comes."""
        in_force = order if order != tuple(range(len(order))) else ()
        kept = self.left.remembered
        with signals_held():
            self.control.apply(order)
            replace(kept, deployment=kept.deployment.model_copy(update={"order": in_force})).save()
        return self.deployment.model_copy(update={"order": in_force})

    def foresee(self, length: int) -> str:
        """Check the topology, and probe its VNFs."""
        have = self.deployment
        if length not in self.lengths:
            raise UnsupportedError(
                f"{have.variant} ({have.topology}) cannot be set up as a chain of {length} VNFs",
                where=have.run_directory,
                observed=f"it has this length, or {have.variant} does not offer it",
                fix=f"choose one of {', '.join(map(str, self.lengths)) or 'none'}",
            )
        topology, choice = chains()[length - 1], self.left.vnfs.choice
        require_path(self.left.remembered.variant, topology, choice)
        self.place.check(topology, choice)
        return (
            f"{have.variant} ({have.topology}) is taken down and set up again as {topology}: its {len(have.vnfs)} VNFs "
            f"end, {length} are started, all counters begin at 0, and no frame comes through meanwhile"
        )

    def redeploy(self, length: int, tell: Callable[[str], None]) -> Deployment:
        """Set the data plane up again with ports for so many VNFs, all of which it makes before one starts."""
        tell(self.foresee(length))
        self.place.destroy(self.deployment)
        self.left.take_down()
        return self.place.deploy_to_stay(self.left.remembered.variant, chains()[length - 1], self.left.vnfs.choice)[0]
