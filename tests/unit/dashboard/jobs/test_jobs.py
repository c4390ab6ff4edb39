"""Jobs: real processes of the command line, without a testbed."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from nfvbed.dashboard.audit import Audit, AuditSubject, Outcome
from nfvbed.dashboard.jobs import files
from nfvbed.dashboard.jobs.folder import KEEPER, START_S, Jobs
from nfvbed.dashboard.jobs.processes import is_alive, process_of, send
from nfvbed.dashboard.jobs.records import (
    CANCELLED,
    ENDED,
    LOG,
    RUNNING,
    SPEC,
    Cancelled,
    JobEnd,
    JobSpec,
    RunningJob,
    State,
)
from nfvbed.errors import BusyError, StoreError, UsageError

ROOT = Path(__file__).parents[4]
ME = AuditSubject(role="operator", client="127.0.0.1", user="root")
GONE = {"pid": 2**22 - 1, "began": 1, "boot": "0"}


@pytest.fixture(name="jobs")
def _jobs(tmp_path: Path) -> Jobs:
    audit = Audit(tmp_path / "audit.jsonl")
    return Jobs(tmp_path / "jobs", ROOT, str(tmp_path / "results.sqlite"), audit, frozenset(os.sched_getaffinity(0)))


def waited(jobs: Jobs, name: str):
    until = time.monotonic() + 30
    while (job := jobs.job(name)) and job.is_alive and time.monotonic() < until:
        time.sleep(0.02)
    return job


def written(jobs: Jobs, name: str = "20260102-030405-000006", **kept):
    """A job's folder as some keeper has left it."""
    folder = jobs.folder / name
    folder.mkdir(exist_ok=True)
    kept.setdefault("asked_at", datetime.now(UTC).isoformat())
    spec = {"id": name, "action": "run", "site": "lab", "arguments": ("run", "demo"), "who": ME} | kept
    files.write(folder / SPEC, JobSpec.model_validate(spec))
    return folder


def test_a_job_runs_and_says_how_it_ended(jobs: Jobs, tmp_path: Path):
    job = jobs.start("examine", "lab", ("variants", "--json"), ME, document=True)
    ended = waited(jobs, job.spec.id)
    assert (ended.state, ended.ended.status) == (State.DONE, 0)
    assert len(json.loads(jobs.output(job.spec.id))) > 10 and jobs.log(job.spec.id, 100) == ""
    assert [found.spec.id for found in jobs.newest(5)] == [job.spec.id] and jobs.alive() == ()
    until = time.monotonic() + 10
    while not (entries := Audit(tmp_path / "audit.jsonl").newest(5)) and time.monotonic() < until:
        time.sleep(0.02)
    assert entries[0].outcome is Outcome.DONE and entries[0].said == "exit status 0"
    assert (jobs.folder / job.spec.id).stat().st_mode & 0o077 == 0


def test_one_that_fails_has_its_log(jobs: Jobs):
    job = waited(jobs, jobs.start("deploy", "lab", ("deploy", "--site", "none", "none"), ME).spec.id)
    assert (job.state, job.ended.status) == (State.FAILED, 10)
    assert "unknown site" in jobs.log(job.spec.id, 10_000) and jobs.output(job.spec.id) == b""


def test_a_second_one_is_refused_until_the_first_is_cancelled(jobs: Jobs, tmp_path: Path):
    """Also where signals are ignored, as in a shell's background."""
    store = tmp_path / "results.sqlite"
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        first = jobs.start("serve", "lab", ("dashboard", "--operate", "--store", str(store), "--port", "0"), ME)
    finally:
        signal.signal(signal.SIGINT, before)
    assert [job.spec.id for job in jobs.alive()] == [first.spec.id] and first.state is State.RUNNING
    with pytest.raises(BusyError) as refused:
        jobs.start("deploy", "lab", ("variants",), ME)
    assert "nfvbed dashboard" in refused.value.observed and "operator root" in refused.value.observed
    assert first.spec.id in refused.value.where
    other = jobs.start("examine", "devcloud", ("--version",), ME)
    assert first.running and os.getsid(first.running.keeper.pid) != os.getsid(0)
    assert jobs.cancel(first.spec.id, ME).state in (State.CANCELLING, State.CANCELLED)
    assert waited(jobs, first.spec.id).state is State.CANCELLED
    assert waited(jobs, other.spec.id).state is State.DONE
    with pytest.raises(UsageError, match="does not run"):
        jobs.cancel(first.spec.id, ME)


def test_a_job_that_is_only_starting_is_cancelled(jobs: Jobs, tmp_path: Path):
    """Its keeper finds, when the command's process is known, that it was asked to end."""
    serve = ("dashboard", "--operate", "--store", str(tmp_path / "x.sqlite"), "--port", "0")
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()  # It is not lost, however slow this machine is.
    folder = written(jobs, arguments=serve, asked_at=later)
    assert jobs.job(folder.name).state is State.STARTING
    assert jobs.cancel(folder.name, ME).state is State.CANCELLING
    keeper = [
        sys.executable,
        "-m",
        KEEPER,
        str(folder),
        str(tmp_path / "audit.jsonl"),
        str(min(os.sched_getaffinity(0))),
    ]
    subprocess.run(keeper, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert waited(jobs, folder.name).state is State.CANCELLED


def test_what_became_of_a_job_is_told_by_its_files(jobs: Jobs):
    folder = written(jobs)
    assert jobs.job(folder.name).state is State.STARTING
    old = (datetime.now(UTC) - timedelta(seconds=START_S + 1)).isoformat()
    assert jobs.job(written(jobs, asked_at=old).name).state is State.LOST
    me = process_of(os.getpid())
    files.write(folder / RUNNING, RunningJob(keeper=me, command=me))
    assert jobs.job(folder.name).state is State.RUNNING
    files.write(folder / CANCELLED, Cancelled(who=ME, at=old))
    assert jobs.job(folder.name).state is State.CANCELLING
    files.write(folder / RUNNING, RunningJob.model_validate({"keeper": GONE, "command": me}))
    assert jobs.job(folder.name).is_alive, "a command whose keeper was killed still runs"
    files.write(folder / RUNNING, RunningJob.model_validate({"keeper": GONE, "command": GONE}))
    assert jobs.job(folder.name).state is State.LOST
    for status, state in ((0, State.DONE), (130, State.CANCELLED), (-2, State.CANCELLED), (20, State.FAILED)):
        files.write(folder / ENDED, JobEnd(status=status, at=old))
        assert jobs.job(folder.name).state is state
    run = "01a20884-81db-7382-809f-f5bfbe232c57"
    (folder / LOG).write_text(f"still starting (1 s)\nrun {run} of demo begins, about 51 s\n")
    assert jobs.job(folder.name).run == run


@pytest.mark.parametrize("name", ["", "..", "../jobs", "20260102-030405-000007", "x" * 22])
def test_there_is_no_such_job(jobs: Jobs, name: str):
    assert jobs.job(name) is None
    with pytest.raises(UsageError):
        jobs.cancel(name, ME)


def test_a_damaged_file_is_told(jobs: Jobs):
    folder = written(jobs)
    (folder / ENDED).write_text("{")
    with pytest.raises(StoreError, match="cannot be read"):
        jobs.job(folder.name)


def test_a_process_is_not_mistaken_for_a_later_one():
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as child:
        process = process_of(child.pid)
        assert process is not None and is_alive(process)
        later = process.model_copy(update={"began": process.began + 1})
        assert not is_alive(later) and not send(later, signal.SIGKILL)
        assert send(process, signal.SIGKILL)
        while is_alive(process):
            time.sleep(0.01)
        assert process_of(child.pid) is None, "a zombie has ended"
    assert not send(process, signal.SIGKILL)


def test_the_end_of_a_log_begins_with_a_line(tmp_path: Path):
    log = tmp_path / "log"
    assert files.tail(log, 10) == ""
    log.write_bytes(b"first line\nsecond \xff\n")
    assert files.tail(log, 1000) == "first line\nsecond �\n"
    assert files.tail(log, 12) == "second �\n"
