"""Stages run in order, are recorded, and a start goes on where the last one failed."""

import json

import pytest

from nfvbed.cloud.devcloud.stages import Stage, StageRecord, run_stages
from nfvbed.errors import DeployError


class Shown:
    """What a progress display was asked to show."""

    def __init__(self):
        self.lines = []

    def begin(self, number, total, stage):
        self.lines.append(f"{number}/{total} {stage.name}")

    def end(self, stage, seconds, outcome):
        self.lines.append(f"end {stage.name} {outcome}".rstrip())

    def skip(self, number, total, stage):
        self.lines.append(f"skip {stage.name}")

    def fail(self, stage, seconds):
        self.lines.append(f"fail {stage.name}")


class Works:
    """Three stages; which one fails can be said."""

    def __init__(self):
        self.ran = []
        self.failing = ""

    def stages(self):
        names = (("node", True), ("agents", False), ("databases", True))
        return [Stage(name, name, lambda name=name: self._work(name), lasting) for name, lasting in names]

    def _work(self, name):
        self.ran.append(name)
        if name == self.failing:
            raise DeployError("it failed")
        return "done"


@pytest.fixture(name="works")
def _works():
    return Works()


@pytest.fixture(name="start")
def _start(works, tmp_path):
    def start():
        shown = Shown()
        works.ran.clear()
        try:
            run_stages(works.stages(), StageRecord(tmp_path / "stages.json"), shown, tmp_path / "durations.jsonl")
        finally:
            start.shown = shown.lines
        return shown.lines

    return start


def test_stages_run_in_order(works, start):
    lines = start()
    assert works.ran == ["node", "agents", "databases"]
    assert lines[:2] == ["1/3 node", "end node done"]


def test_a_start_goes_on_at_the_stage_that_failed(works, start):
    works.failing = "databases"
    with pytest.raises(DeployError):
        start()
    assert start.shown[-1] == "fail databases"
    works.failing = ""
    assert "skip node" in start()
    assert works.ran == ["agents", "databases"]


def test_what_does_not_last_runs_in_every_start(works, start):
    start()
    start()
    assert works.ran == ["agents"]


def test_times_are_recorded_with_the_stage_that_failed(works, start, tmp_path):
    works.failing = "agents"
    with pytest.raises(DeployError):
        start()
    works.failing = ""
    start()
    first, second = [json.loads(line) for line in (tmp_path / "durations.jsonl").read_text().splitlines()]
    assert (list(first["seconds"]), first["failed"]) == (["node"], "agents")
    assert (list(second["seconds"]), second["failed"]) == (["agents", "databases"], "")


def test_a_record_survives_its_writer(tmp_path):
    StageRecord(tmp_path / "stages.json").mark("node", 1.234)
    assert StageRecord(tmp_path / "stages.json").done() == {"node": 1.23}
