"""Cables to rules: who takes which flow."""

import pytest

from nfvbed.dataplanes.ovs.openflow import Rule, UdpSource
from nfvbed.dataplanes.ovs.steering.path import SHARE_PRIORITY, SteeringPath, SwitchCable, cable_rules, path_rules
from nfvbed.errors import ConfigurationError

CHAIN = SteeringPath({"p0": 1, "p1": 2, "v0p0": 3, "v0p1": 4}, (SwitchCable("p0", "v0p0"), SwitchCable("v0p1", "p1")))


def parallel(count):
    names = ["p0", "p1", *(f"v{vnf}p{port}" for vnf in range(count) for port in (0, 1))]
    cables = [
        cable
        for vnf in range(count)
        for cable in (
            SwitchCable("p0", f"v{vnf}p0", (vnf, count)),
            SwitchCable(f"v{vnf}p1", "p1", (vnf, count)),
        )
    ]
    return SteeringPath({name: number for number, name in enumerate(names, 1)}, tuple(cables))


def output(rules, in_port, version=None, source=0):
    """What a switch does with a frame: the matching rule of the highest priority."""
    matching = [
        rule
        for rule in rules
        if rule.in_port == in_port
        and (
            rule.udp_source is None
            or (version == rule.udp_source.ip_version and source & rule.udp_source.mask == rule.udp_source.value)
        )
    ]
    best = max(rule.priority for rule in matching)
    (chosen,) = [rule for rule in matching if rule.priority == best]
    return chosen.output


def test_a_cable_is_two_rules_with_a_cookie_each():
    assert path_rules(CHAIN) == (Rule(3, 1, 1), Rule(1, 3, 2), Rule(2, 4, 3), Rule(4, 2, 4))


def test_rules_of_a_cable_know_their_direction():
    first, second = cable_rules(CHAIN)
    assert [rule.output for rule in (*first.forward, *second.forward)] == [3, 2]
    assert [rule.output for rule in (*first.backward, *second.backward)] == [1, 4]


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("version", [4, 6])
def test_flows_are_shared_out_by_their_number(count, version):
    path = parallel(count)
    rules = path_rules(path)
    for flow in range(4 * count):
        vnf, source = flow % count, 0xC000 + flow
        assert output(rules, 1, version, source) == path.ports[f"v{vnf}p0"]
        assert output(rules, 2, version, source) == path.ports[f"v{vnf}p1"]


def test_what_is_no_flow_takes_the_first_share():
    rules = path_rules(parallel(2))
    assert output(rules, 1) == 3


def test_way_back_of_a_share_needs_no_match():
    path = parallel(2)
    (rule,) = [rule for rule in path_rules(path) if rule.in_port == path.ports["v1p0"]]
    assert (rule.output, rule.udp_source) == (1, None)


def test_cookies_are_unique_and_in_order():
    rules = path_rules(parallel(2))
    assert [rule.cookie for rule in rules] == list(range(1, len(rules) + 1))
    assert Rule(3, 1, 1, SHARE_PRIORITY, UdpSource(4, 0, 1)) == rules[0]


def test_share_of_a_port_with_one_cable_takes_everything():
    path = SteeringPath({"p0": 1, "p1": 2}, (SwitchCable("p0", "p1", (1, 2)),))
    assert [rule.udp_source for rule in path_rules(path)] == [None, None]


@pytest.mark.parametrize(
    "shares",
    [(None, None), ((0, 2), None), ((0, 2), (0, 2)), ((0, 4), (1, 4)), ((0, 3), (1, 3), (2, 3))],
)
def test_flows_without_or_with_two_ways(shares):
    ports = {"p0": 1, "a": 2, "b": 3, "c": 4}
    cables = tuple(SwitchCable("p0", name, share) for name, share in zip("abc", shares, strict=False))
    with pytest.raises(ConfigurationError, match="share") as caught:
        path_rules(SteeringPath(ports, cables))
    assert caught.value.where == "p0"
    assert "2, 4, 8" in caught.value.fix


@pytest.mark.parametrize("cable", [SwitchCable("p0", "p9"), SwitchCable("p0", "p0")])
def test_cable_to_nowhere(cable):
    with pytest.raises(ConfigurationError, match="does not join"):
        path_rules(SteeringPath({"p0": 1, "p1": 2}, (cable,)))
