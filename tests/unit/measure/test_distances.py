"""A trial's core distance is the greatest of all pairs, before and after; where there are several, each is kept."""

from nfvbed.measure.trial import distance
from nfvbed.records import CoreDistance, CorePair


def test_one_pair_is_the_distance_itself():
    assert distance({(0, 1): 30.0}, {(0, 1): 150.0}) == CoreDistance(before=30, after=150)


def test_the_greatest_of_several_is_reported_and_each_is_kept():
    found = distance({(0, 2): 30.0, (1, 2): 60.0}, {(0, 2): 150.0, (1, 2): 60.0})
    assert found == CoreDistance(
        before=60,
        after=150,
        pairs=(CorePair(cores=(0, 2), before=30, after=150), CorePair(cores=(1, 2), before=60, after=60)),
    )


def test_no_reading_is_no_distance():
    assert distance({}, {(0, 1): 30.0}) is None
    assert distance({(0, 1): 30.0}, {}) is None


def test_rows_of_old_stores_have_no_pairs():
    assert CoreDistance.model_validate({"before": 30.0, "after": 31.0}).pairs == ()
