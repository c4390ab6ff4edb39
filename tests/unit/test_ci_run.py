"""What `.ci/run` keeps between runs, and which kind of it is made again in each: said, and by the commit alone."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nfvbed.sharedcache import KINDS

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """\
#!/bin/sh
echo "make $* CI=$CI CACHE=$NFVBED_CACHE COLD=$NFVBED_CACHE_COLD"
"""


@pytest.fixture(name="ci")
def _ci(tmp_path):
    """Return what runs `.ci/run` of a clone in which make only says what it was called with, and what git says."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / ".ci/run")
    (tmp_path / "setup").mkdir()
    (tmp_path / "setup/cache").write_text("#!/bin/sh\ncase $NFVBED_CACHE in /bad*) exit 12 ;; esac\n")
    (tmp_path / "setup/cache").chmod(0o755)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in {"make": PROGRAM, "git": '#!/bin/sh\ntest -n "$COMMIT" && echo "$COMMIT"\n'}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)

    def run(commit, **environment):
        given = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": "/home/ci", "COMMIT": commit, **environment}
        return subprocess.run(
            [tmp_path / ".ci/run"], env=given, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    return run


def cold(done):
    """Return the kind that is said, which is the one that every make has."""
    (said,) = re.findall(r"^ci: .* by commit \w{8}: (\S+)$", done.stdout, re.MULTILINE)
    assert re.findall(r"COLD=(\S*)", done.stdout) == [said] * 3
    return said


def test_every_target_has_the_same_cache(ci):
    done = ci("0" * 40)
    assert done.returncode == 0
    assert [line.split(" COLD=")[0] for line in done.stdout.splitlines()[1:]] == [
        f"make {target} CI=true CACHE=/home/ci/.cache/nfvbed" for target in ("check", "test", "test-paths")
    ]


@pytest.mark.parametrize(
    ("given", "folder"),
    [
        ({"XDG_CACHE_HOME": "/var/cache/ci"}, "/var/cache/ci/nfvbed"),
        ({"NFVBED_CACHE": "/kept", "XDG_CACHE_HOME": "/var/cache/ci"}, "/kept"),
    ],
)
def test_the_folder_is_the_one_that_was_given(ci, given, folder):
    assert f"ci: kept in {folder};" in ci("0" * 40, **given).stdout


def test_a_folder_that_is_refused_ends_it_where_it_was_asked_for_and_is_done_without_where_not(ci):
    assert (done := ci("0" * 40, NFVBED_CACHE="/bad")).returncode == 12
    assert "make" not in done.stdout
    done = ci("0" * 40, XDG_CACHE_HOME="/bad")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "ci: nothing is kept in /bad/nfvbed, for the reason above; everything is cold",
        *(f"make {target} CI=true CACHE= COLD=" for target in ("check", "test", "test-paths")),
    ]


def test_commits_go_through_all_kinds_that_they_need(ci):
    found = [cold(ci(f"{number:08x}" + "f" * 32)) for number in range(7)]
    assert found[0] == found[6]
    assert set(found) == set(KINDS) - {"debian", "box-root", "box-images"}, "neither is part of continuous integration"


def test_the_same_commit_has_the_same_kind(ci):
    commit = "c6c87188" + "0" * 32
    assert cold(ci(commit)) == cold(ci(commit, NFVBED_CACHE="/elsewhere"))


def test_without_a_commit_nothing_is_run(ci):
    done = ci("")
    assert done.returncode != 0 and done.stdout == ""
