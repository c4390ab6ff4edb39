"""Tests of cost: where nothing costs anything, where XDP tasks do not apply, what a packet's time is taken from."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.xdp.client import Floor
from nfvbed.errors import DeployError
from nfvbed.records import Cost, Status
from nfvbed.run.kinds.cost import _LiveTrial, _not_full, _running, _spread
from nfvbed.run.tools import Tools
from nfvbed.store import Store
from tests.unit.run.simulated_runs import classify_all_alike, only_run, runner, study, variant

PROJECT = open_project(Path(__file__).parents[3])


def test_a_simulated_data_plane_has_no_cost_and_other_tests_go_on(tmp_path):
    tests = ({"kind": "mrr"}, {"kind": "cost"}, {"kind": "continuous", "fraction": 0.5, "duration_s": 0.1})
    with Store.open(tmp_path / "x.sqlite") as store:
        runner(store).start(study([variant()], tests=tests, repetitions={"needed": 1, "max_rounds": 1}))
        results = {result.test: result for result in store.results(only_run(store).id)}
    assert results["cost"].status is Status.UNSUPPORTED
    assert "no thread works for it" in results["cost"].reason
    assert results["continuous"].status is Status.OK


def test_cells_of_another_data_plane_are_not_applicable_with_the_reason(tmp_path):
    path = tmp_path / "trial.yml"
    path.write_text(
        "name: trial\ntitle: A trial\nvariants: [simulated]\nframe_sizes: [64]\ntopologies: [p2p]\nceilings: false\n"
        "tests: [{kind: xdp-tasks}]\nrepetitions: {needed: 1, max_rounds: 1}\n"
    )
    with Store.open(tmp_path / "x.sqlite") as store:
        run = runner(store, tools=Tools(classify=classify_all_alike)).start(PROJECT.load_study(path))
        (result,) = store.results(run.id)
    assert result.status is Status.NOT_APPLICABLE
    assert "need a variant of data plane xdp" in result.reason


class Switch:
    """What the ports run, instead of a switch (a double)."""

    def __init__(self, dies=False):
        self.used, self.dies = [], dies

    def use(self, program):
        self.used.append(program)
        if self.dies and len(self.used) > 1:
            raise DeployError("the XDP switch does not answer")


def test_the_switchs_own_program_comes_back_whatever_happens():
    switch = Switch()
    with _running(switch, "drop"):
        assert switch.used == ["drop"]
    assert switch.used == ["drop", "switch"]
    dead = Switch(dies=True)
    with pytest.raises(KeyError), _running(dead, "drop"):
        raise KeyError("first")
    assert dead.used == ["drop", "switch"]


def live(sample, busy_ns, packets=1000, duration_ns=1_000_000):
    cost = Cost(busy_cycles="not-separable" if busy_ns is None else busy_ns, packets=packets, source="")
    raw = {} if busy_ns is None else {"napi_run_time_ns": busy_ns}
    counters = {"packets": packets, "raw": raw, "source": ""}
    return _LiveTrial(
        sample.model_copy(update={"cost": cost, "switch_counters": counters, "duration_ns": duration_ns}), 0
    )


@pytest.fixture(name="sample")
def _sample(tmp_path):
    with Store.open(tmp_path / "y.sqlite") as store:
        path = tmp_path / "mrr.yml"
        path.write_text(
            "name: mrr\ntitle: A trial\nvariants: [simulated]\nframe_sizes: [64]\ntopologies: [p2p]\nceilings: false\n"
            "tests: [{kind: mrr}]\nrepetitions: {needed: 1, max_rounds: 1}\n"
        )
        run = runner(store, tools=Tools(classify=classify_all_alike)).start(PROJECT.load_study(path))
        return store.trials(run.id)[0]


def test_a_packets_time_is_the_threads_over_the_frames(sample):
    full = live(sample, 990_000)
    assert (full.ns_per_packet, full.rate_pps, full.busy) == (990, 1_000_000, 0.99)
    assert _not_full(full) == ""
    assert "not full (50 %)" in _not_full(live(sample, 500_000))
    inline = live(sample, None)
    assert inline.ns_per_packet is None
    assert "softirq" in _not_full(inline)
    assert live(sample, 500_000, packets=0).ns_per_packet is None


def test_spread_is_the_median_with_least_and_greatest():
    quantity = _spread("time", [22.31, 25.0, 21.0, 22.4], "ns")
    assert (quantity.value, quantity.low, quantity.high) == (22.3, 21.0, 25.0)
    assert _spread("time", [], "ns").value is None
    assert Floor(verdict=1, duration_ns=22, cpu_ns=100, repeat=4).cpu_ns / 4 == 25
