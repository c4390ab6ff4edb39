"""A variant's ports to the generator are those that its data plane has."""

import pytest
from pydantic import ValidationError

from nfvbed.records import PortKind
from nfvbed.spec.variant import Variant

ALLOWED = [
    ({"dataplane": "linux-bridge"}, ("veth",)),
    ({"dataplane": "ovs-kernel"}, ("veth",)),
    ({"dataplane": "ovs-afxdp"}, ("veth",)),
    ({"dataplane": "macvtap"}, ("veth",)),
    ({"dataplane": "xdp"}, ("veth",)),
    ({"dataplane": "vale"}, ("veth",)),
    ({"dataplane": "lagopus-raw"}, ("veth",)),
    ({"dataplane": "lagopus"}, ("vhost-user",)),
    ({"dataplane": "ovs-dpdk"}, ("vhost-user",)),
    ({"dataplane": "ovs-dpdk", "port_type": "memif"}, ("memif",)),
    ({"dataplane": "ovs-dpdk", "port_type": "pci"}, ("pci",)),
    ({"dataplane": "ovs-overlay"}, ("vhost-user",)),
    ({"dataplane": "sriov"}, ("vf",)),
    ({"dataplane": "vpp"}, ("vhost-user", "memif", "pci")),
    ({"dataplane": "vpp", "vnf_ports": "kernel"}, ("veth",)),
    ({"dataplane": "simulated"}, tuple(PortKind)),
]


@pytest.mark.parametrize(("options", "allowed"), ALLOWED)
def test_other_ports_are_refused(options: dict[str, str], allowed: tuple[str, ...]) -> None:
    values = {"name": "v", "title": "v", "topologies": ("p2p",), "options": options}
    for kind in PortKind:
        if kind in allowed:
            assert Variant.model_validate({**values, "port_kind": kind}).port_kind is kind
        else:
            with pytest.raises(ValidationError, match=f"has ports of kind {' or '.join(allowed)}"):
                Variant.model_validate({**values, "port_kind": kind})
