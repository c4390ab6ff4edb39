"""Lower links and devices of every layout, by name and address."""

import pytest

from nfvbed.dataplanes.macvtap.options import MacvtapOptions
from nfvbed.dataplanes.macvtap.ports import MacvtapPlan, _macs
from nfvbed.dataplanes.ports.shares import share_mac
from nfvbed.dataplanes.wiring import end_mac
from nfvbed.spec.layout import End, layout


def plan(topology, mode="bridge", taps=False):
    return MacvtapPlan(layout(topology), MacvtapOptions(dataplane="macvtap", mode=mode), taps)


def lowers(found):
    return {found.device(end): found.lower(end) for end in found.ends}


def test_one_vnf_lies_on_the_two_links_that_lead_outside():
    found = plan("pvp")
    assert lowers(found) == {"eth1a": "s0", "eth1b": "s1"}
    assert found.lowers == ("s0", "s1")
    assert lowers(plan("pvp", taps=True)) == {"v1a": "s0", "v1b": "s1"}


@pytest.mark.parametrize(
    ("mode", "second", "relays"), [("bridge", "m1", ()), ("vepa", "m1", ("h1",)), ("passthru", "w1", ())]
)
def test_two_vnfs_meet_on_a_link_between_them(mode, second, relays):
    found = plan("pvvp", mode)
    assert lowers(found) == {"eth1a": "s0", "eth1b": "m1", "eth2a": second, "eth2b": "s1"}
    assert found.lowers == ("s0", "s1", "m1", "w1")
    assert found.relays == relays
    assert found.behind(End(0, 1)) == ("m1", *relays, "w1")
    assert found.behind(End(0, 0)) == ()


def test_vnfs_side_by_side_share_the_links_that_lead_outside():
    found = plan("pvpv")
    assert lowers(found) == {"eth1a": "s0", "eth1b": "s1", "eth2a": "s0", "eth2b": "s1"}
    assert found.first_macs() == (share_mac(0, 0), share_mac(1, 0))
    assert {found.address(End(vnf, 0)) for vnf in (0, 1)} == {share_mac(0, 0), share_mac(0, 1)}


@pytest.mark.parametrize(("topology", "last"), [("pvp", 0), ("pvvp", 1), ("pv4p", 3)])
def test_frames_from_outside_are_addressed_to_the_outermost_devices(topology, last):
    assert plan(topology).first_macs() == (end_mac(End(0, 0)), end_mac(End(last, 1)))
    assert plan(topology, "passthru").first_macs() is None


def test_a_passthru_device_has_the_address_of_its_link():
    found = plan("pvvp", "passthru")
    outer, inner = found.segments[0], found.segments[1]
    assert _macs(found, 0, outer)[0] == found.address(End(0, 0))
    assert _macs(found, 1, inner) == (found.address(End(0, 1)), found.address(End(1, 0)))


@pytest.mark.parametrize("topology", ["pvp", "pvvp", "pvpv", "pv10p", "pcp"])
@pytest.mark.parametrize("mode", ["bridge", "vepa"])
def test_all_addresses_are_different(topology, mode):
    found = plan(topology, mode)
    of_links = [mac for place, segment in enumerate(found.segments) for mac in _macs(found, place, segment)]
    everything = [*of_links, *(found.address(end) for end in found.ends)]
    assert len(set(everything)) == len(everything)
