"""The generator's benchmark compares within one placement class and leaves disturbed trials out."""

import pairs
import pytest

from nfvbed.errors import GeneratorError


def trial(side: str, rate: float, distance: float = 30.0, pressure: float = 0.0, after: float | None = None):
    return pairs.Trial(0, side, rate, (distance, after or distance), pressure)


def test_classes_are_kept_apart_and_what_changed_or_was_disturbed_is_left_out():
    trials = [trial("nfvgen", 12), trial("testpmd", 10), trial("nfvgen", 13), trial("testpmd", 10)]
    trials += [trial("nfvgen", 5, 150), trial("testpmd", 10, 150), trial("nfvgen", 5, 152), trial("testpmd", 10, 149)]
    trials += [trial("nfvgen", 99, 30, after=150), trial("testpmd", 99, 30, pressure=0.3)]
    near, far = pairs.classes_of(trials)
    assert (near.placement, near.nfvgen_mpps, near.testpmd_mpps) == ("near", [12, 13], [10, 10])
    assert near.ratio == pytest.approx(1.25)
    assert near.interval is not None
    assert near.interval[0] <= near.ratio <= near.interval[1]
    assert (far.placement, far.ratio) == ("far", 0.5)


def test_pairs_are_interleaved_and_end_when_a_class_is_full(monkeypatch):
    monkeypatch.setattr(pairs, "wait_until_quiet", lambda limit, patience_s: patience_s)
    monkeypatch.setattr(pairs.coredistance, "measure", lambda cores: type("D", (), {"one_way_ns": 30.0})())
    order = []
    result = pairs.LoopResult(name="loop", aim=1.0)

    def side(name, rate):
        return lambda: (order.append(name), (rate, 0.0))[1]

    pairs.run_pairs(result, {"nfvgen": side("nfvgen", 2e6)}, {"testpmd": side("testpmd", 1e6)}, pairs.Limits(3, 10, 0))
    assert order == ["nfvgen", "testpmd", "testpmd", "nfvgen", "nfvgen", "testpmd"]
    assert result.classes[0].ratio == 2


def test_the_better_variant_of_testpmd_counts_in_each_class():
    slow, quick = "testpmd, bursts of 32", "testpmd, bursts of 64"
    trials = [trial("nfvgen", 12), trial(slow, 8), trial(quick, 10)]
    trials += [trial("nfvgen", 6, 150), trial(slow, 5, 150), trial(quick, 4, 150)]
    near, far = pairs.classes_of(trials)
    assert (near.rival, near.ratio, near.others_mpps) == (quick, pytest.approx(1.2), {slow: [8]})
    assert (far.rival, far.ratio, far.others_mpps) == (slow, pytest.approx(1.2), {quick: [4]})


def test_it_goes_on_while_a_variant_of_testpmd_has_too_few(monkeypatch):
    monkeypatch.setattr(pairs, "wait_until_quiet", lambda limit, patience_s: patience_s)
    monkeypatch.setattr(pairs.coredistance, "measure", lambda cores: type("D", (), {"one_way_ns": 30.0})())
    result = pairs.LoopResult(name="loop", aim=1.0)
    rivals = {"testpmd, bursts of 32": lambda: (1.0, 0.5), "testpmd, bursts of 64": lambda: (1.0, 0.0)}
    pairs.run_pairs(result, {"nfvgen": lambda: (1.0, 0.0)}, rivals, pairs.Limits(2, 5, 0))
    assert len(result.trials) == 15


def test_nothing_but_disturbed_trials_gives_no_verdict(monkeypatch):
    monkeypatch.setattr(pairs, "wait_until_quiet", lambda limit, patience_s: patience_s)
    monkeypatch.setattr(pairs.coredistance, "measure", lambda cores: type("D", (), {"one_way_ns": 30.0})())
    result = pairs.LoopResult(name="loop", aim=1.0)
    pairs.run_pairs(result, {"nfvgen": lambda: (1.0, 0.5)}, {"testpmd": lambda: (1.0, 0.5)}, pairs.Limits(3, 4, 0))
    assert len(result.trials) == 8
    assert result.classes == []
    (paired,) = result.paired
    assert (paired.ratio, paired.interval, paired.disturbed) == (1, None, 4)


def test_every_round_counts_in_the_paired_ratio():
    rates = [(12, 10), (3, 2), (6, 5), (0.6, 0.5), (9, 10), (2.2, 2), (0, 1), (1.3, 1)]
    trials = [
        pairs.Trial(number, side, rate, (30.0, 150.0), pressure=0.9 * (number == 2))
        for number, both in enumerate(rates)
        for side, rate in zip(("nfvgen", "testpmd"), both, strict=True)
    ]
    (paired,) = pairs.paired_of(trials)
    assert (len(paired.ratios), paired.silent, paired.disturbed) == (7, 1, 1)
    assert paired.interval is not None
    assert paired.interval[0] <= paired.ratio <= paired.interval[1]
    assert paired.ratio == pytest.approx(1.2, abs=0.05)
    assert pairs.paired_of([]) == []


def test_the_better_variant_of_nfvgen_counts_and_every_rival_has_a_row():
    few, many = "nfvgen, bursts of 32", "nfvgen, bursts of 64"
    one, two = "testpmd, one core, bursts of 32", "testpmd, two cores, bursts of 32"
    trials = [trial(few, 8), trial(many, 12), trial(one, 2), trial(two, 4)]
    first, second = pairs.classes_of(trials)
    assert (first.own, first.rival, first.ratio, first.others_mpps) == (many, one, 6, {few: [8]})
    assert (second.own, second.rival, second.ratio) == (many, two, 3)
    assert pairs.group_of(first.rival) == "testpmd, one core"


@pytest.fixture(name="clock")
def _clock(monkeypatch):
    """A clock that only trials move, and a host that is near and quiet."""
    now = [100.0]
    monkeypatch.setattr(pairs, "wait_until_quiet", lambda limit, patience_s: patience_s)
    monkeypatch.setattr(pairs.coredistance, "measure", lambda cores: type("D", (), {"one_way_ns": 30.0})())
    monkeypatch.setattr(pairs.time, "monotonic", lambda: now[0])
    return now


def sides_of(clock, rates, order, takes_s=10.0):
    """Measures of sides by their rates, each of which takes so long; all are disturbed."""

    def measure(name):
        def taken():
            clock[0] += takes_s
            order.append(name)
            return rates[name], 0.9

        return taken

    own = {name: measure(name) for name in rates if name.startswith("nfvgen")}
    return own, {name: measure(name) for name in rates if name.startswith("testpmd")}


RATES = {
    "nfvgen, bursts of 32": 2e6,
    "nfvgen, bursts of 64": 3e6,
    "testpmd, bursts of 32": 2e6,
    "testpmd, bursts of 64": 1e6,
}


def test_a_loop_that_is_short_of_time_goes_on_with_the_better_variants_and_ends_in_time(clock):
    result, order = pairs.LoopResult(name="loop", aim=1.0), []
    nfvgen, rivals = sides_of(clock, RATES, order)
    pairs.run_pairs(result, nfvgen, rivals, pairs.Limits(5, 16, 0, within_s=205))
    assert clock[0] - 100 <= 205
    assert sorted(order[:4]) == sorted(RATES)
    assert set(order[4:]) == {"nfvgen, bursts of 64", "testpmd, bursts of 32"}
    (paired,) = result.paired
    assert (paired.own, paired.rival, len(paired.ratios)) == ("nfvgen, bursts of 64", "testpmd, bursts of 32", 9)
    assert paired.interval is not None
    assert result.out_of_time
    assert result.problems(5) == []


def test_a_loop_that_has_time_measures_all_variants_to_the_end(clock):
    result, order = pairs.LoopResult(name="loop", aim=1.0), []
    nfvgen, rivals = sides_of(clock, RATES, order)
    pairs.run_pairs(result, nfvgen, rivals, pairs.Limits(5, 7, 0, within_s=1000))
    assert len(order) == 28
    assert not result.out_of_time


def test_no_trial_begins_after_the_end(clock):
    result, order = pairs.LoopResult(name="loop", aim=1.0), []
    nfvgen, rivals = sides_of(clock, RATES, order, takes_s=60)
    pairs.run_pairs(result, nfvgen, rivals, pairs.Limits(5, 16, 0, within_s=100))
    assert len(order) == 2
    assert result.out_of_time
    (problem,) = result.problems(5)
    assert "more --within" in problem


def test_a_trial_that_fails_is_told_and_left_out_and_several_in_a_row_end_the_loop(clock):
    result, order = pairs.LoopResult(name="loop", aim=1.0), []
    nfvgen, rivals = sides_of(clock, {"nfvgen": 2e6, "testpmd": 1e6}, order)
    times = iter(range(100))

    def failing():
        if next(times) == 1:
            raise GeneratorError("testpmd does not come up")
        return rivals["testpmd"]()

    pairs.run_pairs(result, nfvgen, {"testpmd": failing}, pairs.Limits(9, 8, 0))
    assert result.failures == ["testpmd: testpmd does not come up"]
    (paired,) = result.paired
    assert len(paired.ratios) == 7

    def broken():
        raise GeneratorError("it does not come up")

    with pytest.raises(GeneratorError):
        pairs.run_pairs(result, {"nfvgen": broken}, {"testpmd": broken}, pairs.Limits(9, 8, 0))
