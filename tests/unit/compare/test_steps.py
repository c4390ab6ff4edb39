"""Steps and trends in series of which the truth is known."""

from collections.abc import Sequence

import numpy as np
import pytest

from nfvbed.compare.samples.steps import FEWEST, NEWEST, RunFigure, find_steps, open_steps
from nfvbed.records.acknowledgements import Acknowledgement

SCATTER = 0.02


def run(place: int) -> str:
    return f"01940000-0000-7000-8000-{place:012d}"


def series(logs: Sequence[float]) -> list[RunFigure]:
    return [
        RunFigure(run=run(place), at=f"2026-01-{place + 1:02d}T00:00:00Z", value=float(1e6 * np.exp(value)))
        for place, value in enumerate(logs)
    ]


def noise(runs: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, SCATTER, runs)


def stepped(runs: int, place: int, height: float, seed: int = 1) -> list[RunFigure]:
    return series(noise(runs, seed) + height * SCATTER * (np.arange(runs) >= place))


def test_a_step_is_reported_after_a_second_run_and_not_before():
    whole = stepped(12, 8, -20)
    assert find_steps(whole[:8]).steps == ()
    first = find_steps(whole[:9])
    assert first.steps == ()
    assert first.suspected is not None and first.suspected.run == run(8)
    assert first.suspected.ratio == pytest.approx(np.exp(-20 * SCATTER), rel=0.1)
    second = find_steps(whole[:10])
    (step,) = second.steps
    assert (step.run, step.confirmed_by, step.place) == (run(8), run(9), 8)
    assert step.ratio == pytest.approx(np.exp(-20 * SCATTER), rel=0.05)
    assert second.suspected is None
    assert not step.within_margin
    assert find_steps(whole).steps[0].p_value < 0.01


def test_a_single_run_that_lies_apart_is_no_step_wherever_it_is():
    for place in range(12):
        logs = noise(12, 2)
        logs[place] -= 1.0
        found = find_steps(series(logs))
        assert found.steps == (), place
        seen = [*found.apart, *([found.suspected] if found.suspected else [])]
        assert [entry.place for entry in seen] == [place]
        assert (found.suspected is not None) == (place == 11)


def test_two_runs_apart_are_taken_back_when_the_third_is_where_it_was():
    logs = noise(12, 3)
    logs[8:10] -= 0.5
    assert [step.place for step in find_steps(series(logs[:10])).steps] == [8]
    found = find_steps(series(logs))
    assert found.steps == ()
    assert [entry.place for entry in found.apart] == [8, 9]


def test_several_steps():
    logs = noise(18, 4) + 0.4 * (np.arange(18) >= 6) - 0.6 * (np.arange(18) >= 13)
    found = find_steps(series(logs))
    assert [step.place for step in found.steps] == [6, 13]
    assert [part.runs for part in found.parts] == [6, 7, 5]


def test_a_step_within_the_margin_says_so():
    found = find_steps(series(0.1 * noise(12, 5) + 0.03 * (np.arange(12) >= 6)))
    assert [step.within_margin for step in found.steps] == [True]


@pytest.mark.parametrize(("runs", "place", "height", "least"), [(10, 8, 10, 0.95), (10, 5, 5, 0.85), (20, 10, 4, 0.9)])
def test_known_steps_are_found_where_they_are(runs: int, place: int, height: float, least: float):
    found = [find_steps(stepped(runs, place, height, seed)).steps for seed in range(60)]
    near = [any(abs(step.place - place) <= 1 for step in steps) for steps in found]
    exact = [any(step.place == place for step in steps) for steps in found]
    assert np.mean(near) >= least
    assert np.mean(exact) >= least - 0.15
    assert np.mean([len(steps) > 1 for steps in found]) <= 0.07


@pytest.mark.parametrize("runs", [FEWEST, 10, 20])
def test_false_alarms_are_rare(runs: int):
    rng = np.random.default_rng(runs)
    kinds = {
        "normal": lambda: rng.normal(0, SCATTER, runs),
        "heavy tails": lambda: SCATTER * rng.standard_t(3, runs),
        "one run in twelve far apart": lambda: rng.normal(0, SCATTER, runs) - 0.5 * (rng.random(runs) < 0.08),
    }
    for name, draw in kinds.items():
        found = [find_steps(series(draw())) for _ in range(60)]
        assert np.mean([bool(entry.steps) for entry in found]) <= 0.1, name
        assert np.mean([entry.drift is not None for entry in found]) <= 0.05, name


def test_a_steady_change_is_a_trend_and_no_steps():
    found = find_steps(series(noise(20, 6) - 0.5 * SCATTER * np.arange(20)))
    assert found.steps == ()
    assert found.drift is not None
    assert found.drift.per_run == pytest.approx(np.exp(-0.5 * SCATTER), rel=0.005)
    assert found.drift.p_value < 0.001


def test_too_few_runs_say_nothing():
    found = find_steps(stepped(FEWEST - 1, 3, 20))
    assert (found.steps, found.reason) == ((), f"5 of {FEWEST} runs")
    assert find_steps([]).reason == f"0 of {FEWEST} runs"
    zero = [*series(noise(6, 7)), RunFigure(run="z", at="2026-02-01T00:00:00Z", value=0.0)]
    assert find_steps(zero).reason == "a run's figure is not positive"


def test_equal_figures_are_no_steps_and_no_trend():
    found = find_steps(series([0.0] * 10))
    assert (found.steps, found.apart, found.drift) == ((), (), None)


def test_of_many_runs_the_newest_are_looked_at():
    found = find_steps(series(noise(NEWEST + 20, 8)))
    assert len(found.figures) == NEWEST
    assert found.figures[-1].run == run(NEWEST + 19)


def test_what_is_acknowledged_is_not_reported_until_it_expires():
    found = find_steps(stepped(12, 8, -20))
    known = Acknowledgement(
        setting="a", run=run(8), reason="new kernel", by="ann", at="2026-01-10T00:00:00Z", expires_at="2026-02-01"
    )
    assert open_steps("a", found, [known], "2026-01-20T00:00:00Z") == ()
    assert open_steps("a", found, [known], "2026-02-02T00:00:00Z") == found.steps
    assert open_steps("b", found, [known], "2026-01-20T00:00:00Z") == found.steps
    assert open_steps("a", found, [], "2026-01-20T00:00:00Z") == found.steps
    # A later word takes the earlier one's place, also where it ends sooner.
    withdrawn = known.model_copy(update={"at": "2026-01-12T00:00:00Z", "expires_at": "2026-01-12T00:00:00Z"})
    assert open_steps("a", found, [known, withdrawn], "2026-01-20T00:00:00Z") == found.steps
