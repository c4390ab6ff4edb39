# SPDX-License-Identifier: Apache-2.0
"""What a peer does to frames of nfvgen's XDP engine is found out, whether they take the quick check or are parsed."""

import pytest

from tests.functional.xdp_driver import assert_nothing_lost

pytestmark = pytest.mark.no_hugepages

ONE_WAY = {"duration_ns": 5_000_000_000, "rate_pps": 1000, "directions": [[0, 1]], "drain_ns": 200_000_000}

# Stretches of a frame, in order: how many bytes, and what a frame counts as when one of them is damaged. What no
# checksum of the datagram covers is nobody's harm; without its magic number or way to it a frame is not ours.
ETHERNET = [(12, "received"), (2, "foreign")]
IPV4 = [(9, "received"), (1, "foreign"), (2, "received"), (8, "corrupted")]
IPV6 = [(6, "received"), (1, "foreign"), (1, "received"), (32, "corrupted")]
UDP_AND_PAYLOAD = [(8, "corrupted"), (4, "foreign"), (14, "corrupted")]


@pytest.mark.parametrize(
    ("harm", "kind"),
    [
        ("none", None),
        ("loss", "lost"),
        ("duplication", "duplicated"),
        ("corruption", "corrupted"),
        ("hold", "reordered"),
        ("tag", None),
        ("addresses", None),
    ],
)
def test_harm_is_found(through_relay, harm, kind):
    """A peer that drops, repeats, damages or delays every tenth frame is found out, frame by frame."""
    trial = through_relay(harm).trial(frames=300, **ONE_WAY)
    direction = trial["directions"][0]
    sent, hits = direction["sent"], direction["sent"] // 10
    expected = {"lost": 0, "duplicated": 0, "corrupted": 0, "reordered": 0}
    if kind:
        expected[kind] = hits
    if kind == "corrupted":
        expected["lost"] = hits
    if kind == "reordered" and sent % 10 == 0:
        # The last one is still held when the trial ends.
        expected["reordered"] -= 1
        expected["lost"] = 1
    assert {key: direction[key] for key in expected} == expected
    assert direction["received"] == sent - expected["lost"]


@pytest.mark.parametrize(
    ("version", "size", "regions"),
    [
        (4, 64, [*ETHERNET, *IPV4, *UDP_AND_PAYLOAD]),
        pytest.param(4, 129, [*ETHERNET, *IPV4, *UDP_AND_PAYLOAD, (65, "corrupted")], marks=pytest.mark.slow),
        pytest.param(6, 84, [*ETHERNET, *IPV6, *UDP_AND_PAYLOAD], marks=pytest.mark.slow),
        (6, 301, [*ETHERNET, *IPV6, *UDP_AND_PAYLOAD, (100, "corrupted"), (117, "corrupted")]),
    ],
)
def test_every_damaged_byte_counts_as_what_it_is(through_relay, version, size, regions):
    """One frame for each byte of the frame, with that byte damaged; without a pace, so that each one is sent."""
    generator = through_relay("flip")
    stack = {"vlan": None, "ip": version, "vxlan": None}
    assert sum(count for count, _ in regions) == size - 4
    for frames, kind in regions:
        trial = generator.trial(frames=frames, stack=stack, frame_sizes=[[size, 1]], **{**ONE_WAY, "rate_pps": None})
        direction = trial["directions"][0]
        seen = {
            "received": direction["received"],
            "corrupted": direction["corrupted"],
            "foreign": trial["foreign"][1],
        }
        assert seen == {"received": 0, "corrupted": 0, "foreign": 0, kind: direction["sent"]}
        assert direction["sent"] == frames


@pytest.mark.parametrize(
    "stack",
    [
        {"vlan": None, "ip": 4, "vxlan": None},
        {"vlan": 100, "ip": 4, "vxlan": None},
        {"vlan": 100, "ip": 6, "vxlan": None},
        {"vlan": None, "ip": 4, "vxlan": 7},
    ],
)
def test_a_tag_taken_off_is_no_harm(through_relay, stack):
    """A packet socket takes the tag off every frame: what is not as it was sent is parsed."""
    generator = through_relay("none")
    for flows in (1, 100_000):
        sizes = [[178, 7], [571, 4], [1514, 1]]
        trial = generator.trial(frames=120, stack=stack, flows=flows, frame_sizes=sizes, **ONE_WAY)
        direction = trial["directions"][0]
        assert direction["received"] == direction["sent"] > 0
        taken_off = 4 * direction["sent"] if stack["vlan"] else 0
        assert direction["received_bytes"] == direction["sent_bytes"] - taken_off
        assert direction["corrupted"] == direction["duplicated"] == direction["reordered"] == 0
        assert sum(count for _, count in direction["latency"]["counts"]) == direction["sent"]


@pytest.mark.parametrize(
    ("vlan", "version", "size"),
    [(None, 4, 64), (7, 4, 68), (None, 6, 84), (7, 6, 88), (None, 4, 1518), (7, 6, 1518)],
)
def test_quick_check_at_every_length_of_headers(shared_loop, vlan, version, size):
    """The smallest frame of each stack, and large ones, at a rate and with flows that reach every field."""
    stack = {"vlan": vlan, "ip": version, "vxlan": None}
    trial = shared_loop.trial(duration_ns=100_000_000, stack=stack, flows=70_000, frame_sizes=[[size, 1]])
    assert_nothing_lost(trial)
