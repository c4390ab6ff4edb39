"""Tests of queues: what is counted, which flows collide, what a spread can be at best, and where there is no tap."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.linux_bridge.balancer import BalancerTotals
from nfvbed.dataplanes.linux_bridge.queues import FlowCounts, QueueCounts
from nfvbed.errors import DeployError
from nfvbed.records import Status
from nfvbed.run.kinds.queues import (
    _Measured,
    colliding_ports,
    imbalance,
    least_imbalance,
    probed_ports,
    rates,
)
from nfvbed.run.tools import Tools
from nfvbed.spec.testkinds.queues import QueueBalanceTest
from nfvbed.store import Store
from tests.unit.run.simulated_runs import classify_all_alike, runner

PROJECT = open_project(Path(__file__).parents[3])
SPEC = QueueBalanceTest(kind="queue-balance", queues=(4,), flows=2, interval_s=0.2)
TOTALS = BalancerTotals(
    periods=50, moves=3, flows=2, packets=100, no_flow=0, no_entry=0, attached_again=0, mapper_ns=5000, mapper_runs=20
)


def flow(port, queues, **more):
    counts = {"rate_pps": 100, "sent": 10, "unsent": 0, "received": 10, "reordered": 0} | more
    return FlowCounts(port=port, queues=queues, **counts)


def test_imbalance_is_the_busiest_queue_over_the_mean():
    assert imbalance([100, 0, 0, 0]) == 4
    assert imbalance([25, 25, 25, 25]) == 1
    assert imbalance([0, 0]) is None


@pytest.mark.parametrize(
    ("volumes", "queues", "least"),
    [
        ([1, 1, 1, 1], 4, 1.0),
        ([1, 1, 1, 1], 3, 1.5),
        ([1, 1, 1, 1], 2, 1.0),
        ([8, 1, 1, 1, 1], 4, 8 * 4 / 12),
        ([5], 4, 4.0),
    ],
)
def test_no_spread_of_whole_flows_is_more_even(volumes, queues, least):
    assert least_imbalance(volumes, queues) == pytest.approx(least)


def test_flows_that_collide_are_of_the_fullest_queue():
    probed = [flow(1, 0b01), flow(2, 0b10), flow(3, 0b10), flow(4, 0), flow(5, 0b01), flow(6, 0b10)]
    assert colliding_ports(probed, 2) == [2, 3]
    assert colliding_ports(probed, 4) == [2, 3, 6, 1], "then those of the next one"


def test_flows_are_probed_until_enough_of_them_came():
    times = iter(range(100))

    def send():
        first = 20 * next(times)
        return [flow(port, 0b1 if first <= port < first + 20 else 0) for port in range(256)]

    assert probed_ports(send, 4) == [0, 1, 2, 3]
    assert next(times) == 2, "40 of the 32 that are enough were known after two tries"


def test_too_few_flows_that_came_are_an_error_with_their_number():
    with pytest.raises(DeployError) as told:
        probed_ports(lambda: [flow(1, 0b1), flow(2, 0)], 4)
    assert told.value.observed == "1 of 256, 4 are wanted"


def test_volumes_add_up_to_the_load():
    assert rates(QueueBalanceTest(kind="queue-balance", flows=4, load_pps=8000)) == [2000] * 4
    skewed = rates(QueueBalanceTest(kind="queue-balance", flows=3, load_pps=11000, volumes="skewed"))
    assert skewed == [6000, 3000, 2000]


def test_a_row_has_what_the_ends_and_the_balancer_counted():
    counts = QueueCounts(
        flows=(flow(1, 0b11, reordered=2), flow(2, 0b01, sent=12)),
        interval_ms=200,
        intervals=((4, 0, 0, 0), (2, 2, 0, 0), (0, 0, 0, 0)),
    )
    measured = _Measured(SPEC, 4, True, counts, TOTALS)
    found = {quantity.name: quantity for quantity in measured.row().quantities}
    assert (found["imbalance"].value, found["imbalance"].low, found["imbalance"].high) == (3, 2, 4)
    assert (found["out of order"].value, found["lost"].value, found["moves"].value) == (2, 2, 3)
    assert found["mapper"].value == 250
    assert measured.series().values == (4, 2, None)
    assert measured.row().parameters["colliding"] == "yes"
    static = _Measured(SPEC, 4, False, counts, None).row()
    assert not {"moves", "mapper"} & {quantity.name for quantity in static.quantities}


def test_more_flows_than_collide_are_refused():
    with pytest.raises(ValidationError, match="flows"):
        QueueBalanceTest(kind="queue-balance", flows=65)


def test_a_switch_without_such_taps_is_not_applicable(tmp_path):
    path = tmp_path / "trial.yml"
    path.write_text(
        "name: trial\ntitle: A trial\nvariants: [simulated]\nframe_sizes: [64]\ntopologies: [p2p]\nceilings: false\n"
        "tests: [{kind: queue-balance}]\nrepetitions: {needed: 1, max_rounds: 1}\n"
    )
    with Store.open(tmp_path / "x.sqlite") as store:
        run = runner(store, tools=Tools(classify=classify_all_alike)).start(PROJECT.load_study(path))
        (result,) = store.results(run.id)
    assert result.status is Status.NOT_APPLICABLE
    assert "of the kernel's bridge alone" in result.reason
