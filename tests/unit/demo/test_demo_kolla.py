"""The steps of `make demo-kolla`, with a double in place of nfvbed's commands: order, failures, Ctrl-C, resuming."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from nfvbed.cli.main import group
from nfvbed.errors import NotComparableError

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "demo"


class Commands:
    """What nfvbed's commands do: a box is up or not, and one step fails or is interrupted."""

    def __init__(self):
        self.said, self.up, self.fails, self.interrupted, self.runs = [], False, None, None, 0
        self.status = 20
        """Exit status of the one that fails."""

    def run(self, words):
        self.said.append(" ".join(words))
        if words == self.interrupted:
            raise KeyboardInterrupt
        if words == self.fails:
            return self.status, 1.0
        self.up = {"start": True, "stop": False}.get(words[1], self.up) if words[0] == "rack" else self.up
        self.runs += words[0] == "run"
        return 0, 2.0

    def answer(self, words):
        if words[0] == "runs":
            return json.dumps([{"id": f"run-{self.runs}"}])
        return json.dumps({"machines": [{"name": "controller", "pid": 7 if self.up else None}]})


def loaded(name, monkeypatch):
    """Import a program of the demonstrations; their folder has a module `openstack`, and is on no path here."""
    spec = importlib.util.spec_from_file_location(name, DEMO / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)  # where dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(name="demo")
def _demo(tmp_path, monkeypatch):
    loaded("steps", monkeypatch)
    module = loaded("kolla", monkeypatch)
    module.commands = Commands()
    monkeypatch.setattr(module.steps, "run", module.commands.run)
    monkeypatch.setattr(module.steps, "answer", module.commands.answer)
    monkeypatch.setattr(module, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(module, "end_like_interrupt", lambda: None)
    # A double proves nothing of a variant: what it would note goes nowhere.
    module.noted = []
    monkeypatch.setattr(module.boxevidence, "note", lambda root, done: module.noted.append(done))
    return module


def test_each_step_is_a_command_of_nfvbed_s(demo):
    after = (("destroy", *demo.SITE, *demo.CONFIRMED), ("rack", "stop", *demo.SITE), ("compare", "a", "b"))
    for words in (*demo.plan(demo.SECOND), *after):
        found, rest = group, list(words)
        while isinstance(found, click.Group):
            found = found.get_command(click.Context(group), rest.pop(0))
        found.make_context(words[0], rest)


def test_two_data_planes_are_measured_and_compared_and_all_is_taken_down(demo, capsys):
    assert demo.main(["macvtap"]) == 0
    said = demo.commands.said
    assert said[0] == "rack start --site box" and said[-2:] == ["destroy --site box --yes box", "rack stop --site box"]
    assert "deploy ovs-dpdk --site box" in said and "deploy macvtap --site box --redeploy --yes box" in said
    assert said[-3] == "compare run-1 run-2"
    assert not demo.RECORD.exists()
    shown = capsys.readouterr().out
    assert "2 s   4 deploy ovs-dpdk --site box" in shown and "MiB of memory" in shown
    assert "nothing is left behind" in shown


@pytest.mark.parametrize(("status", "ended"), [(NotComparableError.exit_code, 0), (1, 1), (20, 20)])
def test_that_nothing_compares_is_an_answer_and_all_is_taken_down(demo, capsys, status, ended):
    """Guests of a machine without KVM are emulated."""
    demo.commands.fails, demo.commands.status = ("compare", "run-1", "run-2"), status
    assert demo.main([]) == ended
    assert ("destroy --site box --yes box" in demo.commands.said) == (ended == 0)
    assert ("no rate is compared" in capsys.readouterr().out) == (ended == 0)
    assert demo.commands.said[-1] == "rack stop --site box"


def test_what_each_variant_has_passed_is_noted_as_far_as_it_came(demo):
    demo.commands.fails = ("deploy", "macvtap", *demo.SITE, "--redeploy", *demo.CONFIRMED)
    assert demo.main(["macvtap"]) == 20
    last = demo.noted[-1]
    assert (last.variant, last.passed) == ("ovs-dpdk", ("deploy", "verify", "onboard", "run"))
    assert last.images == "ours" and last.release == "2026.1"
    demo.commands.fails = None
    demo.noted.clear()
    assert demo.main(["macvtap"]) == 0
    assert (demo.noted[-1].variant, demo.noted[-1].passed[-1]) == ("macvtap", "destroy")
    assert {one.variant for one in demo.noted} == {"ovs-dpdk", "macvtap"}


@pytest.mark.parametrize(
    ("new", "status"),
    [("control group: /sys/fs/cgroup/nfvbed-box-1", 1), ("process: 7 dockerd", 1), ("link: of-another-program", 0)],
)
def test_what_is_left_of_a_box_is_said_and_is_a_fault(demo, capsys, monkeypatch, new, status):
    monkeypatch.setattr(demo.Footprint, "left_behind", lambda _: [new])
    assert demo.main([]) == status
    assert (f"left behind: {new}" in capsys.readouterr().out) == bool(status)


def test_a_step_that_fails_ends_it_and_the_rack_is_stopped(demo):
    demo.commands.fails = ("verify", *demo.SITE)
    assert demo.main([]) == 20
    assert demo.commands.said[-2:] == ["verify --site box", "rack stop --site box"]
    assert not demo.commands.up and not demo.RECORD.exists()


def test_with_keep_the_same_command_goes_on_with_that_step(demo, capsys):
    demo.commands.fails = ("onboard", "vloop", *demo.SITE)
    assert demo.main(["--keep"]) == 20
    assert demo.commands.up and "the rack stays" in capsys.readouterr().out
    demo.commands.fails, demo.commands.said[:] = None, []
    assert demo.main([]) == 0
    assert demo.commands.said[0] == "onboard vloop --site box"
    assert "(done already, 2 s)" in capsys.readouterr().out


def test_ctrl_c_stops_the_rack(demo):
    demo.commands.interrupted = ("deploy", "ovs-dpdk", *demo.SITE)
    assert demo.main([]) == 130
    assert demo.commands.said[-1] == "rack stop --site box" and not demo.RECORD.exists()


def test_a_rack_of_somebody_else_s_is_left_alone(demo):
    demo.commands.up = True
    with pytest.raises(demo.BusyError, match="up already"):
        demo.main([])
    assert demo.commands.said == []


def test_a_record_of_a_rack_that_is_gone_counts_for_nothing(demo):
    demo.RECORD.write_text(json.dumps({"seconds": {" 1 rack start --site box": 5.0}, "runs": []}))
    assert demo.main([]) == 0
    assert demo.commands.said[0] == "rack start --site box"


CHILD = """
import signal, sys, time
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # as Python decides for every program
    signal.signal(signal.SIGINT, lambda *_: (print("ended by itself", flush=True), sys.exit(130)))
print("begun", flush=True)
time.sleep(60)
"""
PARENT = """
import sys
sys.path.append({demo!r})
import steps
from nfvbed.signals import end_like_interrupt
end_like_interrupt()
popen = steps.subprocess.Popen
steps.subprocess.Popen = lambda argv, **more: popen([sys.executable, "-c", {child!r}], **more)
try:
    steps.run(("deploy",))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


BACKGROUND = ("sh", "-c", 'trap "" INT; exec "$@"', "sh")
"""As a shell starts what ends with `&`: SIGINT is ignored."""


@pytest.mark.parametrize(
    ("number", "wrapper"), [(signal.SIGINT, ()), (signal.SIGTERM, ()), (signal.SIGTERM, BACKGROUND)]
)
def test_a_step_ends_by_itself_before_the_demonstration_does(number, wrapper):
    program = PARENT.format(demo=str(DEMO), child=CHILD)
    process = subprocess.Popen(
        [*wrapper, sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    lines = []
    while "begun\n" not in lines:
        lines.append(process.stdout.readline())
    time.sleep(0.1)  # until this process waits for its child
    process.send_signal(number)
    rest, _ = process.communicate(timeout=20)
    assert rest.splitlines() == ["ended by itself", "interrupted"]
