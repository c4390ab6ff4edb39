"""Starts nfvgen on a deployment's ports, where the arrangement wants it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from nfvbed.deploy.lab.arrangement import Arrangement
from nfvbed.deploy.lab.processes import ManagedProcess
from nfvbed.deploy.lab.workspace import Workspace
from nfvbed.deploy.native import native_binary
from nfvbed.errors import InternalError
from nfvbed.records import Deployment
from nfvbed.traffic.generator import Generator
from nfvbed.traffic.nfvgen import NfvgenClient, NfvgenOptions

_MEMORY_MIB = 256
"""Enough for the generator's own buffers; the site's figure is what is set aside, this is what is taken at once."""


class GeneratorStarter:
    """Starts generators in one workspace; their hugepages are set aside once.

    Args:
        workspace: where they run.
        arrangement: where they sit.
        hugepages_mib: what is set aside for them, where they use any.
        root: where `native/build` is.
    """

    def __init__(self, workspace: Workspace, arrangement: Arrangement, hugepages_mib: int, root: Path) -> None:
        self._workspace = workspace
        self._arrangement = arrangement
        self._hugepages_mib = hugepages_mib
        self._root = root
        self._started = 0
        self._has_hugepages = False

    def start(self, deployment: Deployment) -> Generator:
        """Start one.

        Raises:
            GeneratorError: it did not come up.
            PrerequisiteError: it is not built, or there is too little hugepage memory.
        """
        engine = _engine(deployment)
        binary = native_binary("nfvgen", self._root)
        if engine == "dpdk" and not self._has_hugepages:
            self._workspace.hugepages(self._hugepages_mib)
            self._has_hugepages = True
        self._started += 1
        name = f"nfvgen-{self._started}"
        options = NfvgenOptions(
            binary=binary,
            engine=engine,
            ports=deployment.ports,
            core=self._arrangement.generator_core,
            socket_path=self._workspace.directory / f"{name}.sock",
            memory_mib=min(_MEMORY_MIB, self._hugepages_mib),
            file_prefix=f"nfvbed-{self._workspace.id}-{name}",
        )
        # Its helper threads (DPDK's control threads) go where nfvbed itself is, not onto the switch's core.
        cores = sorted({self._arrangement.generator_core, *self._arrangement.control_cores})
        netns = deployment.ports[0].netns

        def spawn(argv: Sequence[str]) -> ManagedProcess:
            return self._workspace.spawn(name, argv, cores=cores, netns=netns)

        return NfvgenClient(options, spawn)


def _engine(deployment: Deployment) -> Literal["dpdk", "xdp"]:
    engine = deployment.ports[0].engine
    if engine == "simulated" or deployment.ports[1].engine != engine:
        engines = [port.engine for port in deployment.ports]
        raise InternalError("nfvgen cannot open these ports", where=deployment.variant, observed=str(engines))
    return engine
