"""Columns of published tables: repetitions, or what a text states; never both, never neither."""

import pytest
from pydantic import ValidationError

from nfvbed.spec.published import PublishedColumn, PublishedTable

WHERE = {"variant": "ovs-dpdk", "topology": "p2p"}


def column(label: str, **told: object) -> PublishedColumn:
    return PublishedColumn.model_validate({"label": label, **WHERE, **told})


def table(*columns: PublishedColumn) -> PublishedTable:
    return PublishedTable(key="k", title="T", unit="Mbit/s", columns=columns, experiment="demo")


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"results": [1.0]},
        {"results": [1.0, 2.0], "about": [1.0, 2.0]},
        {"results": [1.0], "about": [1.0, 2.0]},
        {"about": [2.0, 1.0]},
        {"about": [-1.0, 1.0]},
    ],
)
def test_a_column_has_repetitions_or_what_a_text_states(told: dict[str, object]):
    with pytest.raises(ValidationError, match="LOW|greater than or equal to 0"):
        column("OVS-DPDK", **told)


def test_only_repetitions_can_be_tested():
    assert table(column("a", results=[1.0, 2.0]), column("b", results=[1.0, 2.0])).has_repetitions
    assert not table(column("a", about=[50, 60]), column("b", about=[600, 600])).has_repetitions


def test_a_table_is_of_one_form():
    with pytest.raises(ValidationError, match="make two tables"):
        table(column("a", about=[50, 60]), column("b", results=[1.0, 2.0]))
