"""Numbers in words: no zero that is none, no value without its bound."""

import pytest

from nfvbed.compare.verdict import Bound, Judgement, Verdict
from nfvbed.report import wording


@pytest.mark.parametrize(
    ("ratio", "text"), [(None, "-"), (0.0, "0"), (0.0123, "1.23%"), (1e-7, "1.0e-07"), (0.99999, "100.00%")]
)
def test_a_loss_that_is_not_zero_is_not_written_as_zero(ratio: float | None, text: str):
    assert wording.loss(ratio) == text


def test_what_is_missing_and_what_cannot_be_separated_differ():
    assert wording.share(None) == "-"
    assert wording.share("not-separable") == "n/s"
    assert wording.share(0.0) == "0.00"
    assert wording.cycles("not-separable") == "n/s"


@pytest.mark.parametrize(
    ("ratio", "bound", "text"),
    [
        (1.031, Bound.EXACT, "+3.1%"),
        (0.9, Bound.AT_MOST, "≤ -10.0%"),
        (10.9, Bound.AT_LEAST, "≥ ×10.9"),
        (0.1, Bound.EXACT, "×0.1"),
        (None, Bound.EXACT, "-"),
    ],
)
def test_ratios(ratio: float | None, bound: Bound, text: str):
    assert wording.ratio(Judgement(verdict=Verdict.HIGHER, ratio=ratio, bound=bound)) == text


def test_units():
    assert wording.mpps(11_834_000) == "11.83"
    assert wording.mpps(938_000) == "0.938"
    assert wording.microseconds(1_234_567) == "1,235"
    assert wording.frame_size("imix") == "IMIX"
    assert set(wording.SYMBOLS) == set(Verdict)
