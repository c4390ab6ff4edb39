"""Columns of published tables: repetitions, or what a text states; never both, never neither."""

import pytest
from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.spec.published import (
    ClaimRule,
    Publication,
    PublishedClaim,
    PublishedColumn,
    PublishedTable,
    publications,
)

WHERE = {"variant": "ovs-dpdk", "topology": "p2p"}


def column(label: str, **told: object) -> PublishedColumn:
    return PublishedColumn.model_validate({"label": label, **WHERE, **told})


def table(*columns: PublishedColumn) -> PublishedTable:
    return PublishedTable(
        key="k", title="T", where="page 1", computed="as stated", unit="Mbit/s", columns=columns, experiment="demo"
    )


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


@pytest.mark.parametrize("told", [{}, {"variant": "xdp", "topology": "p2p", "elsewhere": "no"}, {"variant": "xdp"}])
def test_a_column_is_measured_here_or_says_why_not(told: dict[str, object]):
    with pytest.raises(ValidationError, match="elsewhere"):
        PublishedColumn.model_validate({"label": "a", "about": [1, 1], **told})


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"rule": "ratio"}, "bounds of rule ratio"),
        ({"rule": "steadier", "low": 1}, "bounds of rule ratio"),
        ({"rule": "ratio", "low": 2, "high": 1}, "below high"),
    ],
)
def test_a_rule_has_the_bounds_of_its_kind(rule: dict[str, object], message: str):
    side = {"variant": "xdp"}
    with pytest.raises(ValidationError, match=message):
        ClaimRule.model_validate({"of": side, "against": side, **rule})


def test_a_claim_can_be_shown_or_has_a_reason():
    with pytest.raises(ValidationError, match="elsewhere"):
        PublishedClaim(key="k", text="t", where="page 1", experiment="demo")


@pytest.mark.parametrize("entry", publications(), ids=lambda entry: entry.name)
def test_what_is_published_is_of_experiments_that_can_show_it(entry: Publication):
    project = open_project(None)
    for table in entry.tables:
        experiment = project.load_study(table.experiment).experiment
        for column in table.columns:
            # The vEPC's guests' NICs and SR-IOV are named by their experiment, and not applicable in the lab.
            assert not column.variant or column.variant in experiment.variants, (table.key, column.label)
            assert not column.variant or column.topology in experiment.laid_out, (table.key, column.label)
    for claim in entry.claims:
        experiment = project.load_study(claim.experiment).experiment
        labels = {use.label for use in experiment.uses} | {""}
        for rule in claim.parts:
            kind = (rule.measure or claim.measure).kind
            assert kind in {test.kind for test in experiment.tests}, claim.key
            for side in (rule.of, rule.against):
                assert side.variant in experiment.variants and side.topology in experiment.laid_out, claim.key
                assert side.vnf in labels and side.frame_size in (None, *experiment.frame_sizes), claim.key


def test_names_of_claims_and_tables_are_unique():
    for entry in publications():
        assert len({table.key for table in entry.tables}) == len(entry.tables)
        assert len({claim.key for claim in entry.claims}) == len(entry.claims)
