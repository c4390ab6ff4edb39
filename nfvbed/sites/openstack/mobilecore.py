"""A mobile core between S1-U and SGi of a cloud: onboarded through Tacker, its bearers read from the consoles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any

from openstack.connection import Connection

from nfvbed.cloud.instances import PlacedInstance
from nfvbed.cloud.tacker import console
from nfvbed.cloud.tacker.api import OnboardRequest, VnfIdentity
from nfvbed.errors import InternalError, OnboardError, UnsupportedError
from nfvbed.records import VnfHandle, VnfKind
from nfvbed.sites.openstack import machineplaces, requests
from nfvbed.sites.openstack.images import GlanceImage
from nfvbed.spec.bearers import Bearer, BearerTable
from nfvbed.spec.gateway import GATEWAYS
from nfvbed.spec.layout import VEPC, Layout
from nfvbed.spec.loader import Project
from nfvbed.spec.machines import ConsoleSpec, DeploymentFlavourSpec, MachinesVnfSpec, MarkSpec
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.generator import BearerPath
from nfvbed.vnfs.descriptors.machines.descriptor import DeploymentInputs, descriptor_of
from nfvbed.vnfs.descriptors.model import VnfDescriptor
from nfvbed.vnfs.epc.driver import BEARERS as BEARERS_FACT
from nfvbed.vnfs.epc.driver import GATEWAY, bearers_of

BEARER, BEARERS = "vepc: bearer: ", "vepc: bearers: "
"""Beginnings of lines on a console (`images/README.md`): one bearer, and the last line when all are said."""
_LINES = 500
_HOSTS = "computes"
"""Fact of a VNF, and a key of its rig: a number of the compute of each virtual machine, where these are several."""


def is_core(choice: VnfChoice | None) -> bool:
    """Return whether a VNF of a path is a mobile core in virtual machines."""
    return choice is not None and choice.kind is VnfKind.VM and choice.forwarding in GATEWAYS


def check(plan: Layout, choice: VnfChoice, site: str) -> None:
    """Make sure that the mobile core is between S1-U and SGi.

    Raises:
        UnsupportedError: it is not.
    """
    if plan.name != VEPC:
        raise UnsupportedError(
            f"a mobile core cannot be in topology {plan.name} on site {site}",
            where=choice.label,
            observed="its ends are S1-U and SGi, and no other topology has these",
            fix=f"topology {VEPC}",
        )


@dataclass(frozen=True)
class CorePlace:
    """The networks of a mobile core, and its secret."""

    networks: tuple[str, str]
    """The cloud's networks that are S1-U and SGi."""
    seed: str
    """Secret of the deployment."""
    inherits_port_security: bool = False
    """Whether these have no port security, and ports are to say nothing of it."""
    zones: Mapping[str, str] = field(default_factory=dict)
    """Availability zones of its virtual machines, each of one compute; empty: they are placed as Nova can."""


class MobileCore:
    """The measured form of a VNF of several machines."""

    def __init__(self, project: Project, name: str) -> None:
        found = project.load_vnf(name)
        if not isinstance(found, MachinesVnfSpec) or found.measured is None:
            raise InternalError(f"VNF {name} has no form that is measured", where=f"vnfd/{name}/vnf.yml")
        self._project, self._vnf, self._flavour = project, found, found.measured

    @property
    def flavour(self) -> DeploymentFlavourSpec:
        """The deployment flavour that is measured."""
        return self._flavour

    @property
    def ready(self) -> ConsoleSpec:
        """What its consoles say: as for the VNF by itself, and then that the generator's bearers are there."""
        declared = self._flavour.console
        if declared is None:
            raise InternalError(f"flavour {self._flavour.name} has no console", where=self._vnf.name)
        return declared.model_copy(update={"marks": (*declared.marks, MarkSpec(step="bearers", says=BEARERS))})

    def request(self, identity: VnfIdentity, place: CorePlace, image: GlanceImage, form: str) -> OnboardRequest:
        """Return the request to Tacker.

        Args:
            form: `legacy` or `sol`.
        """
        made = self._descriptor(place, image)
        found = requests.of_descriptor(identity, made, form, inherits_port_security=place.inherits_port_security)
        # The ports at the ends come first: their networks are the path.
        return requests.in_order(found, lambda point: 0 if point.startswith(f"{self._between}_") else 1)

    def table(self, lines: Sequence[str]) -> BearerTable:
        """Return the bearers that the consoles printed.

        Args:
            lines: lines of all consoles.

        Raises:
            OnboardError: they are not as they must be.
        """
        try:
            said = [line.removeprefix(BEARER).split() for line in lines if line.startswith(BEARER)]
            bearers = tuple(
                Bearer(imsi=imsi, ue=IPv4Address(ue), uplink_teid=int(uplink), downlink_teid=int(downlink))
                for imsi, ue, uplink, downlink in said
            )
            last = next(line for line in lines if line.startswith(BEARERS)).split()
            enb, server = (end.generator for end in self._vnf.ports)
            if enb is None or server is None:
                raise InternalError("no address of a generator", where=self._vnf.name)
            return BearerTable(enb=enb, sgw=IPv4Address(last[-1]), server=server, bearers=bearers)
        except (ValueError, StopIteration) as failure:
            raise OnboardError(
                f"the bearers of VNF {self._vnf.name} cannot be read",
                where=f"lines {BEARER!r} and {BEARERS!r} of its consoles",
                observed=str(failure) or "there is no such line",
                fix=f"build its image again: setup/images {self._vnf.name}",
            ) from failure

    def between(self, connection: Connection, instances: Sequence[PlacedInstance]) -> PlacedInstance:
        """Return the instance with both ends of the path.

        Raises:
            OnboardError: there is none.
        """
        found = machineplaces.by_machine(connection, instances)
        if self._between in found:
            return found[self._between]
        raise OnboardError(
            f"no instance of VNF {self._vnf.name} is its machine {self._between}",
            observed=", ".join(one.name for one in instances) or "it has none",
        )

    def hosts(self, connection: Connection, instances: Sequence[PlacedInstance]) -> dict[str, str]:
        """Return Nova's names of the computes of its virtual machines, by the machines' names.

        Raises:
            OnboardError, UnsupportedError: Nova does not say.
        """
        return {name: one.host for name, one in machineplaces.by_machine(connection, instances).items()}

    @property
    def _between(self) -> str:
        """The name of the virtual machine that holds the machines at both ends."""
        ends = {end.at.partition(".")[0] for end in self._vnf.ports}
        return next(one.name for one in self._flavour.machines if ends <= set(one.holds))

    def _descriptor(self, place: CorePlace, image: GlanceImage) -> VnfDescriptor:
        """Return the measured flavour's descriptor, with the secret in its user data."""
        machines = {one.name: one for one in self._vnf.machines}
        ends = [end.at.split(".") for end in self._vnf.ports]
        links = [port.link for machine, name in ends for port in machines[machine].ports if port.name == name]
        given = DeploymentInputs(
            flavors={name: self._project.load_flavor(name) for name in self._project.flavor_names},
            image=image.described,
            networks=dict(zip(links, place.networks, strict=True)),
            zones_of_machines=place.zones,
            soft=not place.zones,
            seed=place.seed,
        )
        return descriptor_of(self._vnf, given, (self._flavour.name,))


def lines_of(connection: Connection, instances: Sequence[PlacedInstance]) -> list[str]:
    """Return the console lines of instances."""
    return [line for one in instances for line in console.last_lines(connection, one.id, _LINES)]


def with_bearers(handle: VnfHandle, table: BearerTable, steps: tuple[tuple[str, int], ...]) -> VnfHandle:
    """Return a VNF with its bearers, what carries them, and the steps of its start."""
    said = {"attached": len(table.bearers), "synthetic": 0}
    facts = {**handle.facts, GATEWAY: GATEWAYS[handle.forwarding], BEARERS_FACT: table.model_dump(mode="json"), **said}
    timed = tuple((f"onboard.{handle.name}.{step}", ns) for step, ns in steps)
    return handle.model_copy(update={"facts": facts, "steps": (*handle.steps, *timed)})


def with_hosts(handle: VnfHandle, hosts: Mapping[str, str]) -> VnfHandle:
    """Return a VNF with which of its virtual machines share a compute, where they have several; without names."""
    numbers = {host: number for number, host in enumerate(dict.fromkeys(host for _, host in sorted(hosts.items())), 1)}
    if len(numbers) < 2:
        return handle
    placed = {name: numbers[host] for name, host in sorted(hosts.items())}
    return handle.model_copy(update={"facts": {**handle.facts, _HOSTS: placed}})


def path_of(handles: Sequence[VnfHandle]) -> BearerPath | None:
    """Return the bearers of frames through VNFs, with the gateway's addresses; None: the VNFs have none."""
    core = next((one for one in handles if BEARERS_FACT in one.facts), None)
    if core is None:
        return None
    first, last = (port.mac for port in core.ports)
    return BearerPath(bearers_of(core), (first, last))


def rig_of(handles: Sequence[VnfHandle]) -> dict[str, Any]:
    """Return a mobile core's part of its VNF's rig; nothing for another VNF."""
    path = path_of(handles)
    if path is None:
        return {}
    facts = handles[0].facts
    hosts = {_HOSTS: facts[_HOSTS]} if _HOSTS in facts else {}
    return {"gateway": facts[GATEWAY], "bearers": len(path.table.bearers), "synthetic": False, **hosts}
