"""What a file may say of a test of cost."""

import pytest
from pydantic import ValidationError

from nfvbed.spec.testkinds.cost import CostTest


def test_maximum_load_is_the_default_and_there_are_two_trials():
    test = CostTest(kind="cost")
    assert (test.load_pps, test.fraction, test.builds_on) == (None, None, ())
    assert test.expected() == (20.0, 2)


def test_without_a_trace_there_is_one_trial():
    assert CostTest(kind="cost", trace=False, duration_s=3).expected() == (3.0, 1)


def test_a_fraction_builds_on_a_load():
    assert CostTest(kind="cost", fraction=0.5, of="PDR").builds_on == ("PDR",)


def test_two_loads_are_refused():
    with pytest.raises(ValidationError, match="load_pps or fraction"):
        CostTest(kind="cost", fraction=0.5, load_pps=1000)
