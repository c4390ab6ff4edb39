"""The load of a paced trial follows from the MRR measured so far."""

import pytest

from nfvbed.errors import UsageError
from nfvbed.measure.pacing import paced_rate_pps


def test_half_of_the_median_shared_by_two_directions() -> None:
    assert paced_rate_pps([9_000_001, 10_000_001, 4_000_000], 0.5, 2) == 2_250_000
    assert paced_rate_pps([10_000_001], 0.5, 1) == 5_000_000


@pytest.mark.parametrize("rates", [[], [0, 0, 1]])
def test_nothing_to_pace_by_is_an_error_that_says_what_to_do(rates: list[int]) -> None:
    with pytest.raises(UsageError, match="MRR"):
        paced_rate_pps(rates, 0.5, 2)
