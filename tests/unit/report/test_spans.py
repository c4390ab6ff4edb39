"""Ranges as they are written."""

import pytest

from nfvbed.report import wording


@pytest.mark.parametrize(
    ("low", "high", "unit", "shown"),
    [
        (679.9e6, 728.4e6, "bit/s", "679.9 to 728.4 Mbit/s"),
        (910e6, 1.2e9, "bit/s", "910 Mbit/s to 1.2 Gbit/s"),
        (3, 7, "", "3 to 7"),
        (40, 54, "segments", "40 to 54 segments"),
    ],
)
def test_a_range_has_its_unit_once(low, high, unit, shown):
    assert wording.span(low, high, unit) == shown
