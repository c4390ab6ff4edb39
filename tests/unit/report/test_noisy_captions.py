"""What disturbed a run on purpose is in the head of its screens and in every caption."""

import dataclasses

from nfvbed.compare.comparison import compare
from nfvbed.report.captions import host_lines, short_caption
from tests.sample_records import build

BESIDE = {"program": "stress-ng 0.15.06", "cores": [2], "workers": {"cpu": 1}, "memory_percent": None}
LINE = "eside a noisy neighbour: stress-ng 0.15.06: 1 cpu workers on cores 2"


def test_a_noisy_neighbour_is_named_once_and_a_quiet_run_says_nothing():
    quiet = build()
    noisy = dataclasses.replace(quiet, rigs={cell.rig_hash: {"neighbour": BESIDE} for cell in quiet.cells})
    assert [line for line in host_lines(compare([noisy])) if LINE in line] == [f"b{LINE}"]
    assert short_caption(compare([noisy])).endswith(f" B{LINE}.")
    assert not any("noisy" in line for line in (*host_lines(compare([quiet])), short_caption(compare([quiet]))))
