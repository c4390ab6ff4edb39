"""Every benchmark has a smoke, and says by its exit status that an aim is missed or nothing could be measured."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import overhead
import pairs
import program
import pytest
import switching_overhead

from nfvbed.records import CoreDistance

ROOT = Path(__file__).resolve().parents[3]
NEAR = (30.0, 30.0)


def result_of(*rates: float, side: str = "testpmd", pressure: float = 0.0) -> pairs.LoopResult:
    """Return a loop whose aim is 1, with trials of nfvgen at 10 Mpps and of the other side at these rates."""
    result = pairs.LoopResult(name="loop", aim=1.0)
    for number, rate in enumerate(rates):
        result.trials += [
            pairs.Trial(number, "nfvgen", 10.0, NEAR, 0.0),
            pairs.Trial(number, side, rate, NEAR, pressure),
        ]
    result.classes = pairs.classes_of(result.trials)
    return result


def test_every_benchmark_that_make_calls_has_a_smoke():
    called = set(re.findall(r"bench/(\w+\.py)", (ROOT / "Makefile").read_text()))
    assert len(called) >= 5
    for name in called:
        assert "program.add_smoke(parser)" in (ROOT / "bench" / name).read_text(), name


def test_the_generator_reaches_its_aim_or_says_in_which_class_it_does_not():
    assert result_of(9, 10, 9).problems(3) == []
    (problem,) = result_of(20, 20, 20).problems(3)
    assert problem == "loop: 0.50 of testpmd in class single, the aim is 1"


def test_a_rival_that_the_aim_is_not_about_cannot_miss_it():
    result = result_of(20, 20, side="testpmd, two cores")
    result.trials += [pairs.Trial(9, "testpmd, one core", 5.0, NEAR, 0.0)] * 2
    result.classes = pairs.classes_of(result.trials)
    result.aim_rival = "testpmd, one core"
    assert result.problems(2) == []


@pytest.mark.parametrize("result", [result_of(), result_of(9, 9), result_of(9, 9, 9, pressure=0.5)])
def test_too_few_undisturbed_trials_are_a_failure(result):
    (problem,) = result.problems(3)
    assert "no class has 3 undisturbed trials of both, and fewer than 6 rounds" in problem


def test_where_no_class_can_say_the_interval_of_the_rounds_does():
    disturbed = result_of(*[9.0] * 8, pressure=0.5)
    disturbed.paired = pairs.paired_of(disturbed.trials)
    assert disturbed.classes == []
    assert disturbed.problems(3) == []
    slower = result_of(*[20.0] * 8, pressure=0.5)
    slower.paired = pairs.paired_of(slower.trials)
    assert slower.problems(3) == ["loop: 0.50 (0.50-0.50) of testpmd in 8 rounds, the aim is 1"]


def test_a_smoke_fails_where_a_side_moved_no_frame():
    assert result_of(9).silent() == []
    assert result_of(0.0).silent() == ["loop: testpmd moved no frame"]
    assert pairs.LoopResult(name="loop", aim=1.0).silent() == ["loop: nothing was measured"]
    trial = overhead.Trial(0, "off", 1.0, CoreDistance(before=30, after=30), 0.9)
    assert overhead.silent("ovs-dpdk", [trial])[0] == "ovs-dpdk: stamps moved no frame"


def test_switching_overhead_and_overhead_tell_that_too_little_was_measured():
    assert switching_overhead.problems_of([], 10, judged=True)
    assert overhead.too_few("ovs-dpdk", [], 9)


def test_problems_are_printed_and_end_with_one(capsys):
    assert program.ended([]) == 0
    assert program.ended(["an aim is missed"]) == 1
    assert capsys.readouterr().err == "an aim is missed\n"


def test_smoke_of_the_searches_finds_bounds(tmp_path):
    raw = tmp_path / "raw.json"
    argv = [sys.executable, ROOT / "bench" / "search.py", "--smoke", "--json", raw]
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(raw.read_text())
    assert [len(found[kind]) for kind in ("csit", "plain")] == [1, 1]
    assert found["csit"][0]["pdr_pps"] == pytest.approx(5_000_000, rel=0.02)
