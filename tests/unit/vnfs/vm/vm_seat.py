"""Placements of virtual machines, made up."""

from pathlib import Path

from nfvbed.records import PortKind, VnfKind, VnfPort
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.vnf import ImageSpec, VnfChoice, VnfPortSpec, VnfSpec
from nfvbed.vnfs.vnf import VnfSeat

PROJECT = Path(__file__).resolve().parents[4]
FLAVOR = Flavor(name="default", title="Default")


def choice(*, flavor=FLAVOR, vnic="any", offloads=True, agent=True):
    image = ImageSpec(file="images/vloop.qcow2", agent=agent, console_marker="vloop: ready")
    spec = VnfSpec(
        name="vloop",
        title="Loopback",
        kinds=(VnfKind.VM,),
        ports=(VnfPortSpec(name="in", role="in"), VnfPortSpec(name="out", role="out")),
        forwarding=("io",),
        image=image,
    )
    return VnfChoice(
        label="vm-io", vnf=spec, kind=VnfKind.VM, forwarding="io", flavor=flavor, vnic=vnic, offloads=offloads
    )


def port(number, kind=PortKind.TAP, queues=1):
    return VnfPort(
        name=f"v1{'ab'[number]}",
        vnf=0,
        port=number,
        kind=kind,
        address=f"t{number}",
        netns="/run/netns/switch",
        mac=f"02:4e:46:56:11:{number:02x}",
        queues=queues,
    )


def seat(made, **changes):
    fields = {
        "index": 0,
        "choice": made,
        "does": "io",
        "ports": (port(0), port(1)),
        "workspace": None,
        "cores": (1,),
        "control_cores": (0,),
        "shares_core": False,
        "root": PROJECT,
    }
    return VnfSeat(**(fields | changes))
