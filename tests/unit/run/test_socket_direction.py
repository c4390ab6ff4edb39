"""The direction of socket tests: what is sent back has a label and a parameter, what is sent forward has none."""

from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from nfvbed.run.kinds.sockets import Condition, _directed
from nfvbed.spec.testkinds.sockets import TcpThroughputTest

CONDITION = Condition("1 stream", {"streams": 1}, lambda pair: pair)


def spec(**told):
    return TcpThroughputTest.model_validate({"kind": "tcp-throughput", **told})


def test_forward_is_what_it_was_in_runs_before():
    assert _directed(CONDITION, spec()) is CONDITION


def test_reverse_turns_the_pair_and_says_so():
    found = _directed(CONDITION, spec(direction="reverse"))
    assert found.label == "1 stream, reverse"
    assert found.parameters == {"streams": 1, "direction": "reverse"}
    assert found.traffic(SimpleNamespace(turned=lambda: "turned")) == "turned"


def test_other_directions_are_refused():
    with pytest.raises(ValidationError, match="forward"):
        spec(direction="uplink")
