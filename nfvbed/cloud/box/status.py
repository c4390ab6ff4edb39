"""What a box is doing: machines, containers, the ports of the switch, the images of the registry."""

import json
from dataclasses import dataclass

from nfvbed.cloud.box import registry, switch
from nfvbed.cloud.box.box import Box
from nfvbed.cloud.box.layout import SWITCH
from nfvbed.cloud.box.machine import Machine
from nfvbed.cloud.box.switch import PortState
from nfvbed.errors import DeployError

_NOT_RUNNING = ("offline", "unknown", "")


@dataclass(frozen=True)
class ContainerState:
    """A container of a machine."""

    name: str
    image: str
    status: str
    """The engine's words, which say how long it has been so."""
    runs: bool


@dataclass(frozen=True)
class MachineState:
    """A machine, or the switch."""

    name: str
    address: str
    """Empty: the switch."""
    pid: int | None
    """The machine's first process, as this machine numbers it; None: it is off."""
    starts: int
    """How often it was started since the box was."""
    systemd: str
    """State of its systemd: `running`, `degraded`, `starting`, ...; `off`."""
    failed_units: tuple[str, ...] = ()
    containers: tuple[ContainerState, ...] = ()


@dataclass(frozen=True)
class BoxStatus:
    """A box."""

    site: str
    up: bool
    """Whether all machines run, and every stage of the start was done."""
    machines: tuple[MachineState, ...]
    ports: tuple[PortState, ...]
    """Ports of the switch."""
    registry: str
    """Where images are pulled from."""
    images: tuple[str, ...]
    """Names that the registry has."""
    problems: tuple[str, ...]
    """What did not answer, and why."""

    @property
    def is_down(self) -> bool:
        """Whether no machine runs."""
        return all(machine.pid is None for machine in self.machines)

    @property
    def is_well(self) -> bool:
        """Whether everything that was started runs."""
        is_running = all(machine.systemd == "running" for machine in self.machines)
        is_running &= all(container.runs for machine in self.machines for container in machine.containers)
        return self.up and is_running and not self.problems and not any(port.error for port in self.ports)


def look(box: Box) -> BoxStatus:
    """Ask all machines of a box; what does not answer is in its problems."""
    problems = list[str]()
    machines = tuple(_machine(box, name, problems) for name in box.names)
    ports, images = tuple[PortState, ...](), tuple[str, ...]()
    found = box.find(SWITCH)
    if found is not None:
        try:
            ports = switch.ports(found, box.layout)
            images = registry.repositories(box.layout, found.space)
        except DeployError as failure:
            problems.append(_said(failure))
    return BoxStatus(box.layout.site, box.is_up(), machines, ports, box.layout.registry, images, tuple(problems))


def _machine(box: Box, name: str, problems: list[str]) -> MachineState:
    address = "" if name == SWITCH else box.layout.machine(name).address
    found = box.find(name)
    if found is None:
        return MachineState(name, address, None, 0, "off")
    try:
        life = found.boot()
        systemd = found.run("systemctl", "is-system-running").stdout.strip()
        listed = found.run("systemctl", "--failed", "--plain", "--no-legend", "--no-pager").stdout
        failed = tuple(line.split()[0] for line in listed.splitlines() if line.strip())
        containers = () if name == SWITCH else containers_of(found)
    except DeployError as failure:
        problems.append(_said(failure))
        return MachineState(name, address, None, 0, "off")
    return MachineState(name, address, life.pid, life.starts, systemd, failed, containers)


def containers_of(machine: Machine) -> tuple[ContainerState, ...]:
    """Return the containers of a machine, those that have ended, too.

    Raises:
        DeployError: its engine does not answer.
    """
    text = machine.check("docker", "ps", "--all", "--no-trunc", "--format", "{{json .}}")
    found = [json.loads(line) for line in text.splitlines() if line.strip()]
    return tuple(
        ContainerState(one["Names"], one["Image"], one["Status"], one["State"] == "running")
        for one in sorted(found, key=lambda one: str(one["Names"]))
    )


def _said(failure: DeployError) -> str:
    return ": ".join(filter(None, (failure.what, failure.observed)))
