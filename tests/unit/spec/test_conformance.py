"""What searches may claim: by the goals that RFC 9971 gives for RFC 2544 and TST 009, and for goals of any origin."""

import pytest

from nfvbed.records import GeneratorPlace
from nfvbed.spec.conformance import Level, Standard, applicable, conformance, deviations, stated
from nfvbed.spec.search import SearchSpec
from nfvbed.spec.searchpresets import NDR, PRESETS

UNCONDITIONAL, CONDITIONAL, NONE = Level.UNCONDITIONAL, Level.CONDITIONAL, Level.NONE
ONE_HOST = GeneratorPlace.SAME_HOST


def levels(goal=None, **keys):
    """Judge the first goal of a search, by standard."""
    what = SearchSpec.model_validate({"preset": "rfc2544"} | keys | ({"goals": [goal]} if goal else {})).resolved()
    return {one.standard: one for one in conformance(what, what.goals[0])}


# RFC 9971, "MLRsearch Compliant with RFC 2544": trials and sum of 60 s, loss and exceed ratio 0 are unconditional; the
# loss ratio and the exceed ratio alone are conditional. "MLRsearch Compliant with TST009": 60 s, 120 s, 0, 50 %.
AS_RFC2544 = {"name": "G", "loss_ratio": 0, "exceed_ratio": 0, "final_trial_duration_s": 60, "duration_sum_s": 60}
AS_TST009 = AS_RFC2544 | {"exceed_ratio": 0.5, "duration_sum_s": 120}
SHORT = {"initial_trial_duration_s": 1, "final_trial_duration_s": 2}


@pytest.mark.parametrize(
    ("goal", "rfc2544", "tst009"),
    [
        (AS_RFC2544, UNCONDITIONAL, NONE),
        (AS_RFC2544 | {"final_trial_duration_s": 90, "duration_sum_s": 90}, UNCONDITIONAL, NONE),
        (AS_RFC2544 | {"duration_sum_s": 120}, UNCONDITIONAL, NONE),
        (AS_RFC2544 | {"final_trial_duration_s": 59.9, "duration_sum_s": 59.9}, CONDITIONAL, NONE),
        (AS_RFC2544 | SHORT | {"duration_sum_s": 2}, CONDITIONAL, NONE),
        (AS_RFC2544 | {"loss_ratio": 1e-6}, NONE, NONE),
        (AS_RFC2544 | {"exceed_ratio": 0.1}, NONE, NONE),
        (AS_TST009, NONE, UNCONDITIONAL),
        (AS_TST009 | {"duration_sum_s": 180, "exceed_ratio": 2 / 3}, NONE, UNCONDITIONAL),
        (AS_TST009 | SHORT | {"duration_sum_s": 4}, NONE, CONDITIONAL),
        (AS_TST009 | {"duration_sum_s": 180}, NONE, NONE),
        (AS_TST009 | {"loss_ratio": 1e-6}, NONE, NONE),
    ],
)
def test_goals_of_users_are_judged_as_any(goal, rfc2544, tst009):
    found = levels(goal)
    assert (found[Standard.RFC2544].level, found[Standard.TST009].level) == (rfc2544, tst009)
    assert all(bool(one.reasons) is (one.level is not UNCONDITIONAL) for one in found.values())


@pytest.mark.parametrize(
    ("preset", "standard", "level"),
    [
        ("rfc2544", Standard.RFC2544, UNCONDITIONAL),
        ("rfc2544-quick", Standard.RFC2544, CONDITIONAL),
        ("tst009", Standard.TST009, UNCONDITIONAL),
        ("tst009-quick", Standard.TST009, CONDITIONAL),
        ("tst009", Standard.RFC2544, NONE),
        ("csit", Standard.CSIT, NONE),
        ("csit-quick", Standard.CSIT, NONE),
    ],
)
def test_presets_are_judged_by_their_goals_and_not_by_their_names(preset, standard, level):
    found = levels(preset=preset)
    assert found[standard].level is level
    assert found[standard] in applicable(found.values(), preset) or level is NONE
    assert found[Standard.RFC9971].level is CONDITIONAL


def test_csit_leaves_no_trial_out():
    assert levels(preset="csit", trials="all")[Standard.CSIT].level is UNCONDITIONAL
    assert levels(preset="csit-quick", trials="all")[Standard.CSIT].level is CONDITIONAL


@pytest.mark.parametrize("change", [{"trials": "clean"}, {"late_ratio": 0.02}, {"stolen_factor": 1}])
def test_a_search_that_leaves_anything_out_is_none_of_a_document(change):
    found = levels(AS_RFC2544, **change)
    assert found[Standard.RFC2544].level is NONE
    assert "trials or frames are left out" in found[Standard.RFC2544].reasons


def test_an_irregular_result_claims_nothing_but_that_it_is_marked():
    what = SearchSpec(preset="rfc2544").resolved()
    found = {one.standard: one for one in conformance(what, what.goals[0], "max-load")}
    assert found[Standard.RFC2544].level is NONE
    assert found[Standard.RFC2544].reasons[0] == "no regular result: max-load"
    assert found[Standard.RFC9971].level is CONDITIONAL


def test_what_deviates_is_told_of_each():
    whole = SearchSpec(preset="rfc2544").resolved()
    (learning,) = deviations(whole, GeneratorPlace.OTHER_HOST, 2)
    assert "learning frames" in learning
    assert "on one host" in deviations(whole, ONE_HOST, 2)[0]
    assert "not known" in deviations(whole, GeneratorPlace.NOT_KNOWN, 2)[0]
    assert any("one way" in text for text in deviations(whole, ONE_HOST, 1))
    quick = " ".join(deviations(SearchSpec(preset="rfc2544-quick").resolved(), ONE_HOST, 2))
    assert "0.05 s, not 2 s" in quick and "0 s between trials, not 5 s" in quick
    assert any("Step Size" in text for text in deviations(SearchSpec(preset="tst009").resolved(), ONE_HOST, 2))


def test_every_preset_has_an_answer_for_every_standard():
    for name in PRESETS:
        what = SearchSpec(preset=name).resolved()
        for goal in what.goals:
            assert [one.standard for one in conformance(what, goal)] == list(Standard)


def test_a_stored_result_is_judged_by_its_goals_whatever_it_says():
    what = SearchSpec(preset="rfc2544-quick").resolved()
    goal = {"goal": what.goals[0].model_dump(mode="json"), "irregularity": None}
    stale = {"conformance": [{"standard": Standard.RFC2544, "level": UNCONDITIONAL}]}
    payload = {"search": what.model_dump(mode="json"), "goals": [goal | stale], "directions": 2, "deviations": []}
    found = stated(payload)
    (first, *_) = found["goals"][0]["conformance"]
    assert (first["standard"], first["level"]) == (Standard.RFC2544, CONDITIONAL)
    assert "not known" in found["deviations"][0] and found["goals"][0]["goal"]["name"] == NDR
