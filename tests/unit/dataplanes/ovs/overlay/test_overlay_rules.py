"""How a path is laid over two hosts, and the rules of each. Nothing runs here."""

from collections import Counter

import pytest

from nfvbed.dataplanes.ovs.overlay.hostplan import TUNNEL_PORT, ForwardingRule, host_plans
from nfvbed.dataplanes.ovs.overlay.options import LEAST_RULES, MOST_RULES
from nfvbed.dataplanes.ovs.overlay.pipeline import DEFAULT, Table, direct_rules, pipeline_rules
from nfvbed.dataplanes.ovs.overlay.tenants import ADDRESSES, SHAPES, tenant_rules
from nfvbed.dataplanes.ovs.tablerules import Field, flow_mod, output, set_field, track
from nfvbed.errors import UnsupportedError
from nfvbed.spec.layout import MAX_CHAIN, layout


@pytest.mark.parametrize(
    ("topology", "first", "second"),
    [
        ("p2p", ["p0"], ["p1"]),
        ("pvp", ["p0", "v1a", "v1b"], ["p1"]),
        ("pvvp", ["p0", "v1a", "v1b"], ["v2a", "v2b", "p1"]),
        ("pv3p", ["p0", "v1a", "v1b", "v2a", "v2b"], ["v3a", "v3b", "p1"]),
        ("v2v", ["v1a"], ["v2a"]),
        ("p2v", ["p0"], ["v1a"]),
        ("v2p", ["v1a"], ["p1"]),
    ],
)
def test_first_half_of_the_path_is_on_the_first_host(topology, first, second):
    plans = host_plans(layout(topology), 2)
    assert [list(plan.ports) for plan in plans] == [first, second]
    assert [len(plan.arrivals) for plan in plans] == [1, 1], "the path crosses once"
    (alone,) = host_plans(layout(topology), 1)
    assert list(alone.ports) == [*first, *second]
    assert not alone.arrivals


def test_legs_of_a_path_through_a_vnf_and_the_tunnel():
    first, second = host_plans(layout("pvp"), 2)
    assert first.legs == (ForwardingRule(1, 3, 5001), ForwardingRule(3, 1, 5001), ForwardingRule(4, None, 5002))
    assert first.arrivals == {5002: 4}
    assert second.legs == (ForwardingRule(2, None, 5002),)
    assert (first.name, second.name) == ("h1", "h2")


def test_vnfs_side_by_side_are_refused():
    with pytest.raises(UnsupportedError, match="shares flows out"):
        host_plans(layout("pvpv"), 2)


def test_without_tracking_and_tenants_each_direction_is_one_rule():
    first, _ = host_plans(layout("p2p"), 2)
    leaves, arrives = direct_rules(first)
    assert leaves.match == (Field("in_port", 1),)
    assert leaves.actions == (set_field("tunnel_id", 5001), output(TUNNEL_PORT))
    assert arrives.match == (Field("in_port", TUNNEL_PORT), Field("tunnel_id", 5001))
    assert arrives.actions == (output(1),)
    (alone,) = host_plans(layout("p2p"), 1)
    assert [rule.actions for rule in direct_rules(alone)] == [(output(2),), (output(1),)]


def walk(rules, frame):
    """Follow a frame through the tables, as a switch would; give its actions. `ct` goes on as the frame says."""
    done, table = [], 0
    frame = dict(frame)
    while table is not None:
        found = [rule for rule in rules if rule.table == table and all(_fits(field, frame) for field in rule.match)]
        if not found:
            return [*done, "drop"]
        rule = max(found, key=lambda rule: rule.priority)
        table = rule.goto
        if table is None and not rule.actions:
            return [*done, "drop"]
        for action in rule.actions:
            done.append(action)
            for name in ("reg0", "tunnel_id"):
                if action[:2] == set_field(name, 0)[:2] and action[4:8] == set_field(name, 0)[4:8]:
                    frame[name] = int.from_bytes(action[8:12] if name == "reg0" else action[8:16], "big")
            if action[:2] == b"\xff\xff" and action[18] != 0xFF:
                table, frame["ct_state"] = action[18], frame["tracked"]
    return done


def _fits(field, frame):
    mask = (1 << 64) - 1 if field.mask is None else field.mask
    return field.name in frame and frame[field.name] & mask == field.value & mask


def frame_from(port, tracked=0x20, mark=1):
    addresses = {"eth_src": 0x024E46560001, "eth_dst": 0x024E46560002, "ipv4_src": 0xC6120001, "ipv4_dst": 0xC6130001}
    udp = {"eth_type": 0x0800, "ip_proto": 17, "udp_src": 49152, "udp_dst": 9}
    return {"in_port": port, "ct_state": 0, "ct_mark": mark, "tracked": tracked, **addresses, **udp}


@pytest.mark.parametrize("topology", ["p2p", "pvvp"])
def test_known_connection_is_looked_up_where_it_leaves_and_where_it_arrives(topology):
    first, second = host_plans(layout(topology), 2)
    tenants = list(tenant_rules(5000))
    leaving = next(leg for leg in first.legs if leg.target is None)
    sent = walk([*pipeline_rules(first, conntrack=True), *tenants], frame_from(leaving.source))
    assert sent == [
        track(leaving.source, Table.FIREWALL_OUT),
        set_field("tunnel_id", leaving.network),
        output(TUNNEL_PORT),
    ]
    (arrives,) = second.arrivals.values()
    frame = frame_from(TUNNEL_PORT) | {"tunnel_id": leaving.network}
    assert walk([*pipeline_rules(second, conntrack=True), *tenants], frame) == [
        set_field("reg0", arrives),
        track(arrives, Table.FIREWALL_IN),
        output(arrives),
    ]


def test_new_connection_is_committed_an_invalid_one_dropped_and_what_is_no_ip_passes():
    (alone,) = host_plans(layout("p2p"), 1)
    rules = pipeline_rules(alone, conntrack=True)
    new = walk(rules, frame_from(1, tracked=0x21, mark=0))
    assert len([action for action in new if action[:2] == b"\xff\xff"]) == 4, "tracked and committed, twice"
    assert new[-1] == output(2)
    again = walk(rules, frame_from(1, tracked=0x21, mark=1))
    assert len([action for action in again if action[:2] == b"\xff\xff"]) == 2, "let in already"
    established = walk(rules, frame_from(1, tracked=0x22, mark=0))
    assert established == [track(1, Table.FIREWALL_OUT), set_field("reg0", 2), track(2, Table.FIREWALL_IN), output(2)]
    answer = walk(rules, frame_from(2, tracked=0x2A, mark=0))
    assert answer == [track(2, Table.FIREWALL_OUT), set_field("reg0", 1), track(1, Table.FIREWALL_IN), output(1)], (
        "looked up in the zones of the frames that it answers"
    )
    assert walk(rules, frame_from(1, tracked=0x30))[-1] == "drop"
    arp = frame_from(1) | {"eth_type": 0x0806}
    assert walk(rules, arp) == [set_field("reg0", 2), output(2)]


def test_without_tracking_nothing_is_tracked():
    (alone,) = host_plans(layout("pvp"), 1)
    rules = pipeline_rules(alone, conntrack=False)
    assert walk([*rules, *tenant_rules(2000)], frame_from(4)) == [set_field("reg0", 2), output(2)]


def test_longest_chain_fits_into_the_fewest_rules():
    (alone,) = host_plans(layout(f"pv{MAX_CHAIN}p"), 1)
    assert len(pipeline_rules(alone, conntrack=True)) < LEAST_RULES


def test_tenants_rules_are_all_different_and_always_the_same():
    rules = list(tenant_rules(MOST_RULES))
    assert len(rules) == MOST_RULES
    assert len({(rule.table, rule.match) for rule in rules}) == MOST_RULES
    assert rules[:100] == list(tenant_rules(100))
    tables = Counter(rule.table for rule in rules)
    assert set(tables) == {shape.table for shape in SHAPES}
    masks = {tuple((field.name, field.mask) for field in rule.match) for rule in rules}
    assert len(masks) > 12
    assert all(rule.priority > DEFAULT for rule in rules), "above the path's: a frame must be compared with them"


def test_tenants_addresses_are_their_own():
    for rule in tenant_rules(20_000):
        for field in rule.match:
            if field.name.startswith("ipv4"):
                assert field.value & 0xFFF00000 == ADDRESSES
                assert field.mask is None or field.value & ~field.mask == 0, "a switch would refuse it else"


def test_messages_are_whole():
    for rule in [*pipeline_rules(host_plans(layout("pvvp"), 2)[0], conntrack=True), *tenant_rules(2000)]:
        assert len(flow_mod(rule)) % 8 == 0
