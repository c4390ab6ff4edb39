"""The one list of kinds of tests is complete: all that files may say is executed, kept under its word and described."""

import re
from pathlib import Path
from typing import get_args

import pytest

from nfvbed.records import Preset
from nfvbed.records.results import LoadsPayload, ResultKind, TablePayload
from nfvbed.run.kinds.catalogue import KINDS, Kind
from nfvbed.search.result import SearchResult
from nfvbed.spec import tests
from nfvbed.spec.tests import AnyTest, MrrTest

DOCS = Path(__file__).parents[3] / "docs"
EACH = pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)


def test_every_model_of_a_test_is_in_it_once() -> None:
    models = [kind.model for kind in KINDS.values()]
    assert len(set(models)) == len(models)
    assert set(models) == set(get_args(AnyTest)) - {MrrTest}
    assert set(KINDS) == tests.KINDS - {"mrr"}


def test_every_kind_of_result_comes_of_one() -> None:
    """But those of VSPERF, which comes with its own numbers."""
    assert {kind.result for kind in KINDS.values()} == set(ResultKind) - {ResultKind.VSPERF}


def test_no_word_is_a_trials_and_a_results() -> None:
    assert {preset.value for preset in Preset} & {kind.value for kind in ResultKind} == set()
    assert {preset.value for preset in Preset} == {"mrr", "paced", "common", "trace"}


@EACH
def test_readers_take_its_payload_for_what_it_is(kind: Kind) -> None:
    read = TablePayload if kind.result.is_table else LoadsPayload if kind.result.has_loads else SearchResult
    assert kind.payload is read


@EACH
def test_model_and_executor_are_in_modules_of_one_name(kind: Kind) -> None:
    subject = kind.execute.__module__.rpartition(".")[2]
    assert kind.execute.__module__ == f"nfvbed.run.kinds.{subject}"
    assert kind.model.__module__ == f"nfvbed.spec.testkinds.{subject}"


@EACH
def test_it_is_described(kind: Kind) -> None:
    method = (DOCS / "method.md").read_text()
    table = method[method.index("## Tests") : method.index("## Bursts")]
    firsts = {name for line in table.splitlines() for name in re.findall(r"`([a-z-]+)`", line.split(" | ")[0])}
    assert kind.name in firsts, "docs/method.md, Tests"
    subject = kind.model.__module__.rpartition(".")[2]
    page = DOCS / "reference" / "files" / "tests" / f"{subject}.md"
    assert f"## {kind.model.__name__}\n" in page.read_text(), "make reference"
