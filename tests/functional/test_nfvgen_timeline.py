# SPDX-License-Identifier: Apache-2.0
"""Timelines and a change of the load within a trial, in both engines of nfvgen: frames only, no rates."""

import pytest

from tests.functional.dpdk_driver import enough_hugepages, looped

MS = 1_000_000
THEN = {"duration_ns": 200 * MS, "rate_pps": 20_000, "then": {"rate_pps": 5_000, "duration_ns": 100 * MS}}
DUE = 4_000 + 500


@pytest.fixture(params=["xdp", "vhost"], name="any_loop")
def _any_loop(request, tmp_path):
    if request.param == "xdp":
        yield request.getfixturevalue("loop")
        return
    with enough_hugepages(), looped("vhost", tmp_path) as generator:
        yield generator


def bins(direction):
    return direction["timeline"]["bins"]


def test_a_trial_without_a_timeline_tells_none(any_loop):
    trial = any_loop.trial(duration_ns=10 * MS, rate_pps=1_000)
    assert all("timeline" not in direction for direction in trial["directions"])


def test_the_load_changes_within_a_trial(any_loop):
    """Exactly the frames of both stretches are due, whatever the machine kept from being sent."""
    trial = any_loop.trial(**THEN, timeline_ns=MS)
    assert [direction["intended"] for direction in trial["directions"]] == [DUE, DUE]
    assert trial["duration_ns"] >= 299 * MS
    for direction in trial["directions"]:
        assert direction["lost"] == 0
        assert all(refused for _, _, refused, _ in bins(direction))
        assert direction["timeline"]["bin_ns"] == MS


def test_what_a_peer_drops_is_in_the_bins_in_which_it_was_sent(through_relay):
    """Every tenth frame is dropped: some of each bin, and never two next to each other."""
    generator = through_relay("loss")
    sending = {"duration_ns": 500 * MS, "rate_pps": 1_000, "directions": [[0, 1]], "drain_ns": 200 * MS}
    (direction,) = generator.trial(**sending, timeline_ns=20 * MS)["directions"]
    assert direction["lost"] == direction["sent"] // 10
    assert sum(sent + refused - received for _, sent, refused, received in bins(direction)) == direction["lost"]
    assert [number for number, *_ in bins(direction)] == sorted({number for number, *_ in bins(direction)})
    gap = direction["timeline"]["gap"]
    assert 0 <= gap["from_ns"] < gap["to_ns"]


@pytest.mark.parametrize(
    ("keys", "field"),
    [
        ({"timeline_ns": 10_000, "stamp": False}, "timeline_ns"),
        ({"then": {"rate_pps": 1, "duration_ns": MS}}, "then"),
        ({"timeline_ns": 1}, "timeline_ns"),
    ],
)
def test_what_does_not_go_together_is_refused(loop, keys, field):
    answer = loop.call("start", duration_ns=MS, **keys)
    assert not answer["ok"]
    assert answer["error"]["field"] == field
