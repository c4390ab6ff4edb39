"""The benchmark of large stores asks a real dashboard for every page, and says what misses its aim."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import store_scale
from scale_rows import Filled
from scipy import stats
from store_scale import Answer, choices, growth, problems_of, times_of

ROOT = Path(__file__).resolve().parents[3]


def answers(page: str, ms: list[float], rss: list[int] | None = None) -> list[Answer]:
    return [Answer(page, taken, taken, 1, memory) for taken, memory in zip(ms, rss or [100] * len(ms), strict=True)]


@pytest.mark.slow
def test_the_smoke_asks_for_every_page(tmp_path: Path) -> None:
    raw = tmp_path / "raw.json"
    argv = [sys.executable, ROOT / "bench" / "store_scale.py", "--smoke", "--json", raw]
    subprocess.run(argv, check=True, capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    found = json.loads(raw.read_text())
    assert {row["page"] for row in found["times"]} > set(store_scale.AIMED)
    assert all(answer["size"] > 1000 and answer["rss"] > 2**20 for answer in found["answers"])


def test_a_page_that_is_slow_for_more_than_one_in_twenty_misses_its_aim() -> None:
    quick, slow = answers("overview", [10.0] * 95 + [900.0] * 5), answers("compare", [10.0] * 94 + [900.0] * 6)
    assert problems_of(times_of(quick), quick) == []
    assert problems_of(times_of(slow), slow) == ["compare: 900 ms, the aim is 300"]


def test_memory_that_grows_with_the_requests_misses_its_aim() -> None:
    kept = answers("runs", [1.0] * 100, [100] * 25 + [200] * 75)
    growing = answers("runs", [1.0] * 100, list(range(100, 200)))
    assert growth(kept) == 0 and growth(growing) > 0.3
    assert problems_of(times_of(growing), growing) == [f"memory grew by {growth(growing):.1%}"]


def test_no_comparison_is_asked_for_twice() -> None:
    filled = Filled(("a", "b", "c"), 9, 9)
    found = list(choices(filled, 200, np.random.default_rng(1)))
    assert len(set(found)) == 200
    assert all(query.count("runs=") * query.count("variants=") <= store_scale.MOST_SETTINGS for query in found)


def test_the_interval_of_a_percentile_is_between_quantiles_of_the_binomial_distribution() -> None:
    for count in (1, 20, 100, 700):
        for chance in (0.025, 0.5, 0.975):
            assert store_scale.successes(count, 0.95, chance) == stats.binom.ppf(chance, count, 0.95)
