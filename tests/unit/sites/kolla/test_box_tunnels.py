"""Addresses of tunnels on a box: of the machine, or of a bridge, as the data plane of each compute has it."""

from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.sites.kolla.boxtunnels import addresses, set_addresses
from nfvbed.sites.kolla.pinning import pinning_of
from tests.unit.sites.kolla.orders import PROJECT, site

BOX = PROJECT.load_site("box")


def test_a_bridge_on_dpdk_has_the_address_and_else_the_machine():
    of_bridge, of_machine = (addresses(BOX, pinning_of(PROJECT, BOX, name)) for name in ("ovs-dpdk", "ovs-afxdp"))
    assert of_bridge == {"compute1": "", "compute2": ""}
    assert of_machine == {"compute1": "10.20.0.11/24", "compute2": "10.20.0.12/24"}
    assert set(addresses(BOX, pinning_of(PROJECT, BOX, "macvtap")).values()) == {""}


def test_a_switch_in_user_space_has_tunnels_only_where_its_bridge_has_the_address():
    """A tunnel leaves by a port of the switch that has its address; the machine's own device is none of its ports."""
    for name, plane in CATALOGUE.kolla.items():
        if plane.switch.datapath == "netdev" and plane.neutron.has_tunnels:
            assert plane.neutron.overlay_address == "of-bridge", name


def test_machines_that_are_given_are_left_alone(tmp_path):
    set_addresses(tmp_path, site(), pinning_of(PROJECT, site(), "ovs-kernel"))
    assert not list(tmp_path.iterdir())
