"""A run in CSIT's form: of its schema, with the same numbers, and failed where there is none."""

import json
from pathlib import Path

import pytest

from nfvbed.compare.comparison import ComparisonOptions, compare
from nfvbed.errors import ConfigurationError
from nfvbed.foreign.csit import fault_of
from nfvbed.foreign.csitwriting import to_uti
from nfvbed.foreign.reading import read_foreign
from nfvbed.records import Status
from tests.sample_records import BRIDGE, OVS, Scenario, build
from tests.sample_results import with_tests


@pytest.fixture(scope="module", name="made")
def _made() -> dict[str, dict]:
    stopped = (("linux-bridge/p2p/1518", Status.FAILED, "the switch ended"),)
    data = build(Scenario(systems=(BRIDGE, OVS), rounds=8, far_rounds=(), changing=(), blocked=stopped))
    return to_uti(compare([data], ComparisonOptions()), data, {})


def test_each_cell_is_a_test_case_of_the_schema(made: dict[str, dict]):
    assert sorted(made) == [
        "linux-bridge_p2p_1518-mrr.info.json",
        "linux-bridge_p2p_64-mrr.info.json",
        "ovs-dpdk_p2p_1518-mrr.info.json",
        "ovs-dpdk_p2p_64-mrr.info.json",
    ]
    assert [fault_of(document) for document in made.values()] == [""] * 4


def test_numbers_come_back_as_they_went_out(made: dict[str, dict], tmp_path: Path):
    document = made["ovs-dpdk_p2p_64-mrr.info.json"]
    file = tmp_path / "x.info.json"
    file.write_text(json.dumps(document))
    [found] = read_foreign(file)
    rate = document["result"]["receive_rate"]["rate"]
    assert (found.value, found.samples, found.unit) == (rate["avg"], len(rate["values"]), "frames/s")
    assert (found.quantity, found.frame_size, found.system) == ("mrr", "64", "ovs-dpdk not recorded")


def test_what_was_not_measured_has_failed_with_the_reason(made: dict[str, dict]):
    document = made["linux-bridge_p2p_1518-mrr.info.json"]
    assert (document["passed"], document["message"]) == (False, "the switch ended")
    assert document["result"] == {"type": "unknown"}


def test_a_document_of_another_model_is_refused_with_the_place(made: dict[str, dict], tmp_path: Path):
    file = tmp_path / "x.json"
    file.write_text(json.dumps(made["ovs-dpdk_p2p_64-mrr.info.json"] | {"version": "1.0.1"}))
    with pytest.raises(ConfigurationError) as caught:
        read_foreign(file)
    assert "version: '1.5.1' was expected" in caught.value.observed


def test_a_search_is_ndr_and_pdr_where_both_are_regular_and_csits_own():
    data = with_tests(build(Scenario(systems=(BRIDGE, OVS), rounds=8, far_rounds=(), changing=())))
    made = to_uti(compare([data], ComparisonOptions()), data, {})
    searches = {name: document for name, document in made.items() if name.endswith("ndrpdr.info.json")}
    assert searches and not any(map(fault_of, searches.values()))
    for document in searches.values():
        if document["passed"]:
            assert set(document["result"]) == {"type", "ndr", "pdr"}
        else:
            assert document["message"] and document["result"] == {"type": "unknown"}
    assert {document["passed"] for document in searches.values()} == {True, False}
