"""What flows and entries are to each other, without a switch."""

import pytest

from nfvbed.dataplanes.catalogue import VariantModel, data_plane
from nfvbed.dataplanes.ovs.entries import FIRST_SOURCES, check_steering, flow_address, flow_udp_source
from nfvbed.dataplanes.ovs.openflow import Rule, UdpSource
from nfvbed.dataplanes.tables import TableNotApplicable, closing, share_out
from nfvbed.errors import DeployError, SwitchDiedError, UnsupportedError
from nfvbed.records import Deployment
from nfvbed.sites.simulated.tables import SimulatedEntries
from nfvbed.spec.variant import Variant


@pytest.mark.parametrize(
    ("entries", "directions", "shares"),
    [(1, 1, (1,)), (1, 2, (1, 1)), (2, 2, (1, 1)), (5, 2, (3, 2)), (100_000, 2, (50_000, 50_000))],
)
def test_every_direction_has_its_share_and_at_least_one(entries, directions, shares):
    assert share_out(entries, directions) == shares


def test_a_million_flows_have_a_million_entries():
    """As the generator numbers them: 198.18.0.1 is flow 0's, the address stays within its network."""
    seen = {(flow_address(FIRST_SOURCES[0], number), flow_udp_source(number)) for number in range(1_000_000)}
    assert len(seen) == 1_000_000
    assert {address >> 16 for address, _ in seen} == {0xC612}
    assert {port >> 14 for _, port in seen} == {0b11}
    assert flow_address(FIRST_SOURCES[1], 0xFFFF) == 0xC6130000


def test_rules_that_others_write_or_that_share_flows_out_are_left_alone():
    plain, share = Rule(2, 1), Rule(2, 1, udp_source=UdpSource(4, 0, 1))
    check_steering("static", (plain,))
    with pytest.raises(TableNotApplicable, match="address-caching"):
        check_steering("normal", ())
    with pytest.raises(TableNotApplicable, match="share flows out"):
        check_steering("static", (plain, share))
    with pytest.raises(UnsupportedError, match="written by onos"):
        check_steering("onos", (plain,))


def deployed(topology: str = "p2p") -> Deployment:
    return Deployment(id="d", variant="v", site="lab", topology=topology, ports=())


def declared(**options: object) -> Variant:
    kind = "vhost-user" if options["dataplane"] == "ovs-dpdk" else "veth"
    values = {"name": "v", "title": "v", "port_kind": kind, "topologies": ("p2p",), "options": options}
    return VariantModel.model_validate(values)


@pytest.mark.parametrize(
    ("options", "topology", "words"),
    [
        ({"dataplane": "linux-bridge", "learning": False}, "p2p", "does not learn"),
        ({"dataplane": "linux-bridge"}, "pvp", "between two ports"),
        ({"dataplane": "ovs-dpdk"}, "p2p", "static rules"),
        ({"dataplane": "xdp"}, "p2p", "learns no addresses"),
    ],
)
def test_what_does_not_learn_says_why(options, topology, words):
    with pytest.raises(TableNotApplicable, match=words):
        variant = declared(**options)
        data_plane(variant).learning_table(deployed(topology), variant)


@pytest.mark.parametrize("dataplane", ["linux-bridge", "xdp"])
def test_what_has_no_table_says_so(dataplane):
    with pytest.raises(TableNotApplicable):
        variant = declared(dataplane=dataplane)
        data_plane(variant).forwarding_table(deployed(), variant)


class Broken(SimulatedEntries):
    """Cannot be closed."""

    def __init__(self) -> None:
        """Hold no entries and no switch."""

    def close(self) -> None:
        raise DeployError("the switch does not answer")


def test_what_failed_first_is_reported():
    with pytest.raises(SwitchDiedError), closing(Broken()):
        raise SwitchDiedError("the switch ended")
    with pytest.raises(DeployError), closing(Broken()):
        pass
