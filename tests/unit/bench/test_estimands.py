"""How well searches repeat: spread, ratios of neighbours, what may be claimed of one run or of two hours of a day."""

import estimands
import pytest

from nfvbed.records import Status
from nfvbed.search.stop import Irregularity
from tests.sample_records import BRIDGE, OVS, Scenario, build
from tests.sample_results import with_tests

CELL = "ovs-dpdk/p2p/64"


def repeated(values: list[float], unit: str = estimands.RATE, trials: str = "clean", void: tuple[float, ...] = ()):
    return estimands.Repeated(CELL, "clean", "NDR", unit, values, [], list(void), trials)


def measured(*figures: estimands.Repeated, began: str = "2026-01-02T03:04:05Z") -> estimands.Measured:
    return estimands.Measured("r1", began, "ok", list(figures))


def test_figures_come_of_regular_results_and_irregular_ones_are_counted():
    data = with_tests(build(Scenario(systems=(BRIDGE, OVS))))
    found = {(entry.cell, entry.goal): entry for entry in estimands.figures_of(data.results)}
    ndr, pdr = found[CELL, "NDR"], found[CELL, "PDR"]
    assert len(ndr.values) == 3 and not ndr.irregular
    assert (pdr.values, pdr.irregular) == ([], [Irregularity.GENERATOR_LIMITED.value] * 3)
    failed = [entry.model_copy(update={"status": Status.FAILED}) for entry in data.results]
    assert estimands.figures_of(failed) == []


def test_spread_needs_four_and_neighbours_are_compared():
    assert repeated([1.0, 2.0, 3.0]).spread is None
    five = repeated([10.0, 10.1, 9.9, 10.2, 10.0])
    assert five.spread == pytest.approx(0.01)
    assert five.after_each_other[0] == pytest.approx(1.01) and len(five.after_each_other) == 4


@pytest.mark.parametrize(
    ("entry", "claim"),
    [
        (repeated([5.0e6, 5.1e6, 4.9e6, 5.2e6]), "clean trials: 5.05 Mpps; half of the figures lie within 2.0% of"),
        (
            repeated([0.7, 0.71, 0.7, 0.72], estimands.SHARE),
            "relative: 0.705 of testpmd; half of the figures lie within",
        ),
        (repeated([4e6] * 4, trials="all"), "as delivered: nothing, with 4 of at least 5 searches"),
        (repeated([4e6, 5e6, 4e6, 5e6, 6e6], trials="all"), "as delivered: 4 .. 6 Mpps, the range of 5 regular"),
        (repeated([5.0e6]), "nothing, with 1 of at least 4 figures"),
    ],
)
def test_a_claim_is_what_its_estimand_allows(entry: estimands.Repeated, claim: str):
    (said,) = estimands.claims_of([measured(entry)])
    assert said.startswith(f"{CELL}, clean, NDR: {claim}")


def test_two_runs_stand_beside_each_other(capsys: pytest.CaptureFixture[str]):
    morning = measured(repeated([5.0e6] * 4, void=(0.1, 0.2, 0.3)), began="2026-01-02T06:00:00Z")
    evening = measured(repeated([5.5e6] * 4), began="2026-01-02T18:30:00Z")
    estimands.show([morning, evening])
    said = capsys.readouterr().out
    assert "06:00" in said and "18:30" in said
    assert "× 1.100" in said
    assert "20%, 10% .. 30%" in said
    assert "(8 regular, 0 irregular)" in said, "a claim is over both"


def test_the_aim_is_that_of_relative_throughput():
    calm = repeated([0.700, 0.701, 0.702, 0.700], estimands.SHARE)
    assert estimands.problems_of([calm]) == []
    (missed,) = estimands.problems_of([repeated([0.6, 0.7, 0.8, 0.9], estimands.SHARE)])
    assert "the aim is 2%" in missed
    assert estimands.problems_of([repeated([5e6] * 9)]) == ["nothing was measured relative to testpmd"]
