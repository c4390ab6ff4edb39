"""Looks at a gate: a traffic point of which a side was given up ends, and keeps the others from nothing."""

from dataclasses import replace

from nfvbed.compare.gating import GateRules
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.plan.plan import expand
from nfvbed.run.gatestopping import GateStoppingRule
from nfvbed.run.gatestudy import GateSpec, read_option_set, study_of_gate
from nfvbed.run.looks import Look

PROJECT = open_project(None)


def look() -> Look:
    sides = [read_option_set(text, "simulated", PROJECT) for text in ("own", "capacity_pps=3000000")]
    spec = GateSpec(variant="simulated", baseline=sides[0], candidate=sides[1], budget_s=60, frame_sizes=(64, 1518))
    found = study_of_gate(PROJECT, spec)
    points: dict = {}
    for cell in expand(found.experiment, found.variants, found.choices).cells:
        points.setdefault(cell.point, []).append(cell)
    return Look(experiment=found.experiment, points=points, trials=())


def test_a_point_whose_baseline_was_given_up_is_measured_no_further():
    """From the first round on, or later."""
    whole = look()
    first, second = whole.points
    without = [cell for cell in whole.points[first] if cell.variant != "baseline"]
    assert GateStoppingRule(GateRules())(whole) == frozenset()
    for before in ((), (whole,)):
        decide = GateStoppingRule(GateRules())
        for earlier in before:
            decide(earlier)
        assert decide(replace(whole, points={first: without, second: whole.points[second]})) == {first}
        assert decide(replace(whole, points={first: without})) == {first}
