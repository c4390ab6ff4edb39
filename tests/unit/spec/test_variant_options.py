"""Options of another data plane are refused, with the data planes that have the wanted ones."""

import pytest

from nfvbed.dataplanes.catalogue import CATALOGUE, VariantModel
from nfvbed.dataplanes.ovs.kernel.options import OvsKernelOptions
from nfvbed.dataplanes.ovs.userspace import OvsUserspaceOptions
from nfvbed.dataplanes.ports.kernel_options import OffloadOptions
from nfvbed.errors import ConfigurationError
from nfvbed.spec.options import DataPlaneOptions, name_of, names_of
from nfvbed.spec.variant import options_of

VPP = VariantModel.model_validate(
    {"name": "v", "title": "v", "topologies": ("p2p",), "port_kind": "vhost-user", "options": {"dataplane": "vpp"}}
)


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        (OvsKernelOptions, "ovs-kernel"),
        (OvsUserspaceOptions, "ovs-afxdp or ovs-dpdk or ovn or ovn-afxdp"),
        (OffloadOptions, "linux-bridge or macvtap or ovn-kernel or ovs-kernel"),
    ],
)
def test_the_error_names_the_data_planes(kind: type[DataPlaneOptions], named: str) -> None:
    with pytest.raises(ConfigurationError, match="has another data plane than ") as caught:
        options_of(VPP, kind)
    said = str(caught.value).partition(" than ")[2].splitlines()[0]
    assert sorted(said.split(" or ")) == sorted(named.split(" or "))
    assert caught.value.observed == "dataplane: vpp"


def test_every_kind_of_options_has_a_name() -> None:
    shared = {kind for model in CATALOGUE.options for kind in model.__mro__ if issubclass(kind, DataPlaneOptions)}
    assert all(names_of(kind) and all(names_of(kind)) for kind in shared)
    assert set(names_of(DataPlaneOptions)) >= {name_of(model) for model in CATALOGUE.options}
