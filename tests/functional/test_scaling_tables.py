"""Learning and tables of the real switches, with known limits: what is found is what was set. As root."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfvbed.dataplanes.tables import FilledTable, ForwardingTable
from nfvbed.errors import ConfigurationError
from nfvbed.measure.trial import wait_for_links
from nfvbed.records import Status
from nfvbed.records.results import ResultRecord, TablePayload
from nfvbed.run.runner import Runner
from nfvbed.sites.site import Site
from nfvbed.spec.experiment import Experiment
from nfvbed.spec.rules import Study
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.store import Store
from nfvbed.traffic.generator import Generator, TrafficRequest, TrafficResult
from tests.functional.brought_vpp import with_vpp
from tests.functional.declared import PROJECT, variant, vnf
from tests.functional.disturbed import retried

FRAMES = 2_000


def measured(site: Site, path: Path, chosen: Variant, *tests: dict[str, object]) -> list[ResultRecord]:
    """Run tests of one cell as `nfvbed run` does."""
    values = {"name": "t", "title": "t", "variants": (chosen.name,), "frame_sizes": (64,), "ceilings": False}
    values |= {"repetitions": {"needed": 1, "max_rounds": 1}, "trials": {"warmup_s": 0.05}, "tests": tests}
    study = Study(Experiment.model_validate(values), (chosen,), PROJECT.load_site("lab"))
    with Store.open(path / "x.sqlite") as store:
        run = Runner(store, lambda *_: site).start(study)
        return list(store.results(run.id))


def quantities(result: ResultRecord) -> list[dict[str, float | None]]:
    assert result.status is Status.OK, result.reason
    rows = TablePayload.model_validate(result.payload).rows
    return [{quantity.name: quantity.value for quantity in row.quantities} for row in rows]


CACHING = {"kind": "address-caching", "max_addresses": 300}


@pytest.mark.no_hugepages
def test_a_bridge_holds_as_many_addresses_as_it_may(lab_with_vnfs, tmp_path):
    # Each number of addresses that is tried costs a trial of every address: few are as good as many.
    chosen = variant("linux-bridge", fdb_max_learned=32)
    (caching,) = measured(lab_with_vnfs, tmp_path, chosen, {**CACHING, "max_addresses": 40})
    (found,) = quantities(caching)
    assert found["addresses held"] == 32 == found["in the switch's table"] == found["limit that is set"]
    assert found["too many"] == 33
    assert found["flooded of these"] >= 1


@pytest.mark.parametrize(
    ("name", "how", "limit"),
    [
        ("ovs-dpdk", {"flows": "normal"}, 32),
        pytest.param("vpp", {"forwarding": "bridge-domain"}, 64, marks=with_vpp),
    ],
)
def test_a_learning_switch_holds_as_many_addresses_as_it_may_and_learns_them(lab_with_vnfs, tmp_path, name, how, limit):
    learning = {"kind": "address-learning", "addresses": 30, "max_load_pps": 20_000, "relative_width": 0.5}
    chosen = variant(name, mac_table_size=limit, **how)
    caching, learnt = measured(lab_with_vnfs, tmp_path, chosen, {**CACHING, "max_addresses": limit * 5 // 4}, learning)
    (found,) = quantities(caching)
    assert found["addresses held"] == limit == found["in the switch's table"] == found["limit that is set"]
    assert found["too many"] == limit + 1
    (rate,) = quantities(learnt)
    assert rate["in the switch's table"] == 31, "the test port's own is one of them"


@pytest.mark.no_hugepages
def test_what_does_not_learn_has_nothing_to_be_found(lab_with_vnfs, tmp_path):
    (found,) = measured(lab_with_vnfs, tmp_path, variant("linux-bridge", learning=False), CACHING)
    assert (found.status, "learning: false" in found.reason) == (Status.NOT_APPLICABLE, True)


def came_through(generator: Generator, filling: FilledTable, flows: int) -> bool:
    """Send so many flows in turn; whether in one trial of a few the frames of exactly those came that have an entry."""
    request = TrafficRequest(
        duration_ns=10**9, frame_size=64, rate_pps=20_000, frames=FRAMES, flows=flows, addressing=filling.addressing
    )

    def exactly(result: TrafficResult) -> bool:
        return all(
            direction.received == direction.sent // flows * filling.flows + min(direction.sent % flows, filling.flows)
            for direction in result.directions
        )

    return exactly(retried(lambda: generator.run(request), exactly))


@contextlib.contextmanager
def table_of(
    site: Site, chosen: Variant, topology: str, choice: VnfChoice | None
) -> Iterator[tuple[ForwardingTable, Generator]]:
    deployment = site.deploy(chosen, topology, vnf=choice)
    generator = site.open_generator(deployment)
    wait_for_links(generator)
    site.wait_for_generator(deployment)
    with contextlib.closing(site.forwarding_table(deployment, chosen)) as table:
        yield table, generator
    assert came_through(generator, FilledTable(entries=0, flows=40), 40), "the path is as before"
    generator.close()
    site.destroy(deployment)


@pytest.mark.no_hugepages
@pytest.mark.parametrize(
    ("name", "topology"),
    [("ovs-dpdk", "p2p"), ("linux-bridge", "pvp"), pytest.param("vpp", "p2p", marks=with_vpp)],
)
def test_entries_and_nothing_else_lead_frames_on(lab_with_vnfs, name, topology):
    """With as many flows as entries all frames come through; with twice as many, half of them."""
    chosen = PROJECT.load_variant(name)
    choice = vnf("router") if topology == "pvp" else None
    with table_of(lab_with_vnfs, chosen, topology, choice) as (table, generator):
        for entries, shares in ((1, (1, 1)), (20, (10, 10)), (2_000, (1_000, 1_000))):
            filling = table.fill(entries, 2)
            assert (filling.entries, filling.flows) == (sum(shares), min(shares))
            assert came_through(generator, filling, filling.flows)
            assert came_through(generator, filling, 2 * filling.flows)


def test_a_table_is_filled_and_measured(lab_with_vnfs, tmp_path):
    test = {"kind": "table-scaling", "counts": (1, 1_000), "duration_s": 0.1, "warmup_s": 0.05, "trials": 1}
    flows = {"kind": "flow-scaling", "counts": (1, 100_000), "duration_s": 0.1, "warmup_s": 0.05, "trials": 1}
    entries, by_flows, caching = measured(lab_with_vnfs, tmp_path, variant("ovs-dpdk"), test, flows, CACHING)
    few, many = quantities(entries)
    assert (few["in the table"], many["in the table"]) == (2, 1_000)
    assert (few["hit by frames"], many["hit by frames"]) == (2, 1_000)
    assert few["rate"] > 0 < many["rate"]
    assert len(quantities(by_flows)) == 2
    assert (caching.status, "static rules" in caching.reason) == (Status.NOT_APPLICABLE, True)


@with_vpp
@pytest.mark.parametrize("forwarding", ["l2-cross-connect", "bridge-domain"])
def test_vpp_routes_a_million_networks_and_is_as_before(lab, forwarding):
    with table_of(lab, variant("vpp", forwarding=forwarding), "p2p", None) as (table, generator):
        filling = table.fill(1_000_000, 2)
        assert (filling.entries, filling.flows) == (1_000_000, 16_384)
        assert came_through(generator, filling, filling.flows)


@with_vpp
def test_routes_that_do_not_fit_into_vpps_memory_are_refused(lab):
    with (
        table_of(lab, variant("vpp", main_heap_mib=256), "p2p", None) as (table, _),
        pytest.raises(ConfigurationError, match="do not fit"),
    ):
        table.fill(1_000_000, 2)
