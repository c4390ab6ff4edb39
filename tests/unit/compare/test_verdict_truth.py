"""Verdicts against truth: the benchmark's simulated hosts, with few comparisons and generous bounds.

`make bench-verdicts` holds the aims with a thousand comparisons of each case; here it is enough that nothing broke.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from simulated_visits import Host, Simulation
from verdicts import Case, cases, coverage, judged, measure, show

from nfvbed.compare.verdict import Verdict

ROOT = Path(__file__).resolve().parents[3]
COMPARISONS = 60
CHOSEN = {
    # 60 comparisons at 6.5 %: more than 9 wrong ones come in one of a hundred tests, and the seed is fixed.
    "equal; 2 states, 0.9 changes/s": lambda found: found.higher + found.lower <= 0.15 and found.covered >= 0.85,
    "factor 2; 2 states, 0.3 changes/s": lambda found: found.higher >= 0.9 and found.covered >= 0.85,
    "factor 2; 3 states, 0.9 changes/s": lambda found: found.higher >= 0.9 and found.covered >= 0.85,
    "3 %; quiet": lambda found: found.higher >= 0.95 and found.covered >= 0.85,
    "7 %; scatter 7%": lambda found: found.same <= 0.1,
    "x 4 near, x 0.8 far": lambda found: found.depends > 0.05,
}


@pytest.mark.parametrize("name", CHOSEN)
def test_verdicts_are_right_as_often_as_they_say(name: str):
    (case,) = [case for case in cases() if case.name == name]
    found = measure(case, COMPARISONS, seed=1)
    assert CHOSEN[name](found), found


def test_a_quiet_host_needs_no_second_look():
    found = judged(Host(ratio=1.5, states=1, robbed=0.0), 20, seed=2)
    assert all(entry.verdict is Verdict.HIGHER and entry.look == 8 for entry in found)


def test_two_deployed_together_meet_one_state():
    apart, together = (
        Simulation(Host(together=both, changes_per_s=0.3), 12, np.random.default_rng(3)) for both in (False, True)
    )
    shared = [
        sum(bool(one.by_class.keys() & other.by_class.keys()) for one, other in zip(*host.visits(), strict=True))
        for host in (apart, together)
    ]
    assert shared[1] > shared[0]


def test_the_tables_are_printed(capsys: pytest.CaptureFixture[str]):
    found = measure(Case("factor 4; quiet", Host(ratio=4.0, states=1), "different"), 5, seed=4)
    show([found], [coverage(6, 50, seed=5)])
    text = capsys.readouterr().out
    assert "factor 4; quiet" in text and "96.9 %" in text


def test_the_smoke_of_the_benchmark_judges_no_aim(tmp_path: Path):
    raw = tmp_path / "raw.json"
    argv = [sys.executable, ROOT / "bench" / "verdicts.py", "--smoke", "--json", raw]
    subprocess.run(argv, check=True, capture_output=True, cwd=ROOT)
    assert len(json.loads(raw.read_text())) == len(cases()) + 7
