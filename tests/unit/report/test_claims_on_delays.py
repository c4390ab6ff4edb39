"""Published claims on delays: judged on the histograms of the trials that a latency test names."""

import dataclasses
from pathlib import Path

import pytest
from pydantic import ValidationError

from nfvbed.compare.claims import ClaimVerdict
from nfvbed.compare.rows.latency import merge_latency
from nfvbed.compare.rows.rundata import RunData
from nfvbed.records import Preset
from nfvbed.records.results import LoadPoint, LoadsPayload, Reference, ResultKind, ResultRecord
from nfvbed.report.papers.claims import JudgedClaim, judge_claims
from nfvbed.report.papers.delays import delay_of
from nfvbed.spec.published import ClaimRule, Measure, PublishedClaim, Subject, publications
from nfvbed.store import Store
from tests.sample_records import BRIDGE, OVS, Scenario, build
from tests.stored_runs import put

LOAD = 100_000
STAMPED = 80_000
"""Frames in the histograms of one made-up trial, both directions together."""
ROUNDS = 8
JITTER = Measure(kind="latency", quantity="delay variation", parameters={})
KISTI = next(entry for entry in publications() if entry.name == "kisti-2017")


def claimed(measure: Measure = JITTER) -> PublishedClaim:
    rule = ClaimRule(rule="ratio", of=Subject(variant="ovs-dpdk"), against=Subject(variant="linux-bridge"), high=1)
    return PublishedClaim(
        key="lower", text="Lower.", where="here", experiment="seed-kisti-vswitch", measure=measure, parts=(rule,)
    )


def measured(due: int = STAMPED) -> RunData:
    """Return a run whose bridge delays frames three times as long, with a latency test a round."""
    slower = dataclasses.replace(BRIDGE, latency_ns=3 * OVS.latency_ns, capacity={64: BRIDGE.capacity[64]})
    data = build(Scenario(systems=(slower, dataclasses.replace(OVS, capacity={64: OVS.capacity[64]})), rounds=ROUNDS))
    results = []
    for trial in data.trials:
        if trial.preset is not Preset.PACED:
            continue
        point = LoadPoint(
            sequence=trial.sequence, intended_load_pps=LOAD, offered_load_pps=LOAD, forwarded_rate_pps=LOAD,
            intended_frames=due, lost_frames=due - STAMPED, unsent_frames=0, duration_ns=trial.duration_ns,
        )  # fmt: skip
        of_mrr = Reference(of="mrr", load_pps=LOAD, regular=True, placement_class="single")
        # A part of a load without a trial of its own: what asks for the load that all have takes none of it.
        part = point.model_copy(update={"fraction": 0.5, "sequence": 10**6})
        results.append(
            ResultRecord(
                run=trial.run, cell=trial.cell, round=trial.round, test="latency", kind=ResultKind.LATENCY,
                payload=LoadsPayload(reference=of_mrr, points=(part, point)).model_dump(mode="json"),
                started_at="2026-01-02T03:10:00Z", ended_at="2026-01-02T03:10:00Z",
            )
        )  # fmt: skip
    run = data.run.model_copy(update={"experiment": "seed-kisti-vswitch"})
    return dataclasses.replace(data, run=run, results=tuple(results))


def judged(path: Path, data: RunData, claim: PublishedClaim) -> JudgedClaim:
    with Store.open(path) as store:
        put(store, data)
    with Store.open(path, read_only=True, migrated=False) as store:
        (found,) = judge_claims(store, KISTI.model_copy(update={"claims": (claim,)}))
    return found


@pytest.mark.parametrize("quantity", ["P50", "P99", "delay variation"])
def test_a_claim_on_delays_is_judged_by_rounds(tmp_path: Path, quantity: str):
    found = judged(tmp_path / "x.sqlite", measured(), claimed(JITTER.model_copy(update={"quantity": quantity})))
    assert found.verdict is ClaimVerdict.HOLDS
    (rule,) = found.rules
    assert rule.rounds == ROUNDS and rule.ratio == pytest.approx(1 / 3, rel=0.05)


def test_frames_that_never_came_leave_no_p99(tmp_path: Path):
    found = judged(tmp_path / "x.sqlite", measured(due=2 * STAMPED), claimed())
    assert found.verdict is ClaimVerdict.CANNOT
    assert "50 % of the frames at 100,000 frames/s never came" in found.why


def test_a_part_of_a_load_is_asked_for_by_its_fraction(tmp_path: Path):
    part = JITTER.model_copy(update={"parameters": {"fraction": 0.5}})
    assert "no delay was measured" in judged(tmp_path / "x.sqlite", measured(), claimed(part)).why
    none = JITTER.model_copy(update={"parameters": {"fraction": 0.9}})
    assert "no trial at 0.9" in judged(tmp_path / "y.sqlite", measured(), claimed(none)).why


def test_the_delay_is_that_of_the_histogram():
    data = measured()
    trial = next(one for one in data.trials if one.preset is Preset.PACED)
    result = next(one for one in data.results if one.payload["points"][1]["sequence"] == trial.sequence)
    seen = merge_latency(text for text in trial.latency_hdr if text)
    assert seen is not None
    payload = LoadsPayload.model_validate(result.payload)
    assert delay_of(payload, {trial.sequence: trial}, JITTER, {}).ns == seen.p99_ns - seen.min_ns


def test_a_quantity_that_no_histogram_has_is_refused():
    with pytest.raises(ValidationError, match="quantity jitter of latency: one of P50, P99, delay variation"):
        Measure(kind="latency", quantity="jitter", parameters={})
