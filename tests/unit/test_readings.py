"""A reading has a value for each part that was asked for, or the reason why there is none; in the order asked for."""

import pytest

from nfvbed.records.readings import NOT_ASKED, Part, Reading, Unavailable, available
from nfvbed.sites.simulated.site import SimulatedSite
from nfvbed.traffic.simulated.options import SimulatedOptions
from nfvbed.traffic.simulated.steal import StolenTime

HIDDEN = Unavailable("a compute node's cores are not its tenants'")


def test_parts_are_read_in_the_order_of_the_caller():
    asked = []

    def reader(part, value):
        return lambda: asked.append(part) or value

    readers = {
        Part.DISTANCES: reader("distances", {(0, 1): 30.0, (0, 2): 90.0}),
        Part.COUNTERS: reader("counters", HIDDEN),
    }
    seen = Reading.of((Part.COUNTERS, Part.DISTANCES, Part.CPU), readers, "no agent is on it")
    assert asked == ["counters", "distances"]
    assert seen.core_distance_ns == 90.0
    assert (seen.counters, seen.cpu, seen.hops) == (HIDDEN, Unavailable("no agent is on it"), NOT_ASKED)
    assert (available(seen.counters), available(seen.distances_ns)) == (None, {(0, 1): 30.0, (0, 2): 90.0})


def test_no_distance_is_none():
    assert Reading(distances_ns=HIDDEN).core_distance_ns is None
    assert Reading(distances_ns={}).core_distance_ns is None


@pytest.mark.parametrize("part", [Part.THREADS, Part.CPU])
def test_a_simulated_site_says_why_it_has_no_threads(part, monkeypatch):
    site = SimulatedSite()
    monkeypatch.setattr(site, "_running", lambda deployment: (Simulated(), None))
    seen = site.look(None, part)
    assert "no thread of this machine" in getattr(seen, part).reason


class Simulated:
    packets = 0
    stolen_time = StolenTime(SimulatedOptions(dataplane="simulated"), "none")
