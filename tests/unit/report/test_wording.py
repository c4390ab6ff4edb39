"""Numbers in words: no zero that is none, no value without its bound."""

import pytest

from nfvbed.compare.comparison import compare
from nfvbed.compare.rows.rowwarnings import WarningCount
from nfvbed.compare.rows.summary import Limit
from nfvbed.compare.verdict import Bound, Judgement, Verdict
from nfvbed.records import Preset, QualityWarning
from nfvbed.report import wording
from tests.sample_records import build


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (None, "-"),
        (0.0, "0"),
        (0.0123, "1.2 %"),
        (0.00345, "0.34 %"),
        (0.00002, "0.002 %"),
        (1.5e-05, "0.0015 %"),
        (1e-7, "< 0.0001 %"),
        (0.99999, "100.0 %"),
    ],
)
def test_a_loss_that_is_not_zero_is_not_written_as_zero(ratio: float | None, text: str):
    assert wording.loss(ratio) == text
    assert wording.loss(ratio, at_least=True) == (text if ratio is None else f"≥ {text}")


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


def counted(preset: Preset, trials: int, of: int = 6, kind: QualityWarning = QualityWarning.UNSENT) -> WarningCount:
    return WarningCount(kind=kind, preset=preset, trials=trials, of=of)


@pytest.mark.parametrize(
    ("warnings", "text"),
    [
        ((), ""),
        ((counted(Preset.MRR, 4, 11, QualityWarning.GENERATOR_LIMITED),), "generator-limited 4/11"),
        ((counted(Preset.PACED, 5, 5),), "unsent paced 5/5"),
        ((counted(Preset.MRR, 2), counted(Preset.PACED, 1, 5)), "unsent 2/6, paced 1/5"),
        ((counted(Preset.MRR, 6), counted(Preset.PACED, 5, 5)), "unsent all"),
    ],
)
def test_warnings_say_how_many_trials_of_which_kind(warnings: tuple[WarningCount, ...], text: str):
    row = compare([build()]).rows[0].model_copy(update={"warnings": warnings})
    assert wording.limits(row) == text


def test_a_limit_stands_for_its_own_warnings():
    limit = Limit(kind=QualityWarning.UNSENT, detail="")
    row = (
        compare([build()])
        .rows[0]
        .model_copy(update={"warnings": (counted(Preset.MRR, 4), counted(Preset.PACED, 1)), "limits": (limit,)})
    )
    assert wording.limits(row) == "unsent"


def test_units():
    assert wording.mpps(11_834_000) == "11.83"
    assert wording.mpps(938_000) == "0.938"
    assert wording.microseconds(1_234_567) == "1,235"
    assert wording.frame_size("imix") == "IMIX"
    assert set(wording.SYMBOLS) == set(Verdict)
