"""A test of cost where nothing costs anything."""

from pathlib import Path

from run_bench import only_run, runner, study, variant

from nfvbed.records import Status
from nfvbed.store import Store


def test_a_simulated_data_plane_has_no_cost_and_other_tests_go_on(tmp_path: Path) -> None:
    tests = ({"kind": "mrr"}, {"kind": "cost"}, {"kind": "continuous", "fraction": 0.5, "duration_s": 0.1})
    with Store.open(tmp_path / "x.sqlite") as store:
        runner(store).start(study([variant()], tests=tests, repetitions={"needed": 1, "max_rounds": 1}))
        results = {result.test: result for result in store.results(only_run(store).id)}
    assert results["cost"].status is Status.UNSUPPORTED
    assert "no thread works for it" in results["cost"].reason
    assert results["continuous"].status is Status.OK
