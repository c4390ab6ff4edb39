"""What a VNF's ports lead to: the addresses that it writes into frames, for a switch that goes by them."""

from pathlib import Path

import pytest

from nfvbed.records import Deployment, GeneratorPort, PortKind, VnfPort
from nfvbed.spec.layout import layout
from nfvbed.vnfs.seats import beyond

KERNEL = ("02:4e:46:56:00:00", "02:4e:46:56:00:01")
SOCKETS = ("02:4e:46:56:00:01", "02:4e:46:56:00:02")


def deployment(kind: PortKind, topology: str) -> Deployment:
    plan = layout(topology)
    ports = tuple(GeneratorPort(engine="dpdk", spec="", kind=kind) for _ in plan.outside)
    vnf_ports = tuple(
        tuple(VnfPort(name="", vnf=v, port=p, kind=kind, address="", mac=f"02:00:00:00:0{v}:0{p}") for p in (0, 1))
        for v in range(plan.vnfs)
    )
    return Deployment(
        id="d", variant="v", site="lab", topology=topology, ports=ports, vnf_ports=vnf_ports, run_directory=str(Path())
    )


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (PortKind.VETH, KERNEL),
        (PortKind.MACVTAP, KERNEL),
        (PortKind.VF, KERNEL),
        (PortKind.VHOST_USER, SOCKETS),
        (PortKind.MEMIF, SOCKETS),
    ],
)
def test_a_vnf_leads_to_the_addresses_that_the_generators_ports_have(kind, expected):
    assert beyond(deployment(kind, "pvp"), layout("pvp"), 0) == expected


def test_a_chain_of_functions_leads_from_vnf_to_vnf():
    found = [beyond(deployment(PortKind.VF, "pvvp"), layout("pvvp"), index) for index in (0, 1)]
    assert found == [(KERNEL[0], "02:00:00:00:01:00"), ("02:00:00:00:00:01", KERNEL[1])]
