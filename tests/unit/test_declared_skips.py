"""A variant that does not run is skipped where tests/support.yml says so alone, and never with a double."""

import pytest

from tests.functional import deployed_plane
from tests.functional.declared import PROJECT
from tests.functional.deployed_plane import Case, skip_if_declared

REASON = "Lagopus did not start"


def case(double=False):
    return Case(PROJECT.load_variant("lagopus-raw"), "p2p", double=double)


@pytest.fixture(name="says")
def _says(monkeypatch):
    """Have the manifest say something of the variant."""
    return lambda **entry: monkeypatch.setitem(deployed_plane.MANIFEST, "lagopus-raw", entry)


@pytest.mark.parametrize("readiness", ["unsupported", ["ready", "unsupported"]])
def test_what_is_declared_is_skipped_with_its_reason(says, readiness):
    says(readiness=readiness)
    with pytest.raises(pytest.skip.Exception, match=REASON):
        skip_if_declared(case(), REASON)


@pytest.mark.parametrize("readiness", ["ready", "degraded", ["ready", "degraded"]])
def test_what_is_not_declared_fails(says, readiness):
    says(readiness=readiness)
    with pytest.raises(pytest.fail.Exception, match=REASON):
        skip_if_declared(case(), REASON)


def test_a_reason_that_is_ruled_out_fails(says):
    says(readiness=["ready", "unsupported"], **{"not": "did not start"})
    with pytest.raises(pytest.fail.Exception, match="rules out"):
        skip_if_declared(case(), REASON)


def test_a_program_that_is_brought_must_run(says, monkeypatch):
    says(readiness="unsupported", brought_by="LAGOPUS_BIN")
    monkeypatch.setenv("LAGOPUS_BIN", "/lagopus")
    with pytest.raises(pytest.fail.Exception, match=REASON):
        skip_if_declared(case(), REASON)


@pytest.mark.parametrize("readiness", ["ready", "unsupported", ["ready", "unsupported"]])
def test_a_double_that_does_not_run_fails(says, readiness):
    says(readiness=readiness)
    with pytest.raises(pytest.fail.Exception, match="double"):
        skip_if_declared(case(double=True), REASON)
