"""A switch that its variant's file describes, between links or on vhost-user sockets."""

from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest
from nfvbed.dataplanes.described import linkports, socketports
from nfvbed.dataplanes.described.options import DescribedOptions, VethPorts
from nfvbed.dataplanes.described.state import DescribedState
from nfvbed.dataplanes.described.switch import require_hugepages, require_programs
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.errors import UnsupportedError
from nfvbed.host.fitness import Fitness
from nfvbed.records import Deployment, Hop, SwitchCounters, WorkThread
from nfvbed.spec.variant import Variant, options_of

NO_RESET = "there is no reset of this switch"


class DescribedDataPlane(DataPlane):
    """The one class of the room; what depends on the kind of ports is in `linkports` and `socketports`."""

    kind = "described-switch"

    def __init__(self) -> None:
        self._links = linkports.DescribedLinks()
        self._sockets = socketports.DescribedSockets()

    def probe(self, variant: Variant) -> Fitness:
        """Find the programs, and try what the kind of ports allows to try."""
        options = options_of(variant, DescribedOptions)
        require_programs(options)
        require_hugepages(options, variant.hugepages_mib, variant.name)
        return self._on(options).probe(variant)

    def deploy(self, request: DeployRequest) -> Deployment:
        """Make the ports, and start the switch on them."""
        options = options_of(request.variant, DescribedOptions)
        require_hugepages(options, request.variant.hugepages_mib, request.variant.name)
        options.check_layout(request.layout)
        return self._on(options).deploy(request)

    def verify(self, deployment: Deployment) -> None:
        """Check that the switch lives."""
        self._of(deployment).verify(deployment)

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Read the switch's counters."""
        return self._of(deployment).counters(deployment)

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Return the ports of the path."""
        return self._of(deployment).hops(deployment)

    def reset(self, deployment: Deployment) -> ResetReport:
        """End the switch and start it again.

        Raises:
            UnsupportedError: the kernel forwards, and the variant's file does not say how that ends.
        """
        options = DescribedState.of(deployment).described.options
        if not options.has_reset:
            raise UnsupportedError(
                NO_RESET,
                where=f"variant {deployment.variant}",
                observed="the kernel forwards, and the variant's file does not say how that ends",
                fix="add the key stop, or leave the test reset out of experiments with this variant",
            )
        return self._of(deployment).reset(deployment)

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return the threads that forward."""
        return self._of(deployment).work_threads(deployment)

    def _on(self, options: DescribedOptions) -> DataPlane:
        return self._links if isinstance(options.ports, VethPorts) else self._sockets

    def _of(self, deployment: Deployment) -> DataPlane:
        return self._on(DescribedState.of(deployment).described.options)
