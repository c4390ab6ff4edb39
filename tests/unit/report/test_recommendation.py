"""A recommendation on one screen: what it says, and that it fits."""

import dataclasses

import pytest
from rich.text import Text

from nfvbed.compare.recommendation.needs import Need
from nfvbed.compare.recommendation.recommendation import Recommendation, RecommendationRequest, recommend, unchecked
from nfvbed.records import QualityWarning
from nfvbed.records.results import ResultKind
from nfvbed.report.recommendation import changes, headline, missing, reasons
from nfvbed.report.terminal.recommendation import screen
from tests.sample_records import CEILINGS, HOST, RUN, SIMULATED
from tests.sample_runs import SURVEY, doctor, examined, flow_scaling, plane, result, run_of, through, trapped

FAST, SLOW = plane("fast", 9e6), plane("slow", 3e6)
WIDTH, HEIGHT = 100, 40


def asked(*runs, need: Need = Need.THROUGHPUT) -> Recommendation:
    return recommend(runs, RecommendationRequest(need=need), HOST, unchecked)


def text_of(lines: list[Text]) -> str:
    assert len(lines) <= HEIGHT
    assert max(len(line.plain) for line in lines) <= WIDTH
    return "\n".join(line.plain for line in lines)


def shown(found: Recommendation) -> str:
    return text_of(screen(found, "Example CPU, 2 cores", WIDTH))


def test_the_screen_has_order_reasons_costs_and_evidence():
    data = run_of(FAST, SLOW)
    configurations = {cell.config_hash: {"variant": {"hugepages_mib": 640}} for cell in data.cells}
    report = doctor(["fast", "slow", "third"], ["sriov"])
    text = shown(asked(examined(data, variants=configurations, doctor=report)))
    assert text.startswith("For throughput: fast, at p2p, 64 B, by maximum receive rate.")
    assert "Example CPU, 2 cores; host aaaaaaaaaaaa; 1 run of it, 2026-01-02" in text
    assert "1.00, polls" in text and "640 MiB" in text
    assert "ahead of slow: ×3." in text and "higher is better" in text
    assert "evidence: run 01940000-0000-7000-8000-000000000001 (demo), cells of fast, slow at p2p/64" in text
    assert "not known: compared at path p2p, 64 B, 1 flow alone" in text
    assert "available here, not measured so: third" in text
    assert "unsupported here (nfvbed doctor says why): sriov" in text
    assert "This would measure what is available here and has no figure:" in text


def test_the_ratio_is_the_first_one_s_whichever_was_judged():
    for systems in ((FAST, SLOW), (SLOW, FAST)):
        (line,) = [line for line in reasons(asked(examined(run_of(*systems)))) if line.startswith("ahead of")]
        assert line.startswith("ahead of slow: ×3.0") or line.startswith("ahead of slow: ×2.9")


def test_undecided_and_equals_are_not_said_to_be_first():
    one, other = plane("one", 5e6, noise=0.1), plane("other", 5.1e6, noise=0.1)
    found = asked(examined(run_of(one, other, rounds=8)))
    assert headline(found).startswith("For throughput: undecided between")
    assert "This would decide the first place:" in shown(found)
    found = asked(examined(run_of(plane("one", 5e6), plane("other", 5e6))))
    assert "no difference between " in headline(found)
    assert "This would" not in shown(found)


def test_a_survey_says_that_there_is_no_verdict():
    found = asked(examined(run_of(FAST, SLOW, rounds=4), SURVEY))
    assert headline(found).endswith("by ranges of a survey, without a verdict.")
    assert "against slow: ahead with its whole range; no verdict" in shown(found)


@pytest.mark.parametrize("need", list(Need))
def test_not_enough_data_shows_the_experiment(need: Need):
    text = shown(asked(need=need))
    assert text.startswith(f"For {need.value}: not enough data (no run of this host is stored).")
    assert "The experiment that would answer:\n  nfvbed run demo" in text
    assert ("nfvbed run sockets" in text) is (need is Need.RAW_ETHERNET)


def test_what_would_change_it_is_said():
    data = flow_scaling(run_of(FAST, SLOW), "fast/p2p/64", {1: 9e6, 1_000: 1e6, 10_000: 1e6})
    data = flow_scaling(data, "slow/p2p/64", {1: 3e6, 1_000: 3e6, 10_000: 3e6})
    lines = changes(asked(examined(data)))
    assert lines[0] == (
        f"flows 1,000 in place of 1: slow is first, fast behind (medians of flow-scaling in run {RUN}, no verdict)"
    )
    small, large = plane("one", 9e6), plane("other", 5e6)
    both = [
        dataclasses.replace(system, capacity=system.capacity | {1518: (rate, rate)})
        for system, rate in ((small, 2e6), (large, 4e6))
    ]
    assert changes(asked(examined(run_of(*both))))[0] == (
        "frame size 1518 B in place of 64 B: other is first, one behind"
    )


def test_raw_ethernet_names_who_carries_it_and_who_does_not():
    data = run_of(*(through(system) for system in (FAST, SLOW, plane("bridge", 20e6))))
    data = trapped(data, "bridge/pvp+process-io/64")
    data = result(data, "fast/pvp+process-io/64", ResultKind.TCP_THROUGHPUT)
    text = shown(asked(examined(data), need=Need.RAW_ETHERNET))
    assert text.startswith("For raw-ethernet: fast, at pvp process-io, 64 B")
    assert "proven: fast with process-io: sockets talked through it (tcp-throughput)" in text
    assert "frames only: slow with process-io" in text
    assert "checksum trap: bridge with process-io" in text
    assert "nfvbed run sockets --variant slow" in text


def test_limits_and_warnings_are_named_beside_the_order():
    data = run_of(through(FAST), through(SLOW), warnings=(("slow", QualityWarning.CPU_STOLEN),))
    assert "marked cpu-stolen: slow" in shown(asked(examined(data)))


def test_what_was_left_out_is_named_with_the_reason():
    simulated = dataclasses.replace(SIMULATED, name="dream", capacity={64: (50e6, 50e6)})
    lines = missing(asked(examined(run_of(FAST, SLOW, simulated))))
    assert lines == ["dream: simulated: not a measurement"]


def test_a_screen_of_many_variants_and_reasons_fits():
    systems = [plane(f"data-plane-number-{place}", 1e6 * (1 + place / 2)) for place in range(14)]
    every = [*systems, *(through(system) for system in systems)]
    report = doctor(
        [system.name for system in systems] + [f"more-{n}" for n in range(9)], [f"no-{n}" for n in range(9)]
    )
    data = run_of(*every, *CEILINGS, rounds=3)
    text = shown(asked(examined(data, SURVEY, doctor=report)))
    assert "4 more: --json" in text and "nfvbed run demo" in text
    narrow = screen(asked(examined(data, SURVEY, doctor=report)), "", 70)
    assert len(narrow) <= HEIGHT
