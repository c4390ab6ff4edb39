"""The VNFs of a deployment on a cloud: onboarded through Tacker in the order of the path, and removed."""

from collections.abc import Callable, Sequence
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


class PortState(Record):
    """The record of an instance's port."""

    id: str
    network: str
    mac: str


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

    def placed(self, name: str) -> PlacedInstance:
        """Return its instance."""
        ports = tuple(InstancePort(one.id, one.network, one.mac) for one in self.instance_ports)
        return PlacedInstance(self.instance, name, self.host, ports)


def handle(
    place: int, vnf: TackerVnf, choice: VnfChoice, kind: PortKind, accelerator: Accelerator = Accelerator.TCG
) -> VnfHandle:
    """Return the handle of a VNF that was onboarded, or is there already.

    Args:
        place: in the path, from 0.
        vnf: from Tacker, with one instance.
        kind: of its ports.
        accelerator: of its instance; none: not known.
    """
    (instance,) = vnf.instances
    name = f"vnf{place + 1}"
    state = CloudVnfState(
        tacker_api=vnf.api,
        tacker_id=vnf.id,
        stack=vnf.stack_id,
        instance=instance.id,
        host=instance.host,
        instance_ports=tuple(PortState(id=one.id, network=one.network, mac=one.mac) for one in instance.ports),
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
        for number, port in enumerate(instance.ports[:2])
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


def instances(handles: Sequence[VnfHandle]) -> tuple[PlacedInstance, ...]:
    """Return the instances of VNFs, in the order of the path."""
    return tuple(CloudVnfState.of(one).placed(one.name) for one in handles)


def placed(handles: Sequence[VnfHandle]) -> tuple[InstancePlacement, ...]:
    """Return the place and owner of VNFs, in the order of the path."""
    states = (CloudVnfState.of(one) for one in handles)
    return tuple(InstancePlacement(one.host, one.instance, one.stack, one.tacker_api, one.tacker_id) for one in states)


def known(accelerator: Accelerator) -> str | None:
    """Return an accelerator that is known; None: it is not."""
    return None if accelerator is Accelerator.NONE else accelerator.value


def described(choice: VnfChoice, image: str | None, accelerator: str | None = Accelerator.TCG.value) -> dict[str, Any]:
    """Return the VNFs' part of the rig.

    Args:
        image: name in Glance, which has the digest; None: not known.
        accelerator: of their instances; None: not known.
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
    """Return the names of VNFs whose instance does not run.

    Args:
        status: returns Nova's status of an instance, by its id.
    """
    return tuple(one.name for one in handles if status(CloudVnfState.of(one).instance) != _RUNS)


def verify(status: Callable[[str], str], handles: Sequence[VnfHandle]) -> None:
    """Check that the instances run.

    Raises:
        VnfDiedError: one does not; with Nova's status of it.
    """
    for one in handles:
        instance = CloudVnfState.of(one).instance
        found = status(instance)
        if found != _RUNS:
            raise VnfDiedError(
                f"{one.name} does not run any more",
                where=f"instance {instance}",
                observed=f"Nova says {found}",
                fix="nfvbed heal where Tacker has onboarded it; its console says more (openstack console log show)",
            )
