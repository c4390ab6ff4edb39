"""The VNFs of a deployment on a cloud: onboarded through Tacker in the order of the path, and removed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator

from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.cloud.tacker.api import TackerVnf
from nfvbed.errors import VnfDiedError
from nfvbed.records import Accelerator, PortKind, Record, VnfHandle, VnfPort
from nfvbed.records.state import VnfState
from nfvbed.sites.deployed import InstancePlacement
from nfvbed.spec.vnf import VnfChoice

DEVICE = "neutron:{}"
"""Address of a VNF's port: the device is Neutron's to name."""
_RUNS = "ACTIVE"
_ON_PATH = 2
"""Ports of an instance that are on the path: the first ones."""


class PortState(Record):
    """The record of an instance's port."""

    id: str
    network: str
    mac: str


class MachineState(Record):
    """The record of one of several machines of a VNF."""

    machine: str
    """Its name in the VNF's file."""
    instance: str
    """Nova's id."""
    host: str
    instance_ports: Annotated[tuple[PortState, ...], BeforeValidator(tuple)]


class CloudVnfState(VnfState):
    """The record of a VNF that Tacker has onboarded."""

    tacker_api: str
    tacker_id: str
    stack: str = ""
    """Heat's id; empty: it has none, or an nfvbed that did not write it down onboarded it."""
    instance: str
    """Nova's id."""
    host: str
    instance_ports: Annotated[tuple[PortState, ...], BeforeValidator(tuple)]
    machine: str | None = None
    """Name of the machine that this instance is; None: it is the only one."""
    behind: Annotated[tuple[MachineState, ...], BeforeValidator(tuple)] | None = None
    """Its other machines, in the order of the path; None: it has none."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """The computes of its instances, each once, in the order of the path."""
        return tuple(dict.fromkeys((self.host, *(one.host for one in self.behind or ()))))

    @property
    def each(self) -> tuple[str, ...]:
        """Nova's ids of its instances, in the order of the path."""
        return (self.instance, *(one.instance for one in self.behind or ()))

    @property
    def path_ports(self) -> tuple[tuple[str, tuple[PortState, ...]], ...]:
        """The ports on the path of each instance, by Nova's id of it."""
        first = (self.instance, self.instance_ports[:_ON_PATH])
        return (first, *((one.instance, one.instance_ports[:_ON_PATH]) for one in self.behind or ()))

    def placed(self, name: str) -> tuple[PlacedInstance, ...]:
        """Return its instances, in the order of the path.

        Args:
            name: name of the VNF; instances of several machines have the machine's beside it.
        """
        first = MachineState(
            machine=self.machine or "", instance=self.instance, host=self.host, instance_ports=self.instance_ports
        )
        return tuple(
            PlacedInstance(
                one.instance,
                f"{name} ({one.machine})" if one.machine else name,
                one.host,
                tuple(InstancePort(port.id, port.network, port.mac) for port in one.instance_ports),
            )
            for one in (first, *(self.behind or ()))
        )


def handle(
    place: int,
    vnf: TackerVnf,
    choice: VnfChoice,
    kind: PortKind,
    accelerator: Accelerator = Accelerator.TCG,
    machines: Mapping[str, PlacedInstance] | None = None,
) -> VnfHandle:
    """Return the handle of a VNF that was onboarded, or is there already.

    Args:
        place: number on the path, from 0.
        vnf: its VNF in Tacker, with one instance unless machines are given.
        kind: kind of its ports.
        accelerator: accelerator of its instances; None: not known.
        machines: its instances in the order of the path, by the machines' names; None: it has one.
    """
    if machines:
        first, *behind = (_machine(name, one) for name, one in machines.items())
        instances = tuple(machines.values())
    else:
        instances = vnf.instances
        first, behind = _machine("", *instances), []
    name = f"vnf{place + 1}"
    state = CloudVnfState(
        tacker_api=vnf.api,
        tacker_id=vnf.id,
        stack=vnf.stack_id,
        instance=first.instance,
        host=first.host,
        instance_ports=first.instance_ports,
        machine=first.machine or None,
        behind=tuple(behind) or None,
    )
    ports = tuple(
        VnfPort(
            name=f"v{place + 1}{'ab'[number]}",
            vnf=place,
            port=number,
            kind=kind,
            address=DEVICE.format(port.id),
            mac=port.mac,
        )
        for number, port in enumerate((*instances[0].ports[:1], *instances[-1].ports[1:_ON_PATH]))
    )
    return VnfHandle(
        name=name,
        kind=choice.kind,
        forwarding=choice.forwarding,
        ports=ports,
        accelerator=accelerator,
        control=state.as_control(),
        steps=tuple((f"onboard.{name}.{step}", ns) for step, ns in vnf.steps),
    )


def _machine(name: str, one: PlacedInstance) -> MachineState:
    ports = tuple(PortState(id=port.id, network=port.network, mac=port.mac) for port in one.ports)
    return MachineState(machine=name, instance=one.id, host=one.host, instance_ports=ports)


def instances(handles: Sequence[VnfHandle]) -> tuple[PlacedInstance, ...]:
    """Return the instances of VNFs, in the order of the path."""
    return tuple(placed for one in handles for placed in CloudVnfState.of(one).placed(one.name))


def placed(handles: Sequence[VnfHandle]) -> tuple[InstancePlacement, ...]:
    """Return the place and owner of VNFs, in the order of the path."""
    states = (CloudVnfState.of(one) for one in handles)
    return tuple(InstancePlacement(one.hosts, one.each, one.stack, one.tacker_api, one.tacker_id) for one in states)


def known(accelerator: Accelerator) -> str | None:
    """Return an accelerator that is known; None: it is not."""
    return None if accelerator is Accelerator.NONE else accelerator.value


def described(choice: VnfChoice, image: str | None, accelerator: str | None = Accelerator.TCG.value) -> dict[str, Any]:
    """Return the VNFs' part of the rig.

    Args:
        image: name in Glance, which holds the digest; None: not known.
        accelerator: accelerator of their instances; None: not known.
    """
    vnf = {
        "name": choice.vnf.name,
        "kind": choice.kind.value,
        "forwarding": choice.forwarding,
        "digest": choice.digest,
        "image": image,
    }
    return {"vnf": vnf, "flavor": choice.flavor.name, "accelerator": accelerator}


def dead(status: Callable[[str], str], handles: Sequence[VnfHandle]) -> tuple[str, ...]:
    """Return the names of VNFs of which an instance does not run.

    Args:
        status: returns Nova's status of an instance, by its id.
    """
    return tuple(one.name for one in handles if any(status(each) != _RUNS for each in CloudVnfState.of(one).each))


def verify(status: Callable[[str], str], handles: Sequence[VnfHandle]) -> None:
    """Check that the instances run.

    Raises:
        VnfDiedError: one does not; with Nova's status of it.
    """
    for one in instances(handles):
        found = status(one.id)
        if found != _RUNS:
            raise VnfDiedError(
                f"{one.name} does not run any more",
                where=f"instance {one.id}",
                observed=f"Nova says {found}",
                fix="nfvbed heal where Tacker has onboarded it; its console says more (openstack console log show)",
            )
