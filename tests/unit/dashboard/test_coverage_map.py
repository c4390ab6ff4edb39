"""Coverage: the newest number of each place, or the reason why there is none."""

from datetime import UTC, datetime

from nfvbed.dashboard.results.coverage import State, coverage_of
from nfvbed.records import Readiness, Status, Support
from nfvbed.store.summaries import CoverageSummary

NOW = datetime(2026, 1, 11, tzinfo=UTC)


def covered(variant: str, topology: str, day: int, status: Status | None, **further) -> CoverageSummary:
    values = {"run_status": Status.OK, "reason": "", "cells": 2, **further}
    return CoverageSummary(
        variant=variant,
        topology=topology,
        run=f"r{day}",
        started_at=f"2026-01-{day:02d}T00:00:00Z",
        status=status,
        **values,
    )


def test_every_place_has_a_state_and_every_hole_a_reason():
    found = coverage_of(
        [
            covered("a", "pvp", 9, Status.FAILED, reason="it died"),
            covered("a", "pvp", 8, None),
            covered("a", "pv3p", 8, None, run_status=None),
            covered("b", "p2p", 7, Status.BLOCKED, reason="no time"),
            covered("b", "pvvp", 1, Status.OK),
            covered("b", "vepc", 1, Status.OK),
        ],
        (Support(variant="c", readiness=Readiness.UNSUPPORTED, reason="no NIC"),),
        NOW,
    )
    assert found.topologies == ("p2p", "pvp", "pvvp", "pv3p", "vepc")
    places = {(row.variant, place.topology): place for row in found.rows for place in row.places}
    measured = places["a", "pvp"]
    assert (measured.state, measured.run, measured.age_days) == (State.MEASURED, "r8", 3)
    assert measured.reason == "failed since: it died"
    assert places["a", "pv3p"].state is State.NOT_ENDED
    assert (places["b", "p2p"].state, places["b", "p2p"].reason) == (State.BLOCKED, "no time")
    assert places["b", "pvvp"].age_days == 10
    assert places["a", "p2p"].state is State.NEVER and places["a", "p2p"].reason
    assert {places["c", name].reason for name in found.topologies} == {"no NIC"}
