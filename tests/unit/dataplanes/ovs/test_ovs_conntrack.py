"""Connections and flows as Open vSwitch 3.1 (with poll-mode threads), 3.5 and 4.0 (without) printed them.

Three flows a direction: at two ports of an overlay with 3.1, at one zone with the others.
"""

from pathlib import Path

import pytest

from nfvbed.dataplanes.ovs.conntrack import parse_connections, parse_flows
from nfvbed.errors import InternalError

CAPTURED = Path(__file__).parent / "captured"
RELEASES = {"3.1.0": 2, "3.5.0": 1, "4.0.0": 1}


def captured(what, form, release):
    return (CAPTURED / f"{what}-{form}-{release}.txt").read_text()


@pytest.mark.parametrize(("release", "zones"), RELEASES.items())
def test_answered_connections_are_told_from_others_by_the_time_that_they_have_left(release, zones):
    one_way = parse_connections(captured("dump-conntrack", "unreplied", release))
    assert (one_way.all, one_way.replied) == (2 * 3 * zones, 0)
    both = parse_connections(captured("dump-conntrack", "mirrored", release))
    assert (both.all, both.replied) == (3 * zones, 3 * zones)


@pytest.mark.parametrize("release", RELEASES)
def test_packets_are_looked_up_as_established_only_where_they_are_answered(release):
    one_way = parse_flows(captured("dump-flows", "unreplied", release))
    assert one_way.established == {} and sum(one_way.not_established.values()) > 0
    both = parse_flows(captured("dump-flows", "mirrored", release))
    assert sum(both.established.values()) > sum(both.not_established.values()) > 0, "the first frames are new"


@pytest.mark.parametrize(("release", "masks"), {"3.5.0": 2, "4.0.0": 2}.items())
def test_flows_that_ask_for_the_same_have_one_mask(release, masks):
    assert parse_flows(captured("dump-flows", "unreplied", release)).masks == masks, "before the look-up, and after"


def test_other_protocols_are_none_of_the_generators():
    tcp = "tcp,orig=(src=1.1.1.1,dst=1.1.1.2,sport=1,dport=2),reply=(src=1.1.1.2,dst=1.1.1.1,sport=2,dport=1),zone=1"
    assert parse_connections(f"{tcp},timeout=3,protoinfo=(state=ESTABLISHED)\n").all == 0


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parse_connections, "udp,orig=(src=1.1.1.1),reply=(src=1.1.1.2),zone=1,mark=1"),
        (parse_connections, "nothing of the kind"),
        (parse_flows, "recirc_id(0),in_port(1), packets:1, bytes:2, used:never, actions:2"),
    ],
)
def test_another_form_is_an_error_and_no_zero(parse, text):
    with pytest.raises(InternalError, match="form that is known"):
        parse(text)
