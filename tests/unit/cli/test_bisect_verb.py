"""`nfvbed bisect` on the simulated system: its lists, a command that builds, and how it ends."""

import json
import sys
from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.sites.simulated.site import SimulatedSite

BUILD = """
import sys
print("made", sys.argv[1])
if sys.argv[1] == "broken":
    sys.exit("no rule to make it")
fast = sys.argv[1] < "c"
print(f"capacity_pps={5000000 if fast else 4000000},state_change_per_s=0")
"""


def bisected(store: Path, *arguments: str) -> int:
    return main(["bisect", "simulated", "--store", str(store), *arguments])


@pytest.fixture(name="builder")
def _builder(tmp_path: Path) -> str:
    (tmp_path / "build.py").write_text(BUILD)
    return f"{sys.executable} {tmp_path / 'build.py'}"


def test_revisions_are_built_when_they_are_needed(tmp_path: Path, builder: str, capsys: pytest.CaptureFixture[str]):
    status = bisected(tmp_path / "b.sqlite", "--build", builder, "--of", "a,c", "--noise", "1%", "--json")
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert status == 0 and (found["verdict"], found["revision"]) == ("step", 1)
    assert found["ratio"] == pytest.approx(0.8, abs=0.02) and captured.err.count("building c: ") == 1


def test_a_site_is_released_before_the_next_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The lab is taken by one run at a time, also by one of the same process."""
    taken: list[SimulatedSite] = []

    def begin(site: SimulatedSite, *, many: bool = False) -> None:
        assert not taken, "the site of the question before is still taken"
        taken.append(site)

    monkeypatch.setattr(SimulatedSite, "begin", begin)
    monkeypatch.setattr(SimulatedSite, "close", lambda site: taken.remove(site) if site in taken else None)
    assert bisected(tmp_path / "b.sqlite", "--over", "far_capacity_pps=2000000,1000000") == 0
    assert taken == []


def test_a_build_that_fails_ends_it(tmp_path: Path, builder: str, capsys: pytest.CaptureFixture[str]):
    assert bisected(tmp_path / "b.sqlite", "--build", builder, "--of", "a,broken") == 12
    assert "exit status 1: no rule to make it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "one ordered list"),
        (("--over", "capacity_pps=1,2", "--revision", "own"), "one ordered list"),
        (("--of", "a,b"), "one ordered list"),
        (("--over", "capacity_pps=1"), "two steps at least"),
        (("--revision", "own", "--revision", "own"), "two steps at least"),
    ],
)
def test_a_list_is_needed(tmp_path: Path, arguments, words, capsys: pytest.CaptureFixture[str]):
    assert bisected(tmp_path / "b.sqlite", *arguments) == 2
    assert words in capsys.readouterr().err


def test_a_dry_run_shows_the_first_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert bisected(tmp_path / "b.sqlite", "--over", "capacity_pps=5000000,4000000", "--dry-run") == 0
    assert "candidate/p2p/64" in capsys.readouterr().out and not (tmp_path / "b.sqlite").exists()
    assert main(["gate", "simulated", "--candidate", "own", "--dry-run", "--json"]) == 0
    assert "reference/p2p/1518" in capsys.readouterr().out
