"""Life-cycle tests: on the simulated system, whose outage is known, and on timelines that are made by hand."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.records import Accelerator, Status
from nfvbed.records.results import MeasuredRow, ResultRecord, TablePayload
from nfvbed.run.kinds.lifecycles import measured
from nfvbed.sites.disruption import DisruptionReport, Mark
from nfvbed.spec.testkinds.lifecycles import LifeCycleTest
from nfvbed.store import Store
from nfvbed.traffic.timeline import Bin, Gap, Timeline
from tests.unit.run.simulated_runs import only_run, runner

PROJECT = open_project(Path(__file__).parents[3])
TEST = {"kind": "life-cycle", "duration_s": 12, "repetitions": 3, "operations": ["heal"]}
MS = 1_000_000


def rows_of(path: Path, test: dict[str, object], outage_s: float) -> tuple[ResultRecord, tuple[MeasuredRow, ...]]:
    file = path / "life.yml"
    experiment = {
        "name": "life",
        "title": "Life",
        "purpose": "survey",
        "variants": ["simulated"],
        "topologies": ["pvp"],
        "vnfs": [{"forwarding": "native"}],
        "frame_sizes": [64],
        "trials": {"mrr_trials": 1},
        "tests": [{"kind": "mrr"}, test],
        "repetitions": {"needed": 1, "max_rounds": 1},
        "ceilings": False,
    }
    file.write_text(yaml.safe_dump(experiment))
    study = PROJECT.load_study(file)
    known = {"noise": 0.0, "outage_s": outage_s}
    variants = tuple(one.model_copy(update={"options": one.options.model_copy(update=known)}) for one in study.variants)
    with Store.open(path / "x.sqlite") as store:
        runner(store).start(replace(study, variants=variants))
        (result,) = store.results(only_run(store).id)
    return result, TablePayload.model_validate(result.payload).rows if result.payload else ()


def values(row: MeasuredRow) -> dict[str, float | None]:
    return {one.name: one.value for one in row.quantities}


def test_gap_and_lost_frames_are_those_that_are_known(tmp_path: Path) -> None:
    result, (summary, *single) = rows_of(tmp_path, TEST, outage_s=0.25)
    assert (result.status, summary.label, len(single)) == (Status.OK, "heal", 3)
    found = values(summary)
    assert found["longest gap"] == pytest.approx(0.25, abs=0.002)
    assert found["offered load"] == pytest.approx(2000, rel=0.01)
    assert found["lost frames"] == pytest.approx(2000 * 0.25, abs=2)
    assert found["first frame"] == pytest.approx(1.25, abs=0.001), "a simulated VNF has no moments before"
    assert found["loss-free for 5 s"] == pytest.approx(0, abs=0.002)
    assert (summary.sequence, [row.sequence for row in single]) == (None, sorted({row.sequence for row in single}))


def test_vnf_that_does_not_come_back_has_no_gap(tmp_path: Path) -> None:
    _, (summary, *_) = rows_of(tmp_path, TEST, outage_s=60)
    assert values(summary)["longest gap"] is None
    assert summary.reason == "no frame came again within 12 s"


SPEC = LifeCycleTest.model_validate({**TEST, "before_s": 1})
REPORT = DisruptionReport(
    vnf="vnf1",
    marks=(
        (Mark.BEGAN, 1000 * MS),
        (Mark.DETECTED, 1500 * MS),
        (Mark.DECIDED, 2500 * MS),
        (Mark.ACTED, 2600 * MS),
        (Mark.BOOTED, 3600 * MS),
    ),
    accelerator=Accelerator.NONE,
)


def line(*losses_ms: int, gap: tuple[int, int | None] | None = (1000, 4000)) -> Timeline:
    bins = tuple(Bin(at, 1, 0, 0) for at in losses_ms)
    found = None if gap is None else Gap(gap[0] * MS, None if gap[1] is None else gap[1] * MS)
    return Timeline(bin_ns=MS, bins=bins, gap=found)


def test_moments_are_spans_apart() -> None:
    quantities, reason = measured(SPEC, REPORT, [line(1100, 3900), line(1100, 4500, gap=(1010, 4100))])
    assert reason == ""
    assert {one.name: one.value for one in quantities} == {
        "detected": 0.5,
        "decided": 1.0,
        "acted": 0.1,
        "booted": 1.0,
        "first frame": 0.5,
        "loss-free for 5 s": pytest.approx(0.401),
        "longest gap": 3.09,
        "lost frames": 4,
    }


def test_path_that_loses_frames_to_the_end_is_not_recovered() -> None:
    quantities, reason = measured(SPEC, REPORT, [line(*range(4000, 12_000, 1000))])
    assert {one.name: one.value for one in quantities}["loss-free for 5 s"] is None
    assert "never 5 s without loss" in reason


def test_operation_that_costs_no_frame_says_so() -> None:
    quantities, reason = measured(SPEC, REPORT, [line(gap=None)])
    found = {one.name: one.value for one in quantities}
    assert (found["first frame"], found["longest gap"], found["lost frames"]) == (None, 0, 0)
    assert found["loss-free for 5 s"] == 0
    assert reason == "no frame was missing"


def test_frames_before_the_operation_are_not_counted() -> None:
    quantities, _ = measured(SPEC, REPORT, [line(100, 1100)])
    assert {one.name: one.value for one in quantities}["lost frames"] == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"load_pps": 999}, "greater than or equal to 1000"),
        ({"operations": ["heal", "heal"]}, "named once"),
        ({"duration_s": 6, "before_s": 1}, "must be below duration_s"),
        ({"duration_s": 3600, "resolution_s": 0.001}, "bins"),
        ({"operations": ["reboot"]}, "heal"),
    ],
)
def test_test_that_could_show_nothing_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        LifeCycleTest.model_validate({**TEST, **change})
