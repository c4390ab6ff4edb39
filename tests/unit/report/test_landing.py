"""Which run is shown where none is asked for: the newest with an answer, and what is newer is named with the reason."""

import dataclasses
from collections.abc import Sequence

import pytest

from nfvbed.compare.comparison import ComparisonOptions, compare
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.verdict import Rules
from nfvbed.errors import UsageError
from nfvbed.records import RunRecord, Status
from nfvbed.report.landing import LOOKED_AT, UNDECIDED, land, why_unanswered
from tests.sample_records import BRIDGE, OVS, Scenario, build
from tests.sample_results import with_tests

ALIKE = (dataclasses.replace(BRIDGE, noise=0.3), dataclasses.replace(OVS, capacity=BRIDGE.capacity, noise=0.3))
ELSEWHERE = dataclasses.replace(OVS, emulated=True)


def run(number: int, status: Status | None = Status.OK, reason: str = "") -> RunRecord:
    base = build(Scenario(rounds=1)).run
    return base.model_copy(update={"id": f"r{number:07d}", "status": status, "reason": reason})


def why(data: RunData, purpose: str = "compare", status: Status = Status.OK, reason: str = "") -> str:
    record = data.run.model_copy(update={"status": status, "reason": reason})
    return why_unanswered(record, lambda: compare([data], ComparisonOptions(rules=Rules(purpose=purpose, needed=2))))


def test_a_verdict_is_an_answer():
    assert why(build()) == ""


def test_without_one_it_is_undecided_and_a_survey_is_not():
    data = build(Scenario(systems=ALIKE, rounds=4))
    assert why(data) == UNDECIDED
    assert why(data, purpose="survey") == "", "its ranges are what was asked for"


def test_one_variant_and_tests_alone_are_answers():
    assert why(build(Scenario(systems=(OVS,)))) == ""
    data = with_tests(build(Scenario(systems=(BRIDGE, OVS))))
    alone = dataclasses.replace(data, trials=())
    assert why(alone) == ""


@pytest.mark.parametrize("status", [Status.INTERRUPTED, Status.BLOCKED, Status.UNSUPPORTED])
def test_what_was_decided_before_it_ended_is_an_answer(status: Status):
    assert why(build(), status=status) == ""


def test_one_that_failed_is_none_and_is_not_compared():
    def refuse() -> None:
        raise AssertionError("it was compared")

    failed = run(1, Status.FAILED, "the switch died\nTraceback")
    assert why_unanswered(failed, refuse) == "failed (the switch died)"


def test_where_nothing_was_measured_or_can_be_compared_that_is_said():
    cells = [f"{name}/p2p/{size}" for name in ("linux-bridge", "ovs-dpdk") for size in (64, 1518)]
    blocked = tuple((cell, Status.BLOCKED, "no time") for cell in cells)
    nothing = build(Scenario(systems=(BRIDGE, OVS), blocked=blocked))
    assert why(nothing).startswith("nothing here can be compared")
    assert "emulated guest" in why(build(Scenario(systems=(BRIDGE, ELSEWHERE))))

    def too_many() -> None:
        raise UsageError("more than 50,000 trials are not compared on a page", observed="60,000 trials")

    assert why_unanswered(run(1), too_many) == "more than 50,000 trials are not compared on a page (60,000 trials)"


def landed(states: Sequence[str]) -> tuple[str | None, bool, tuple[str, ...], int]:
    """Land among runs, newest first, of which each is `answer`, `going` or why it has none; count who was asked."""
    runs = [run(number, None if state == "going" else Status.OK) for number, state in enumerate(states)]
    asked = []

    def why_not(found: RunRecord) -> str:
        asked.append(found.id)
        state = states[int(found.id[1:])]
        return "" if state == "answer" else state

    landing = land(runs, why_not)
    if landing is None:
        return None, False, (), len(asked)
    return landing.run.id, landing.decided, tuple(entry.why for entry in landing.newer), len(asked)


LANDINGS = [
    ([], None, False, (), 0),
    (["answer", "answer"], "r0000000", True, (), 1),
    (["undecided", "answer", "failed"], "r0000001", True, ("undecided",), 2),
    (["going", "failed", "answer"], "r0000002", True, ("it has not ended", "failed"), 2),
    (["undecided", "failed"], "r0000000", False, ("undecided", "failed"), 2),
    (["undecided"] * (LOOKED_AT + 1) + ["answer"], "r0000000", False, ("undecided",) * LOOKED_AT, LOOKED_AT),
]


@pytest.mark.parametrize(("states", "shown", "decided", "newer", "asked"), LANDINGS)
def test_the_newest_with_an_answer_is_shown(states, shown, decided, newer, asked):
    assert landed(states) == (shown, decided, newer, asked)


def test_what_is_newer_is_named():
    why_not = {"r0000001": UNDECIDED, "r0000002": "failed", "r0000003": ""}
    landing = land([run(1), run(2), run(3)], lambda found: why_not[found.id])
    assert landing is not None
    assert landing.notes == (
        "newer, without an answer: run r0000001 (demo, 2026-01-02 03:04 UTC): undecided",
        "newer, without an answer: run r0000002 (demo, 2026-01-02 03:04 UTC): failed",
    )
    nothing = land([run(1)], lambda found: UNDECIDED)
    assert nothing is not None and not nothing.decided
    assert nothing.notes == (
        "no answer among the newest runs; shown is the newest: run r0000001 (demo, 2026-01-02 03:04 UTC): undecided",
    )
