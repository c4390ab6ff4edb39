"""Searches as files declare them: presets, what may be changed, what is refused, and the names of results."""

from pathlib import Path

import pytest

from nfvbed.spec.document import read_document
from nfvbed.spec.search import GoalSpec, SearchSpec
from nfvbed.spec.searchpresets import PRESETS, Goal
from nfvbed.spec.validate import build
from tests.refusals import misconfigured


def load(tmp_path: Path, text: str) -> SearchSpec:
    path = tmp_path / "search.yml"
    path.write_text(text)
    return build(read_document(path), SearchSpec)


def refused(tmp_path: Path, text: str) -> str:
    return str(misconfigured(lambda: load(tmp_path, text)))


@pytest.mark.parametrize(
    ("preset", "losses", "exceed", "final_s", "sum_s"),
    [
        ("rfc2544", [0.0], 0.0, 60, 60),
        ("tst009", [0.0], 0.5, 60, 120),
        ("csit", [0.0, 0.005], 0.5, 1, 21),
        ("rfc2544-quick", [0.0], 0.0, 2, 2),
        ("tst009-quick", [0.0], 0.5, 2, 4),
        ("csit-quick", [0.0, 0.005], 0.5, 0.05, 1.05),
    ],
)
def test_presets_are_those_of_their_sources(preset, losses, exceed, final_s, sum_s):
    search = SearchSpec(preset=preset).resolved()
    assert [goal.loss_ratio for goal in search.goals] == losses
    assert {(g.exceed_ratio, g.final_trial_duration_s, g.duration_sum_s) for g in search.goals} == {
        (exceed, final_s, sum_s)
    }
    assert {goal.relative_width for goal in search.goals} == {0.01 if preset.endswith("-quick") else 0.005}
    clean = f" (clean {final_s} s trials)" if preset.startswith("csit") else ""
    assert search.label == preset + clean
    assert PRESETS[preset].source


def test_quick_is_in_the_name_however_it_is_asked_for():
    for name in ("rfc2544", "tst009", "csit"):
        assert SearchSpec(preset=name).resolved(quick=True) == SearchSpec(preset=f"{name}-quick").resolved()
        assert SearchSpec(preset=f"{name}-quick").resolved(quick=True).label.startswith(f"{name}-quick")


def test_every_attribute_of_a_goal_can_be_set_in_a_file(tmp_path):
    wanted = Goal(
        name="mine",
        loss_ratio=0.02,
        exceed_ratio=0.25,
        relative_width=0.03,
        initial_trial_duration_s=2.0,
        final_trial_duration_s=4.0,
        duration_sum_s=16.0,
        preceding_targets=3,
        expansion_coefficient=4,
    )
    assert set(GoalSpec.model_fields) == set(Goal.model_fields)
    lines = [f"  {'-' if key == 'name' else ' '} {key}: {value}" for key, value in wanted.model_dump().items()]
    search = load(tmp_path, "preset: csit\ngoals:\n" + "\n".join(lines) + "\n").resolved()
    assert search.goals == (wanted,)
    assert search.label == "csit (clean 4 s trials; changed: mine, no NDR, no PDR)"


def test_what_is_left_out_is_the_presets_and_what_is_changed_is_in_the_name(tmp_path):
    text = "preset: csit\ngoals: [{name: NDR}, {name: PDR, relative_width: 0.02}]\ntime_limit_s: 77\nwarmup_s: 0\n"
    search = load(tmp_path, text).resolved()
    assert search.goals[0] == PRESETS["csit"].goals[0]
    assert search.goals[1] == PRESETS["csit"].goals[1].model_copy(update={"relative_width": 0.02})
    assert search.label == "csit (clean 1 s trials; changed: PDR.relative_width, time_limit_s, warmup_s)"
    assert (search.time_limit_s, search.warmup_s) == (77, 0)
    assert search.placement_wait_s == PRESETS["csit"].placement_wait_s


@pytest.mark.parametrize("preset", ["rfc2544", "tst009"])
def test_the_names_of_documents_exclude_nothing_and_wait_as_they_say(preset):
    search = SearchSpec(preset=preset).resolved()
    assert (search.trials, search.late_ratio, search.stolen_factor) == ("all", None, 0)
    assert search.excludes == ()
    assert (search.drain_s, search.rest_s) == (2, 5)
    assert search.label == preset


@pytest.mark.parametrize(
    ("changed", "label"),
    [
        ({"late_ratio": 0.01}, "rfc2544 (changed: late_ratio)"),
        ({"stolen_factor": 2}, "rfc2544 (changed: stolen_factor)"),
        ({"rest_s": 0, "drain_s": 0.1}, "rfc2544 (changed: drain_s, rest_s)"),
        ({"trials": "clean"}, "rfc2544 (clean 60 s trials)"),
        ({"clean_limit_s": 0.001, "preset": "csit"}, "csit (clean 1 s trials; changed: clean_limit_s)"),
        ({"trials": "all", "preset": "csit"}, "csit (as delivered)"),
        ({"late_ratio": 0.02, "preset": "csit"}, "csit (clean 1 s trials)"),
        ({"trials": "all", "late_ratio": 0.02, "preset": "csit"}, "csit (all trials; changed: late_ratio)"),
    ],
)
def test_whatever_excludes_more_or_less_than_the_preset_is_in_the_label(changed, label):
    search = SearchSpec.model_validate({"preset": "rfc2544", **changed}).resolved()
    assert search.label == label
    assert bool(search.excludes) == (search.trials == "clean" or "late_ratio" in changed or "stolen_factor" in changed)


def test_an_unknown_preset_is_reported_with_the_nearest_one(tmp_path):
    message = refused(tmp_path, "preset: cist\n")
    assert "did you mean 'csit'?" in message
    assert "search.yml:1" in message


def test_an_unknown_key_of_a_goal_is_reported_with_the_nearest_one(tmp_path):
    message = refused(tmp_path, "goals:\n  - {name: NDR, relative_with: 0.1}\n")
    assert "unknown key 'goals.0.relative_with'" in message or "relative_with" in message
    assert "did you mean 'relative_width'?" in message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("goals: [{name: NDR, loss_ratio: 0.001}]", "NDR means a loss ratio of 0"),
        ("goals: [{name: pdr, loss_ratio: 0.001}]", "pdr means a loss ratio of 0.005"),
        ("goals: [{name: NDR, final_trial_duration_s: 60}]", "duration_sum_s (21)"),
        ("goals: [{name: NDR, initial_trial_duration_s: 2}]", "initial_trial_duration_s (2) <="),
        ("goals: [{name: NDR, preceding_targets: 0}]", "without preceding_targets"),
        ("goals: [{name: NDR}, {name: NDR, relative_width: 0.1}]", "two goals are named NDR"),
        ("goals: [{name: NDR}, {name: other}]", "goals NDR and other are the same"),
        ("goals: [{name: NDR, exceed_ratio: 1.0}]", "below 1"),
        ("goals: [{name: NDR, relative_width: 0}]", "above 0"),
        ("{min_load_pps: 1000, max_load_pps: 1000}", "must be above min_load_pps"),
        ("time_limit_s: 0", "above 0"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(tmp_path, text, part):
    assert part in refused(tmp_path, text + "\n")
