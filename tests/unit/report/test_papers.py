"""Published claims and figures beside a store: by rounds, with the reason where nothing can be said."""

import dataclasses
from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.compare.claims import ClaimVerdict
from nfvbed.records import QualityWarning, Status
from nfvbed.records.results import HZ_PER_PPS, MeasuredRow, Quantity, ResultKind, ResultRecord, TablePayload
from nfvbed.report.papers.claims import JudgedClaim, judge_claims
from nfvbed.report.papers.figures import figure_of, see_publications
from nfvbed.spec.published import Measure, publications
from nfvbed.store import Store
from tests.sample_records import BRIDGE, OVS, RUN, Scenario, build
from tests.stored_runs import put

KISTI = next(entry for entry in publications() if entry.name == "kisti-2017")
GBIT = 1e9
OTHER = "01a00000-0000-7000-8000-0000000000ff"


def result(variant: str, number: int, gbits: float, offloads: str = "none", **changed: object) -> ResultRecord:
    row = MeasuredRow(
        label="1 stream",
        parameters={"tool": "iperf3", "streams": 1, **({"offloads": offloads} if offloads else {})},
        quantities=(Quantity(name="throughput", value=gbits * GBIT, unit="bit/s"),),
        sequences=(number,),
    )
    entry = ResultRecord(
        run=RUN, cell=f"{variant}/p2p/1518", round=number, test="tcp-throughput", kind=ResultKind.TCP_THROUGHPUT,
        payload=TablePayload(rows=(row,)).model_dump(mode="json"),
        started_at="2026-01-02T03:10:00Z", ended_at="2026-01-02T03:10:00Z",
    )  # fmt: skip
    return entry.model_copy(update=changed)


def stored(path: Path, *results: ResultRecord, site: str = "lab", blocked: str = "") -> Store:
    with Store.open(path) as store:
        data = build(Scenario(run=RUN, systems=(BRIDGE, OVS), rounds=1))
        record = data.run.model_copy(update={"experiment": "seed-kisti-vswitch", "site": site})
        if blocked:
            changed = {"status": Status.BLOCKED, "reason": blocked}
            data = dataclasses.replace(data, cells=tuple(cell.model_copy(update=changed) for cell in data.cells))
        put(store, dataclasses.replace(data, run=record, results=results))
    return Store.open(path, read_only=True, migrated=False)


def judged(store: Store | None) -> dict[str, JudgedClaim]:
    return {claim.key: claim for claim in judge_claims(store, KISTI)}


def both(rounds: int, **changed: object) -> list[ResultRecord]:
    own = [result("ovs-dpdk", number, 8.6 + 0.01 * number, **changed) for number in range(1, rounds + 1)]
    return [*own, *(result("linux-bridge", number, 30 + 0.3 * number) for number in range(1, rounds + 1))]


def test_a_claim_is_judged_on_the_rounds_of_its_experiment(tmp_path: Path):
    with stored(tmp_path / "x.sqlite", *both(10)) as store:
        claims = judged(store)
    assert claims["dpdk-faster"].verdict is ClaimVerdict.DOES_NOT
    assert "10 rounds" in claims["dpdk-faster"].why and "published 1.205" in claims["dpdk-faster"].why
    assert claims["two-is-best"].verdict is ClaimVerdict.NOT_RUN
    assert claims["nine-gigabits"].verdict is ClaimVerdict.CANNOT
    assert "ovs-kernel/p2p offloads none is not among what the run measured" in claims["dpdk-steadier-than-ovs"].why


def test_few_rounds_and_emulated_guests_say_nothing(tmp_path: Path):
    with stored(tmp_path / "few.sqlite", *both(5)) as store:
        assert judged(store)["dpdk-faster"].verdict is ClaimVerdict.UNDECIDED
    with stored(tmp_path / "tcg.sqlite", *both(10, warnings=(QualityWarning.EMULATED_ACCELERATOR,))) as store:
        claim = judged(store)["dpdk-faster"]
    assert claim.verdict is ClaimVerdict.CANNOT and "rates mean nothing" in claim.why


def test_what_failed_has_the_reason_of_its_result(tmp_path: Path):
    refused = both(8, status=Status.UNSUPPORTED, reason="no iperf3", payload={})
    with stored(tmp_path / "x.sqlite", *refused) as store:
        claim = judged(store)["dpdk-faster"]
    assert claim.verdict is ClaimVerdict.CANNOT and "unsupported: no iperf3" in claim.why


def test_what_was_measured_otherwise_is_no_fault_of_its_cell(tmp_path: Path):
    native = both(8, offloads="")
    with stored(tmp_path / "x.sqlite", *native, blocked="placement: 6 of 8 repetitions") as store:
        claim = judged(store)["dpdk-faster"]
    assert claim.verdict is ClaimVerdict.CANNOT
    assert "no throughput with tool iperf3, streams 1, offloads none" in claim.why
    assert "placement" not in claim.why


def test_a_table_shows_its_own_experiment_before_newer_runs_of_others(tmp_path: Path):
    path = tmp_path / "x.sqlite"
    stored(path, *both(10)).close()
    with Store.open(path) as store:
        data = build(Scenario(run=OTHER, systems=(BRIDGE, OVS), rounds=1))
        newer = data.run.model_copy(
            update={"experiment": "seed-sigcomm-offloads", "started_at": "2027-01-02T03:10:00Z"}
        )
        results = tuple(entry.model_copy(update={"run": OTHER}) for entry in both(6))
        put(store, dataclasses.replace(data, run=newer, results=results))
        (seen,) = see_publications(store, (KISTI,))
        (alone,) = see_publications(store, (KISTI,), only=[OTHER])
    assert seen.tables[0].own is not None and seen.tables[0].own.run == RUN
    assert alone.tables[0].own is not None and alone.tables[0].own.run == OTHER, "better than none"


def test_without_a_store_nothing_has_run():
    assert {claim.verdict for claim in judged(None).values()} == {ClaimVerdict.NOT_RUN, ClaimVerdict.CANNOT}


def test_rounds_are_shown_in_the_papers_statistic(tmp_path: Path):
    with stored(tmp_path / "x.sqlite", *both(10)) as store:
        (seen,) = see_publications(store, (KISTI,))
    own = seen.tables[0].own
    assert own is not None
    figure = {one.label: one for one in own.figures}["OVS-DPDK"]
    assert figure.mean is not None and figure.kisti is not None
    assert figure.rounds == 10 and figure.mean.mean == pytest.approx(8.655)
    assert figure.kisti.low > figure.mean.intervals[-1].low, "z is smaller than Student's t of nine degrees"


def test_the_naive_quotient_is_of_the_switch():
    rows = [
        MeasuredRow(label="switch", parameters={HZ_PER_PPS: 262.0}),
        MeasuredRow(label="generator", parameters={HZ_PER_PPS: 1.0}),
    ]
    measure = Measure(kind="cost", quantity="Hz/pps", parameters={}, row="switch")
    found = figure_of(rows, measure, {})
    assert found is not None and found[2] == 262 and found[1].unit == "cycles/packet"


def test_offloads_that_were_set_on_purpose_are_another_condition():
    row = MeasuredRow(
        label="1 stream",
        parameters={"tool": "iperf3", "streams": 1, "offloads": "none"},
        quantities=(Quantity(name="throughput", value=GBIT, unit="bit/s"),),
    )
    assert figure_of([row], Measure(), {}) is None
    assert figure_of([row], Measure(), {"offloads": "none"}) is not None


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    stored(tmp_path / "x.sqlite", *both(10)).close()
    assert main(["compare", "--published", "--store", str(tmp_path / "x.sqlite")]) == 0
    text = capsys.readouterr().out
    assert "**does not hold here**" in text and "8.729 (8.6" in text and "`make run-seed-snu-balancer`" in text
    assert "OVS-DPDK | 8.729" in text and "nothing has run" in text


def test_the_page_excludes_other_forms(capsys: pytest.CaptureFixture[str]):
    assert main(["compare", "--published", "--json"]) == 2
    assert "--published is a page of its own" in capsys.readouterr().err
