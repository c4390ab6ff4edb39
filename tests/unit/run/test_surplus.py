"""Where more frames were counted back than were sent no test calls anything whole, passed or accepted."""

import pytest

from nfvbed.records import DirectionCounts, Engine, TrialRecord
from nfvbed.records.results import LoadPoint, ResultKind
from nfvbed.run.kinds.bursts import passed_whole
from nfvbed.run.kinds.loads import not_accepted
from tests.sample_records import RUN


def trial(back: int) -> TrialRecord:
    return TrialRecord(
        run=RUN, cell="c", sequence=1, round=1, preset=ResultKind.BACK_TO_BACK, started_at="", intended_load_pps=None,
        offered_load_pps=1, forwarded_rate_pps=1, directions=(DirectionCounts.counted(1000, back),), duration_ns=1,
        engine=Engine(name="trex-stl", version="1"),
    )  # fmt: skip


@pytest.mark.parametrize(("back", "passed"), [(1000, True), (999, False), (1001, False)])
def test_a_burst_of_which_more_came_back_has_not_passed(back, passed):
    assert passed_whole(trial(back), 1000) is passed


@pytest.mark.parametrize(
    ("lost", "surplus", "said"), [(0, 0, ""), (5, 0, "5 of 1000 frames"), (0, 3, "3 frames came back beyond those")]
)
def test_a_path_that_doubles_frames_is_not_accepted(lost, surplus, said):
    point = LoadPoint(
        sequence=1, intended_load_pps=1, offered_load_pps=1, forwarded_rate_pps=1, intended_frames=1000,
        lost_frames=lost, unsent_frames=0, duration_ns=1, surplus_frames=surplus,
    )  # fmt: skip
    found = not_accepted((point,), 0)
    assert found == "" if not said else said in found
    assert ("surplus" in point.model_dump_json()) is bool(surplus)
