"""Published tables: the KISTI report's, against what its figures say when they are tested."""

import numpy as np
import pytest
from scipy import stats

from nfvbed.compare.differences.dispersion import SpreadVerdict
from nfvbed.compare.samples.multiple import holm_adjusted
from nfvbed.compare.samples.statistics import mean_with_intervals
from nfvbed.compare.tables import KISTI_Z, TableDifference, compare_tables, kisti_interval
from nfvbed.compare.verdict import Rules, Verdict
from tests.published_tables import CHAINS, VSWITCHES

FOUND = {(entry.baseline, entry.candidate): entry for entry in compare_tables(VSWITCHES)}


def between(baseline: str, candidate: str) -> TableDifference:
    return FOUND[baseline, candidate]


def test_linux_bridge_against_ovs_dpdk_differs():
    found = between("linux-bridge", "ovs-dpdk")
    assert found.judgement.p_value == pytest.approx(0.0052, abs=1e-4)
    assert found.judgement.adjusted_p == pytest.approx(0.0156, abs=1e-4)
    assert found.judgement.verdict is Verdict.HIGHER
    assert found.judgement.unpaired


def test_ovs_against_ovs_dpdk_does_not_hold_after_correction_while_their_spread_differs():
    found = between("ovs", "ovs-dpdk")
    assert found.judgement.p_value == pytest.approx(0.0433, abs=1e-4)
    assert found.judgement.adjusted_p == pytest.approx(0.0865, abs=1e-4)
    assert found.judgement.verdict is Verdict.UNDECIDED
    assert "0.087 after Holm's correction" in found.judgement.reason
    assert [float(np.std(VSWITCHES[name], ddof=1)) for name in ("ovs", "ovs-dpdk")] == pytest.approx(
        [1.09, 0.12], abs=0.005
    )
    assert found.spread.verdict is SpreadVerdict.STEADIER
    assert found.spread.p_value == pytest.approx(0.0177, abs=1e-3)
    assert found.spread.adjusted_p == pytest.approx(0.0353, abs=2e-3)


def test_linux_bridge_against_ovs_does_not_differ():
    found = between("linux-bridge", "ovs")
    assert found.judgement.verdict is Verdict.UNDECIDED
    assert found.judgement.p_value == pytest.approx(0.105, abs=1e-3)
    assert found.spread.verdict is SpreadVerdict.UNDECIDED


def test_every_further_vnf_of_a_chain_costs_throughput():
    found = {
        (entry.baseline, entry.candidate): entry.judgement.verdict
        for entry in compare_tables({str(length): rates for length, rates in CHAINS.items()})
    }
    assert all(verdict is Verdict.LOWER for verdict in found.values())


def test_the_report_s_interval_is_named_by_its_factor():
    rates = VSWITCHES["ovs-dpdk"]
    found = kisti_interval(rates)
    assert found is not None and found.z == KISTI_Z == 2.53
    error = np.std(rates, ddof=1) / np.sqrt(10)
    assert (found.low, found.high) == pytest.approx((np.mean(rates) - 2.53 * error, np.mean(rates) + 2.53 * error))
    assert found.covers == pytest.approx(2 * stats.t.cdf(2.53, 9) - 1)
    assert found.covers < 0.97, "of ten samples it is no 99 %"
    student = mean_with_intervals(rates).intervals[1]
    assert student.level == 0.99
    assert student.high - student.low == pytest.approx(2 * 3.2498 * error, rel=1e-4)
    assert kisti_interval([8.0]) is None


def test_a_survey_of_tables_is_judged_all_the_same_and_few_results_are_not():
    tables = {"a": (1.0, 1.1, 1.2), "b": (5.0, 5.1, 5.2), "c": VSWITCHES["ovs"]}
    found = {(entry.baseline, entry.candidate): entry for entry in compare_tables(tables, Rules(purpose="survey"))}
    assert found["a", "b"].judgement.verdict is Verdict.UNDECIDED
    assert "too few" in found["a", "b"].judgement.reason
    assert "too few results: 3 against 3" in found["a", "b"].spread.reason
    assert found["a", "c"].judgement.verdict is Verdict.HIGHER


def test_holm_s_correction_of_an_example():
    # Holm, 1979: the least p-value times all of them, the next one times one less, never falling.
    assert holm_adjusted((0.01, 0.04, 0.03, 0.005)) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm_adjusted((0.5, 0.9)) == (1.0, 1.0)
    assert holm_adjusted((0.01,), family=4) == (0.04,)
    assert holm_adjusted(()) == ()
