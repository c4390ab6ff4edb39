"""Runs become a report's context without a command line: what a dashboard does as well."""

import pytest

from nfvbed.compare.comparison import compare
from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.errors import UnknownNameError
from nfvbed.report.load import context_of, load, make_options
from nfvbed.report.page.page import render_page
from nfvbed.store import Store
from tests.sample_records import BRIDGE, OVS, Scenario, build
from tests.stored_runs import put

CHOSEN = {"needed": None, "baseline": None, "placement_class": "auto", "margin": 0.02}


@pytest.fixture(name="store")
def _store(place: str):
    with Store.open(place) as store:
        put(store, build(Scenario(systems=(BRIDGE, OVS))))
        yield store


def test_a_page_is_made_of_a_store(store: Store):
    loaded = load(store, ("latest",), VariantModel)
    context = context_of(loaded, compare(loaded.data, make_options(loaded, CHOSEN)))
    run = store.run("latest")
    assert [entry.id for entry in context.runs] == [run.id]
    assert {row.variant for row in context.comparison.rows} == {"linux-bridge", "ovs-dpdk"}
    assert set(context.hosts) == {run.host_hash} and context.rigs
    assert f'<span class="hash">{run.id}</span>' in render_page(context)


def test_what_is_chosen_goes_before_what_the_experiment_says(store: Store):
    loaded = load(store, ("latest",), VariantModel)
    assert make_options(loaded, CHOSEN).baseline is None
    assert make_options(loaded, CHOSEN | {"baseline": "ovs-dpdk", "needed": 7}).rules.needed == 7
    assert make_options(loaded, CHOSEN | {"baseline": "ovs-dpdk"}).baseline == "ovs-dpdk"


def test_a_run_that_is_not_there_is_refused(store: Store):
    with pytest.raises(UnknownNameError):
        load(store, ("0194ffff",), VariantModel)
