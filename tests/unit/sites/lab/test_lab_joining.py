"""Which ports a switch is waited for at: those of sockets, by their names on the switch."""

from types import SimpleNamespace

import pytest

from nfvbed.records import Deployment, GeneratorPort, PortKind, VnfPort
from nfvbed.sites.lab.planes import LabPlanes


def deployment(topology, kind, outside):
    def port(name, of):
        return VnfPort(name=name, vnf=0, port=0, kind=of, address="a", mac="02:00:00:00:00:01")

    return Deployment(
        id="d",
        variant="v",
        site="lab",
        topology=topology,
        ports=(GeneratorPort(engine="dpdk", spec="s", kind=kind),) * outside,
        vnf_ports=((port("v1a", PortKind.VHOST_USER), port("v1b", PortKind.VETH)),),
    )


@pytest.mark.parametrize(
    ("topology", "kind", "outside", "names"),
    [
        ("p2p", PortKind.VHOST_USER, 2, {"p0", "p1"}),
        ("p2v", PortKind.VHOST_USER, 1, {"p0"}),
        ("v2p", PortKind.VHOST_USER, 1, {"p1"}),
        ("v2v", PortKind.VHOST_USER, 0, set()),
        ("p2p", PortKind.VETH, 2, set()),
    ],
)
def test_the_switch_is_asked_for_the_sockets_of_the_generator_and_of_the_vnfs(topology, kind, outside, names):
    asked, made = [], deployment(topology, kind, outside)
    planes = LabPlanes(machine=SimpleNamespace(spec=SimpleNamespace(name="lab")))
    plane = SimpleNamespace(wait_until_joined=lambda _, ports: asked.append(set(ports)))
    planes._live[made.id] = SimpleNamespace(plane=plane)
    planes.wait_for_generator(made)
    planes.wait_for_vnfs(made)
    assert asked == [names, {"v1a"}]
