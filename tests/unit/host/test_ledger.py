"""The ledger: order, durability against a cut line, and what it does not touch."""

import json
import os
import shutil
import subprocess

import pytest

from nfvbed.errors import DeploymentGoneError, InternalError
from nfvbed.host.ledger import tracefs, undo
from nfvbed.host.ledger.entries import (
    CgroupEntry,
    DirectoryEntry,
    FileEntry,
    HugepagesEntry,
    NetnsEntry,
    ProcessEntry,
    TraceInstanceEntry,
)
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.owner import this_process
from nfvbed.host.ledger.processes import is_alive, start_time


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "ledger.jsonl", this_process())


def test_what_was_recorded_is_read_back(ledger):
    ledger.record(NetnsEntry(path="/nowhere/one"))
    ledger.record(FileEntry(path="/nowhere/two", previous="1"))
    again = Ledger.open(ledger.path)
    assert again.entries == ledger.entries
    assert again.owner.pid == os.getpid()
    assert again.owner_alive


def test_a_ledger_whose_folder_was_taken_away_says_so_and_is_undone_from_memory(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    folder.mkdir()
    ledger = Ledger.create(folder / "ledger.jsonl", this_process())
    ledger.record(FileEntry(path="/nowhere", previous="1"))
    shutil.rmtree(folder)
    with pytest.raises(DeploymentGoneError) as told:
        ledger.record(NetnsEntry(path="/nowhere"))
    assert told.value.where == str(folder)
    undone = []
    monkeypatch.setattr(undo, "undo", undone.append)
    assert ledger.undo_all() == []
    assert [entry.kind for entry in undone] == ["file"]
    assert ledger.entries == ()


def test_undo_goes_backwards_and_kills_first(ledger, monkeypatch):
    order = []
    monkeypatch.setattr(undo, "undo", lambda entry: order.append(entry.kind))
    monkeypatch.setattr(undo, "kill_cgroup", lambda entry: order.append("kill"))
    ledger.record(CgroupEntry(path="/nowhere"))
    ledger.record(ProcessEntry(name="p", pid=1, start_time=0))
    ledger.record(FileEntry(path="/nowhere", previous="1"))
    ledger.record(NetnsEntry(path="/nowhere"))
    assert ledger.undo_all() == []
    assert order == ["process", "kill", "netns", "file", "cgroup"]


def test_undo_goes_on_after_an_error_and_can_be_called_again(ledger, tmp_path, monkeypatch):
    kept = tmp_path / "kept"
    kept.mkdir()
    gone = tmp_path / "gone"
    gone.mkdir()
    ledger.record(DirectoryEntry(path=str(gone)))
    ledger.record(DirectoryEntry(path=str(kept)))
    real = undo.undo

    def failing(entry):
        if entry.path == str(kept):
            raise OSError(16, "Device or resource busy")
        real(entry)

    monkeypatch.setattr(undo, "undo", failing)
    problems = ledger.undo_all()
    assert len(problems) == 1
    assert str(kept) in problems[0]
    assert "busy" in problems[0]
    assert not gone.exists()
    monkeypatch.setattr(undo, "undo", real)
    again = Ledger.open(ledger.path)
    assert [e.path for e in again.entries] == [str(kept)]
    assert again.undo_all() == []
    assert not kept.exists()
    assert again.undo_all() == []


def test_a_line_cut_off_by_a_crash_is_left_out(ledger):
    ledger.record(NetnsEntry(path="/nowhere"))
    with ledger.path.open("a") as file:
        file.write('{"kind":"mount","pa')
    assert [e.kind for e in Ledger.open(ledger.path).entries] == ["netns"]


def test_a_ledger_without_owner_is_refused(tmp_path):
    path = tmp_path / "ledger.jsonl"
    path.write_text('{"kind":"netns","path":"/nowhere"}\n')
    with pytest.raises(InternalError, match="no owner"):
        Ledger.open(path)


def test_owner_with_a_reused_pid_is_dead(ledger):
    lines = ledger.path.read_text().splitlines()
    owner = json.loads(lines[0])
    owner["start_time"] += 1
    ledger.path.write_text(json.dumps(owner) + "\n")
    assert not Ledger.open(ledger.path).owner_alive


def test_process_with_a_reused_pid_is_not_killed(ledger):
    child = subprocess.Popen(["sleep", "30"])
    try:
        started = start_time(child.pid)
        ledger.record(ProcessEntry(name="earlier", pid=child.pid, start_time=started - 1))
        assert ledger.undo_all() == []
        assert is_alive(child.pid, started)
    finally:
        child.kill()
        child.wait()


def test_recorded_process_is_killed(ledger):
    child = subprocess.Popen(["sleep", "30"])
    ledger.record(ProcessEntry(name="ours", pid=child.pid, start_time=start_time(child.pid)))
    assert ledger.undo_all() == []
    assert child.wait(1) == -15


def test_another_boot_leaves_ids_and_settings_alone(tmp_path):
    setting = tmp_path / "setting"
    setting.write_text("new")
    left = tmp_path / "left"
    left.mkdir()
    child = subprocess.Popen(["sleep", "30"])
    try:
        owner = this_process().model_copy(update={"boot": "another"})
        ledger = Ledger.create(tmp_path / "ledger.jsonl", owner)
        ledger.record(FileEntry(path=str(setting), previous="old"))
        ledger.record(ProcessEntry(name="p", pid=child.pid, start_time=start_time(child.pid)))
        ledger.record(DirectoryEntry(path=str(left)))
        assert not ledger.owner_alive
        assert ledger.undo_all() == []
        assert child.poll() is None
    finally:
        child.kill()
        child.wait()
    assert setting.read_text() == "new"
    assert not left.exists()


@pytest.mark.parametrize(
    ("current", "left"),
    [
        (100 + 50, 100),  # as we left it
        (100 + 50 + 30, 130),  # others added 30 since
        (100 + 20, 100),  # the kernel gave less than asked
        (100, 100),  # undone already
        (10, 10),  # made smaller since
    ],
)
def test_hugepages_give_back_what_was_added(tmp_path, current, left):
    path = tmp_path / "nr_hugepages"
    path.write_text(str(current))
    undo.undo(HugepagesEntry(path=str(path), page_kib=2048, node=None, previous=100, added=50))
    assert int(path.read_text()) == left


def test_shared_directory_with_something_in_it_stays(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "other").touch()
    undo.undo(DirectoryEntry(path=str(shared), shared=True))
    assert shared.is_dir()
    (shared / "other").unlink()
    undo.undo(DirectoryEntry(path=str(shared), shared=True))
    assert not shared.exists()


def test_an_instance_of_tracing_is_removed_and_one_that_is_gone_is_fine(ledger, tmp_path, monkeypatch):
    # A folder in place of a mounted tracefs: the same system call removes it.
    monkeypatch.setattr(tracefs.os.path, "ismount", lambda path: True)
    instance = tmp_path / "instances" / "ours"
    instance.mkdir(parents=True)
    ledger.record(TraceInstanceEntry(path=str(instance)))
    ledger.record(TraceInstanceEntry(path="/nowhere/instances/gone"))
    assert Ledger.open(ledger.path).entries == ledger.entries
    assert ledger.undo_all() == []
    assert not instance.exists()
    assert ledger.entries == ()
