"""Own tap ports in the place of the generator's: which rules lead to them, and when there are none."""

from nfvbed.dataplanes.ovs import openflow
from nfvbed.dataplanes.ovs.owntaps import NUMBERS, _led, _told

TAKEN = dict(zip((1, 2), NUMBERS, strict=True))


def test_a_path_leads_to_the_taps_and_its_vnfs_stay():
    rules = [openflow.Rule(in_port=1, output=3), openflow.Rule(in_port=4, output=2, cookie=7)]
    first, last = (_led(rule, TAKEN) for rule in rules)
    assert (first.in_port, first.output) == (NUMBERS[0], 3)
    assert (last.in_port, last.output, last.cookie) == (4, NUMBERS[1], 7)


def test_a_learning_switch_keeps_its_rule():
    rule = openflow.Rule(output=openflow.PORT_NORMAL, cookie=0)
    assert _led(rule, TAKEN) == rule


def test_what_the_switch_says_is_told_and_else_nothing():
    said = {"own0": {"tx_tcp_seg_offload": "true", "driver_name": "tun"}, "own1": {"driver_name": "tun"}}
    assert _told(said) == ("Open vSwitch says of own0: tx_tcp_seg_offload true.",)
    assert _told({}) == ()
