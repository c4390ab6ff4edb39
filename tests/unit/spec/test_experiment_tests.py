"""The tests of an experiment: one default, labels that differ, loads that are parts of something measured before."""

import pytest
from pydantic import ValidationError

from nfvbed.spec.experiment import Experiment
from nfvbed.spec.testkinds.loads import SearchTest
from nfvbed.spec.tests import expected_s, label_of

SEARCH = {"kind": "search", "preset": "csit-quick"}


def experiment(*tests: dict[str, object], **values: object) -> Experiment:
    given = {"tests": tests} if tests else {}
    return Experiment.model_validate({"name": "e", "title": "e", "variants": ("a",), **given, **values})


def test_without_tests_there_is_the_mrr():
    assert [label_of(test) for test in experiment().tests] == ["mrr"]
    assert experiment().has_mrr
    assert not experiment(SEARCH).has_mrr


def test_labels_are_kinds_or_names():
    found = experiment(SEARCH, {**SEARCH, "name": "again"}, {"kind": "latency"})
    assert list(found.labelled_tests) == ["search", "again", "latency"]


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        ((SEARCH, SEARCH), "two tests are named search"),
        (({"kind": "latency"},), "parts of PDR, which no test before it measures"),
        (({"kind": "latency"}, SEARCH), "parts of PDR"),
        (({"kind": "loss-curve"},), "parts of mrr"),
        (({"kind": "continuous"},), "either load_pps or fraction"),
        (({"kind": "continuous", "load_pps": 10, "fraction": 0.5},), "either load_pps or fraction"),
        (({"kind": "soak", "load_pps": 10, "duration_s": 1, "interval_s": 2},), "must be at most duration_s"),
        (({"kind": "nonsense"},), "does not match any of the expected tags"),
        (({**SEARCH, "preset": "csit-fast"},), "unknown preset 'csit-fast'"),
        (
            ({"kind": "search", "preset": "rfc2544", "goals": ({"name": "NDR", "initial_trial_duration_s": 30},)},),
            "does not hold",
        ),
    ],
)
def test_what_does_not_fit_is_refused(tests, message):
    with pytest.raises(ValidationError, match=message):
        experiment(*tests)


def test_a_search_needs_to_know_the_largest_load():
    with pytest.raises(ValidationError, match="without ceilings test search needs a max_load_pps"):
        experiment(SEARCH, ceilings=False)
    assert experiment({**SEARCH, "max_load_pps": 10**7}, ceilings=False)


def test_quick_is_of_the_experiment_and_is_in_the_name():
    quick = experiment({"kind": "search"}, quick=True)
    (test,) = quick.tests
    assert isinstance(test, SearchTest)
    assert quick.search_of(test).label == "csit-quick (clean 0.05 s trials)"
    assert experiment({"kind": "search"}).search_of(test).label == "csit (clean 1 s trials)"


def test_the_estimate_is_of_the_order_of_a_simulated_search():
    """`csit` took 37 s of trials on a steady simulated system, 87 s on a noisy one."""
    (test,) = experiment({"kind": "search"}).tests
    seconds, trials = expected_s(test)
    assert 37 < seconds < 3 * 87
    assert trials < seconds + 20
    (limited,) = experiment({"kind": "search", "time_limit_s": 30}).tests
    assert expected_s(limited)[0] == 30
    *_, curve, soak = experiment(
        {"kind": "mrr"}, {"kind": "loss-curve", "duration_s": 2}, {"kind": "soak", "load_pps": 9, "duration_s": 60}
    ).tests
    assert expected_s(curve) == (22.0, 11)
    assert expected_s(soak) == (60.0, 6)
