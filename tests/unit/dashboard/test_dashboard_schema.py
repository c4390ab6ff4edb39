"""The API keeps to its own description, whatever it is asked: requests are made from it, good ones and bad ones."""

import hypothesis
import pytest
import schemathesis
from hypothesis import given, settings
from schemathesis import GenerationMode

from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.store import Store
from tests.sample_records import RUN
from tests.unit.dashboard.conftest import NOW

pytestmark = pytest.mark.dashboard
EXAMPLES = 15
"""Examples of each address and kind; together they take about ten seconds."""
KEPT = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)


@pytest.fixture(scope="session", name="described")
def _described(store: Store) -> schemathesis.BaseSchema:
    app = make_app(store, Access(hosts=("testserver",)), lambda: NOW)
    return schemathesis.openapi.from_asgi("/api/openapi.json", app)


def operations(described: schemathesis.BaseSchema) -> list[schemathesis.APIOperation]:
    """Return all addresses with their methods."""
    return [found.ok() for found in described.get_all_operations()]


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_every_answer_is_as_described(described: schemathesis.BaseSchema, mode: GenerationMode) -> None:
    asked = 0
    for operation in operations(described):

        @KEPT
        @given(case=operation.as_strategy(generation_mode=mode))
        def answers_as_described(case: schemathesis.Case) -> None:
            nonlocal asked
            asked += 1
            case.call_and_validate()

        if mode is GenerationMode.NEGATIVE and not (operation.query or operation.path_parameters):
            continue  # There is nothing in it to be wrong.
        answers_as_described()
    assert asked > EXAMPLES


def test_addresses_of_a_run_that_is_there_are_as_described(described: schemathesis.BaseSchema) -> None:
    """What is made from a pattern names no run that there is: these do."""
    cells = {"cell": "ovs-dpdk/p2p/64"}
    for operation in operations(described):
        if "{name}" in operation.path or operation.path == "/api/compare":
            query = {"runs": [RUN]} if operation.path == "/api/compare" else cells if "why" in operation.path else {}
            case = operation.Case(path_parameters={"name": RUN} if "{name}" in operation.path else {}, query=query)
            assert case.call_and_validate().status_code == 200, operation.path
