"""The compute of an existing cloud, which nfvbed neither sets up nor sees."""

from collections.abc import Callable, Sequence

from nfvbed.cloud.compute import Compute
from nfvbed.cloud.instances import PlacedInstance
from nfvbed.dataplanes.existing.options import ExistingOptions
from nfvbed.errors import UnsupportedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.fitness import Fitness
from nfvbed.host.generator import GeneratorStarter
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment, GeneratorPort, Hop, PortKind, WorkThread
from nfvbed.sites.openstack.existing.ends import GeneratorEnds
from nfvbed.spec.layout import Layout
from nfvbed.spec.site import CloudSiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.traffic.generator import Generator


class ExistingCompute(Compute):
    """The generator's devices on nfvbed's side of a compute; the compute itself is not changed.

    Args:
        end_macs: returns the addresses of the ports at both ends of a path whose instances are not known.

    Raises:
        UnsupportedError: the variant is a data plane that would have to be set up.
    """

    vnf_port_kind = PortKind.NEUTRON
    hidden = "the cloud belongs to others: its switches, cores and guests are not seen from here"

    def __init__(
        self, spec: CloudSiteSpec, ends: GeneratorEnds, variant: Variant, end_macs: Callable[[], tuple[str, str] | None]
    ) -> None:
        self._check_variant(variant)
        self.host = spec.os_cloud
        self._stated = variant.options.stated if isinstance(variant.options, ExistingOptions) else ""
        self._spec = spec
        self._ends = ends
        self._end_macs = end_macs

    def _check_variant(self, variant: Variant) -> None:
        if not isinstance(variant.options, ExistingOptions):
            raise UnsupportedError(
                f"{variant.name} cannot be set up in a cloud that exists already",
                where=f"dataplane: {variant.options.dataplane}",
                observed="nothing of it is changed",
                fix="variant existing",
            )

    def probe(self, variant: Variant) -> Fitness:
        """Probe the generator's devices."""
        self._ends.require()
        if self._spec.accelerator is None:
            return Fitness(
                limited=True,
                reason="what executes the instances (KVM, emulation) is not known",
                fix="state it in the site's file: accelerator",
            )
        return Fitness()

    def check(self, variant: Variant, plan: Layout) -> None:
        """Accept all options: none is set on an existing compute."""

    def start(self) -> None:
        """Start nothing: an existing compute runs, or does not."""

    def apply(self, variant: Variant, arrangement: Arrangement) -> None:
        """Do nothing: no option is set."""

    def attach(self, workspace: Workspace, variant: Variant) -> tuple[GeneratorPort, GeneratorPort]:
        """Return the generator's devices, which are cabled to the networks."""
        return self._ends.attach(workspace)

    def detach(self) -> None:
        """Do nothing: the devices stay, and the workspace takes those back that DPDK had."""

    def versions(self) -> dict[str, str]:
        """Return the versions that the variant's file states; no others are known."""
        return {"stated, not verified": self._stated} if self._stated else {}

    def threads(self, instances: Sequence[PlacedInstance]) -> tuple[WorkThread, ...]:
        """Return no threads: none is seen."""
        return ()

    def hops(self, instances: Sequence[PlacedInstance]) -> tuple[Hop, ...]:
        """Return the counters of the generator's devices."""
        return self._ends.hops()

    def start_generator(self, deployment: Deployment, starter: GeneratorStarter) -> Generator:
        """Start the generator where its ports are."""
        return self._ends.start(deployment, starter)

    def counters(self) -> None:
        """Do nothing: the switch's counters are not seen."""

    def verify(self) -> None:
        """Check that the generator's devices have a link."""
        self._ends.verify()

    def destination_macs(self, instances: Sequence[PlacedInstance]) -> tuple[str, str] | None:
        """Return the site file's addresses; by default those of Neutron's ports at both ends."""
        wanted = self._spec.destination_macs
        if not isinstance(wanted, str):
            return wanted
        if wanted == "any":
            return None
        if instances:
            return instances[0].ports[0].mac, instances[-1].ports[1].mac
        return self._end_macs()
