"""The generator's two ports to an existing cloud: devices of this machine, or of another one over SSH."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from nfvbed.errors import PrerequisiteError
from nfvbed.host.generator import GeneratorStarter, destination_macs
from nfvbed.host.remote import nfvgenthere
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
    """The generator's place, with its ports.

    Args:
        ports: ports that the site's file names.
    """

    def __init__(self, ports: tuple[CloudPortSpec, CloudPortSpec]) -> None:
        self.ports = ports

    @property
    def named(self) -> list[str]:
        """Return the ports as messages name them."""
        return [port.named for port in self.ports]

    @abstractmethod
    def require(self) -> None:
        """Make sure that the generator may have the ports; nothing is changed.

        Raises:
            PrerequisiteError, UnsupportedError: it may not.
        """

    @abstractmethod
    def attach(self, workspace: Workspace) -> tuple[GeneratorPort, GeneratorPort]:
        """Return the generator's ports; what is made for them is undone by the workspace."""

    @abstractmethod
    def engine(self, built_here: Callable[[], str]) -> dict[str, str]:
        """Return name and version of the engine, as a rig has them.

        Args:
            built_here: returns the version of this machine's nfvgen.
        """

    @abstractmethod
    def verify(self) -> None:
        """Check that the ports have a link, as far as that is seen from here."""

    @abstractmethod
    def hops(self) -> tuple[Hop, ...]:
        """Return the kernel's counters of the ports, as far as they are seen from here."""

    @abstractmethod
    def start(self, deployment: Deployment, starter: GeneratorStarter) -> Generator:
        """Start the generator, and wait until it is ready.

        Args:
            starter: starts generators on this machine.
        """


class LocalEnds(GeneratorEnds):
    """Devices of this machine."""

    def require(self) -> None:
        """Check the devices."""
        devices.require(self.ports)

    def attach(self, workspace: Workspace) -> tuple[GeneratorPort, GeneratorPort]:
        """Return the devices as ports; NICs are given to DPDK."""
        return devices.attach(self.ports, workspace)

    def engine(self, built_here: Callable[[], str]) -> dict[str, str]:
        """Return this machine's nfvgen."""
        return {"engine": f"nfvgen-{'xdp' if self.ports[0].kind.is_kernel else 'dpdk'}", "version": built_here()}

    def verify(self) -> None:
        """Check the devices' carriers."""
        devices.verify(self.ports)

    def hops(self) -> tuple[Hop, ...]:
        """Return the kernel's counters."""
        return devices.hops(self.ports)

    def start(self, deployment: Deployment, starter: GeneratorStarter) -> Generator:
        """Start the generator on this machine."""
        return starter.start(deployment)


@dataclass(frozen=True)
class _GeneratorDevices:
    """A generator's host as it is: names of devices, and the version of nfvgen (empty: none is there)."""

    spec: GeneratorHostSpec
    version: str


class RemoteEnds(GeneratorEnds):
    """Devices of another host, and the generator there. The kernel's counters there are not read."""

    def __init__(self, spec: GeneratorHostSpec) -> None:
        super().__init__(spec.ports)
        self._spec = spec
        self._host: SshHost | None = None
        """Connection of the generator that was started last."""

    @property
    def named(self) -> list[str]:
        """The ports with their host."""
        return [f"{port.named} of {self._spec.address}" for port in self.ports]

    def require(self) -> None:
        """Sign in on the host, and look for the generator and the kernel's devices."""
        with TemporaryDirectory(prefix="nfvbed-") as directory, SshHost(self._spec, Path(directory)) as host:
            self._require_program(host)
            for place, port in enumerate(nfvgenthere.with_devices(host, self._spec).ports):
                self._require_device(host, port, f"generator.ports[{place}]")

    def attach(self, workspace: Workspace) -> tuple[GeneratorPort, GeneratorPort]:
        """Return the ports as they are on the host; the connection to it ends with this command."""
        spec = self._there.spec
        first, second = (port_of(port, spec) for port in spec.ports)
        return first, second

    def engine(self, built_here: Callable[[], str]) -> dict[str, str]:
        """Return the engine of the host; a copy has the version of this machine's."""
        if self._spec.trex is not None:
            return {"engine": "trex", "version": self._spec.trex.folder}
        version = built_here() if self._spec.is_copied else self._there.version
        return {"engine": f"nfvgen-{self._spec.engine}", "version": version}

    @cached_property
    def _there(self) -> "_GeneratorDevices":
        """What the host answered, asked once."""
        with TemporaryDirectory(prefix="nfvbed-") as directory, SshHost(self._spec, Path(directory)) as host:
            spec = nfvgenthere.with_devices(host, self._spec)
            return _GeneratorDevices(spec, nfvgenthere.version_on(host, spec) if spec.nfvgen is not None else "")

    def verify(self) -> None:
        """Check nothing: a generator that lost its ports reports that itself."""

    def hops(self) -> tuple[Hop, ...]:
        """Return no counters: none is read."""
        return ()

    def start(self, deployment: Deployment, starter: GeneratorStarter) -> Generator:
        """Start the generator on the host, over a connection of its own."""
        directory = starter.workspace.directory / _DIRECTORY
        directory.mkdir(mode=0o700, exist_ok=True)
        macs, count = destination_macs(deployment), PlaneState.of(deployment).destination_mac_count or 1
        if self._host is not None:
            self._host.disconnect()
        self._host = SshHost(self._spec, directory)
        return open_generator(self._host, self._spec, macs, count)

    def _require_program(self, host: SshHost) -> None:
        nfvgen, trex = self._spec.nfvgen, self._spec.trex
        if self._spec.is_copied:
            nfvgenthere.require_copy(host)
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
