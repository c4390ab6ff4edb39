"""A variant's ports to the generator are those that its data plane has."""

import pytest
from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.records import CellRole, PortKind

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
    ({"dataplane": "vpp", "port_type": "memif"}, ("memif",)),
    ({"dataplane": "vpp", "vnf_ports": "kernel"}, ("veth",)),
    ({"dataplane": "existing"}, ("netdev", "pci")),
    (
        {"dataplane": "simulated"},
        ("simulated", "vhost-user", "memif", "veth", "tap", "macvtap", "vf", "pci", "netdev", "neutron"),
    ),
]


@pytest.mark.parametrize(("options", "allowed"), ALLOWED)
def test_other_ports_are_refused(options: dict[str, str], allowed: tuple[str, ...]) -> None:
    values = {"name": "v", "title": "v", "topologies": ("p2p",), "options": options}
    for kind in PortKind:
        if kind in allowed:
            assert VariantModel.model_validate({**values, "port_kind": kind}).port_kind is kind
        else:
            with pytest.raises(ValidationError, match=f"has ports of kind {' or '.join(allowed)}"):
                VariantModel.model_validate({**values, "port_kind": kind})


PATHS = [
    ({"dataplane": "linux-bridge"}, "veth", "netdev"),
    ({"dataplane": "ovs-kernel"}, "veth", "netdev"),
    ({"dataplane": "macvtap"}, "veth", "netdev"),
    ({"dataplane": "ovs-afxdp"}, "veth", "af_xdp"),
    ({"dataplane": "xdp"}, "veth", "xdp-redirect"),
    ({"dataplane": "xdp", "mode": "generic"}, "veth", "xdp-generic"),
    ({"dataplane": "vale"}, "veth", "netmap"),
    ({"dataplane": "lagopus-raw"}, "veth", "af_packet"),
    ({"dataplane": "lagopus"}, "vhost-user", "vhost"),
    ({"dataplane": "ovs-dpdk"}, "vhost-user", "vhost"),
    ({"dataplane": "ovs-dpdk", "port_type": "memif"}, "memif", "memif"),
    ({"dataplane": "ovs-overlay"}, "vhost-user", "vhost"),
    ({"dataplane": "sriov"}, "vf", "vf"),
    ({"dataplane": "vpp"}, "pci", "pci"),
    ({"dataplane": "vpp", "vnf_ports": "kernel"}, "veth", "af_packet"),
    ({"dataplane": "existing"}, "pci", "pci"),
    ({"dataplane": "simulated"}, "simulated", "simulated"),
]


@pytest.mark.parametrize(("options", "kind", "path"), PATHS)
def test_each_data_plane_says_how_frames_pass_its_ports(options: dict[str, str], kind: str, path: str) -> None:
    values = {"name": "v", "title": "v", "topologies": ("p2p",), "options": options, "port_kind": kind}
    variant = VariantModel.model_validate(values)
    assert variant.io_path() == path
    # testpmd is never in the place of a cloud's devices.
    reference = {"veth": "af_xdp", "netdev": ""}.get(kind, path)
    assert variant.io_path(CellRole.REFERENCE) == reference, "as testpmd passes them in the switch's place"
