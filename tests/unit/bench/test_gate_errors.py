"""Gates made of recorded rounds, and simulated bisections: what is counted as wrong, and the recording itself."""

import json

import gate_errors
import pytest
from bisections import simulated as bisected
from bisections import truths

from nfvbed.compare.gating import GateVerdict

RECORDED = json.loads(gate_errors.RECORDED.read_text())


def test_the_recording_holds_equal_installations_and_centred_pairs():
    assert [entry["equals"] for entry in RECORDED].count(True) == 1 and len(RECORDED) == 5
    assert all(min(map(len, ratios.values())) >= 8 for entry in RECORDED for ratios in entry["points"].values())


@pytest.mark.parametrize("recording", RECORDED, ids=lambda entry: entry["name"])
def test_a_fifth_less_is_never_called_not_slower(recording):
    found = gate_errors.simulated(recording, 0.8, 20, seed=1)
    assert found.wrong == found.verdicts[GateVerdict.NOT_SLOWER.value] == 0
    assert found.verdicts[GateVerdict.SLOWER.value] >= 16


def test_wrong_is_slower_where_nothing_changed():
    found = gate_errors.simulated(RECORDED[-1], 1.0, 20, seed=1)
    assert found.wrong == found.verdicts[GateVerdict.SLOWER.value] and found.wrong <= 2 and not found.problems


def test_a_bisection_that_blames_another_revision_is_wrong():
    truth = truths()[1]
    found = bisected(truth, 5, seed=1)
    assert found.right >= 4 and found.wrong == 0 and found.longest_s < 1200
