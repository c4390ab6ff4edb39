"""Programs that are run once: their end, their output, and their limits."""

import os
import signal
import sys
from pathlib import Path

import pytest

from nfvbed import boundedcommand
from nfvbed.errors import DeployError, PrerequisiteError
from nfvbed.host.ledger.entries import CommandEntry
from nfvbed.host.ledger.undo import undo


def python(code: str, **more):
    return boundedcommand.run([sys.executable, "-S", "-c", code], **{"within_s": 10.0, **more})


def test_its_status_its_output_and_its_input() -> None:
    done = python("import sys; print(sys.stdin.read()); print('no', file=sys.stderr); sys.exit(3)", text="asked\n")
    assert (done.status, done.output, done.errors) == (3, "asked\n\n", "no\n")
    assert done.said == "exit status 3: no"


def test_its_environment_is_what_is_given() -> None:
    done = boundedcommand.run(["/usr/bin/env"], within_s=10.0, environment={"A": "1"})
    assert done.output == "A=1\n"


def test_what_does_not_end_is_killed_with_what_it_started(tmp_path: Path) -> None:
    code = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(3600)"
    with pytest.raises(DeployError, match="does not end in time"):
        python(code, within_s=0.5)
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text()}").exists()


def test_its_end_counts_though_a_child_holds_its_output() -> None:
    done = python("import os, time; child = os.fork(); print(child, flush=True) if child else time.sleep(3600)")
    os.kill(int(done.output), signal.SIGKILL)  # It was there, and held the output.


def test_too_much_output_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boundedcommand, "MOST_OUTPUT_BYTES", 100)
    with pytest.raises(DeployError, match="writes too much"):
        python("print('x' * 1000)")


def test_a_program_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match="none cannot be run"):
        boundedcommand.run([str(tmp_path / "none")], within_s=1.0)


def test_the_ledger_runs_a_command_of_the_end_and_takes_its_failure(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.write_text("")
    entry = CommandEntry(argv=("/bin/rm", str(made)), within_s=5.0, environment=dict(os.environ))
    undo(entry)
    assert not made.exists()
    undo(entry)  # It is gone already: rm fails, and that is well.
