"""The audit log: its files are their owner's, bounded, and no line of them hides another."""

import json
import os
import threading
from pathlib import Path

import pytest

from nfvbed.dashboard import audit as module
from nfvbed.dashboard.audit import NEW_FILE, Audit, AuditSubject, Kind, Outcome
from nfvbed.errors import ConfigurationError, StoreError

ME = AuditSubject(role="operator", client="127.0.0.1", user="root")


def test_it_is_its_owners_and_only_grows(tmp_path: Path):
    audit = Audit(tmp_path / "state" / "audit.jsonl")
    assert audit.path.stat().st_mode & 0o777 == 0o600 and audit.path.parent.stat().st_mode & 0o777 == 0o700
    before = b""
    for number in range(3):
        with audit.action(ME, f"a{number}", ""):
            pass
        content = audit.path.read_bytes()
        assert content.startswith(before) and content.count(b"\n") == 2 * (number + 1)
        before = content
    with pytest.raises(StoreError), audit.action(ME, "fails", "y" * 9000):
        raise StoreError("disk full")
    audit.path.write_bytes(audit.path.read_bytes() + b"{broken\n")
    newest = audit.newest(3)
    assert [entry.action for entry in newest] == ["a damaged line", "fails", "a2"]
    assert newest[1].outcome is Outcome.FAILED and newest[1].said == "disk full" and len(newest[1].asked) == 2000


def test_what_cannot_be_logged_is_refused(tmp_path: Path):
    audit = Audit(tmp_path / "audit.jsonl")
    audit.path.unlink()
    audit.path.mkdir()
    with pytest.raises(StoreError, match="audit log"), audit.action(ME, "x", ""):
        raise AssertionError("was done")
    other = tmp_path / "others.jsonl"
    other.touch(0o644)
    other.chmod(0o644)
    with pytest.raises(ConfigurationError, match="others may"):
        Audit(other)


@pytest.mark.parametrize("half", [b'{"id":"1","at":"2026', b"\0" * 40, b"\xff\xfe{", b"{}"])
def test_half_a_line_hides_no_other(tmp_path: Path, half: bytes):
    audit = Audit(tmp_path / "audit.jsonl")
    audit.write(ME, "before", Outcome.DONE)
    with audit.path.open("ab") as file:
        file.write(half)
    assert [entry.action for entry in audit.newest(9)] == ["a damaged line", "before"]
    audit.write(ME, "after", Outcome.DONE)
    assert [entry.action for entry in audit.newest(9)] == ["after", "a damaged line", "before"]


def test_a_line_that_was_added_to_a_half_is_found(tmp_path: Path):
    audit = Audit(tmp_path / "audit.jsonl")
    audit.write(ME, 'says {"id": "x"}', Outcome.DONE)
    line = audit.path.read_bytes()
    audit.path.write_bytes(line[:60] + line)
    assert [entry.action for entry in audit.newest(9)] == ['says {"id": "x"}', "a damaged line"]


def test_a_write_that_stops_halfway_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    audit = Audit(tmp_path / "audit.jsonl")
    audit.write(ME, "before", Outcome.DONE)
    content, whole = audit.path.read_bytes(), os.write
    with monkeypatch.context() as patched:
        patched.setattr(module.os, "write", lambda handle, data: whole(handle, data[:20]))
        with pytest.raises(StoreError, match="cannot be written"):
            audit.write(ME, "half", Outcome.DONE)
    assert audit.path.read_bytes() == content
    audit.write(ME, "after", Outcome.DONE)
    assert [entry.action for entry in audit.newest(9)] == ["after", "before"]


def test_what_was_done_is_answered_though_its_end_cannot_be_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    audit = Audit(tmp_path / "audit.jsonl")
    kept = tmp_path / "kept"
    with audit.action(ME, "deploy", ""):
        audit.path.rename(kept)
        audit.path.mkdir()
    audit.path.rmdir()
    kept.rename(audit.path)
    assert audit.newest(1)[0].outcome is Outcome.ASKED and "cannot be written" in caplog.text


def test_refusals_and_sign_ins_do_not_push_acts_away(tmp_path: Path):
    audit = Audit(tmp_path / "audit.jsonl", most_bytes=4000)
    audit.write(ME, "act", Outcome.DONE)
    for number in range(60):
        audit.refuse(ME, f"GET /{number}", "no")
    audit.write(ME, "sign in", Outcome.DONE, kind=Kind.SIGN_IN)
    assert [entry.action for entry in audit.newest(9)] == ["act"]
    assert [entry.action for entry in audit.newest(9, Kind.SIGN_IN)] == ["sign in"]
    assert audit.newest(1, Kind.REFUSAL)[0].action == "GET /59"
    assert sum(path.stat().st_size for path in tmp_path.glob("*refusals*")) < 3 * 4000


def test_a_file_that_became_too_large_is_kept_once(tmp_path: Path):
    audit = Audit(tmp_path / "audit.jsonl", most_bytes=2000)
    with audit.action(ME, "long", ""):
        for number in range(14):
            audit.write(ME, f"a{number}", Outcome.DONE)
    kept = tmp_path / "audit.1.jsonl"
    assert kept.stat().st_size < 3000 and kept.stat().st_mode & 0o077 == 0
    first = json.loads(audit.path.read_text().splitlines()[0])
    assert first["action"] == NEW_FILE and "dropped" not in first["said"]
    shown = audit.newest(99)
    assert [entry.action for entry in shown if entry.action.startswith("a")] == [f"a{n}" for n in range(13, -1, -1)]
    assert [entry.outcome for entry in shown if entry.action == "long"] == [Outcome.DONE]
    for number in range(30):
        audit.write(ME, f"b{number}", Outcome.DONE)
    first = json.loads(audit.path.read_text().splitlines()[0])
    assert first["action"] == NEW_FILE and "what it had before was dropped" in first["said"]
    assert audit.newest(1)[0].action == "b29" and "a0" not in {entry.action for entry in audit.newest(99)}
    assert len(list(tmp_path.iterdir())) == len(Kind) + 1


def test_several_writers_lose_nothing_while_files_change(tmp_path: Path):
    most = 40_000
    writers = [Audit(tmp_path / "audit.jsonl", most_bytes=most) for _ in range(4)]

    def work(audit: Audit, name: int) -> None:
        for number in range(40):
            audit.write(ME, f"{name}-{number}", Outcome.DONE)

    threads = [threading.Thread(target=work, args=(audit, name)) for name, audit in enumerate(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {entry.action for entry in writers[0].newest(999)}
    assert found == {f"{name}-{number}" for name in range(4) for number in range(40)} | (found & {NEW_FILE})
