"""The generator's two ports to an existing cloud: devices of this machine, or those of another one over SSH."""

from abc import ABC, abstractmethod
from pathlib import Path
from tempfile import TemporaryDirectory

from nfvbed.errors import PrerequisiteError
from nfvbed.host.generator import GeneratorStarter, destination_macs
from nfvbed.host.remote.connection import SshHost
from nfvbed.host.remote.generator import open_generator, port_of
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment, GeneratorPort, Hop
from nfvbed.records.state import PlaneState
from nfvbed.sites.openstack.existing import devices
from nfvbed.spec.existing import CloudPortSpec
from nfvbed.spec.remote import GeneratorHostSpec
from nfvbed.spec.site import CloudSiteSpec
from nfvbed.traffic.generator import Generator

_DIRECTORY = "generator-host"


class GeneratorEnds(ABC):
    """Where the generator is, with its ports.

    Args:
        ports: as the site's file names them.
    """

    def __init__(self, ports: tuple[CloudPortSpec, CloudPortSpec]) -> None:
        self.ports = ports

    @property
    def named(self) -> list[str]:
        """Return the ports as messages name them."""
        return [port.named for port in self.ports]

    @abstractmethod
    def require(self) -> None:
        """Make sure that the generator may have them; nothing is changed.

        Raises:
            PrerequisiteError, UnsupportedError: it may not.
        """

    @abstractmethod
    def attach(self, workspace: Workspace) -> tuple[GeneratorPort, GeneratorPort]:
        """Return the generator's ports; what is made for them is undone by the workspace."""

    @abstractmethod
    def verify(self) -> None:
        """Check that they have a link, as far as that is seen from here."""

    @abstractmethod
    def hops(self) -> tuple[Hop, ...]:
        """Read what the kernel counts at them, as far as that is seen from here."""

    @abstractmethod
    def start(self, deployment: Deployment, starter: GeneratorStarter) -> Generator:
        """Start the generator, and wait until it is ready.

        Args:
            deployment: with its ports.
            starter: of generators on this machine.
        """


class LocalEnds(GeneratorEnds):
    """Devices of this machine."""

    def require(self) -> None:
        """Look at them."""
        devices.require(self.ports)

    def attach(self, workspace: Workspace) -> tuple[GeneratorPort, GeneratorPort]:
        """Have them; NICs are given to DPDK."""
        return devices.attach(self.ports, workspace)

    def verify(self) -> None:
        """Look at their carriers."""
        devices.verify(self.ports)

    def hops(self) -> tuple[Hop, ...]:
        """Read the kernel's counters."""
        return devices.hops(self.ports)

    def start(self, deployment: Deployment, starter: GeneratorStarter) -> Generator:
        """Start it here."""
        return starter.start(deployment)


class RemoteEnds(GeneratorEnds):
    """Devices of another host, and the generator there. What the kernel counts there is not read.

    Args:
        spec: the host.
    """

    def __init__(self, spec: GeneratorHostSpec) -> None:
        super().__init__(spec.ports)
        self._spec = spec
        self._host: SshHost | None = None
        """Connection of the generator that was started last."""

    @property
    def named(self) -> list[str]:
        """Return them with their host."""
        return [f"{port.named} of {self._spec.address}" for port in self.ports]

    def require(self) -> None:
        """Sign in there, and look for the generator and for the kernel's devices."""
        with TemporaryDirectory(prefix="nfvbed-") as directory, SshHost(self._spec, Path(directory)) as host:
            self._require_program(host)
            for place, port in enumerate(self.ports):
                self._require_device(host, port, f"generator.ports[{place}]")

    def attach(self, workspace: Workspace) -> tuple[GeneratorPort, GeneratorPort]:
        """Have them as they are there; the connection to their host ends with this command."""
        first, second = (port_of(port, self._spec) for port in self.ports)
        return first, second

    def verify(self) -> None:
        """Nothing is seen from here; a generator that lost its ports says so itself."""

    def hops(self) -> tuple[Hop, ...]:
        """None is read."""
        return ()

    def start(self, deployment: Deployment, starter: GeneratorStarter) -> Generator:
        """Start it there, over a connection of its own."""
        directory = starter.workspace.directory / _DIRECTORY
        directory.mkdir(mode=0o700, exist_ok=True)
        macs, count = destination_macs(deployment), PlaneState.of(deployment).destination_mac_count or 1
        if self._host is not None:
            self._host.disconnect()
        self._host = SshHost(self._spec, directory)
        return open_generator(self._host, self._spec, macs, count)

    def _require_program(self, host: SshHost) -> None:
        nfvgen, trex = self._spec.nfvgen, self._spec.trex
        if nfvgen is not None and host.run(["test", "-x", nfvgen], check=False).status:
            raise PrerequisiteError(
                "the generator's host has no nfvgen",
                where=f"{self._spec.where}; generator.nfvgen",
                observed=f"{nfvgen} is no program",
                fix="make build there, or copy native/build/nfvgen of a machine of its kind; correct its path",
            )
        if trex is None:
            return
        needed = {"folder": ("-x", f"{trex.folder}/t-rex-64"), "configuration": ("-r", trex.configuration)}
        for key, (test, path) in needed.items():
            if host.run(["test", test, path], check=False).status:
                raise PrerequisiteError(
                    "the generator's host has no TRex that can be started",
                    where=f"{self._spec.where}; generator.trex.{key}",
                    observed=f"{path} is not there",
                    fix="install TRex there and write its configuration (dpdk_setup_ports.py -i); correct the path",
                )

    def _require_device(self, host: SshHost, port: CloudPortSpec, where: str) -> None:
        if port.device is None:
            path = f"/sys/bus/pci/devices/{port.pci}"
            found = host.run(["test", "-e", path], check=False).status == 0
        else:
            enter = ["nsenter", f"--net={port.netns_path}", "--"] if port.netns_path else []
            found = host.run([*enter, "ip", "link", "show", "dev", port.device], check=False).status == 0
        if not found:
            raise PrerequisiteError(
                "a device of the generator is not on its host",
                where=f"{self._spec.where}; {where}",
                observed=port.named,
                fix="name one that reaches the network of the same place in networks",
            )


def ends_of(spec: CloudSiteSpec) -> GeneratorEnds:
    """Return the ends that a site's file describes."""
    return RemoteEnds(spec.generator) if spec.generator is not None else LocalEnds(spec.generator_ports)
