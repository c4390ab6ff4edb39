"""Style and types: every linter is content. `make lint`."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
C_SOURCES = [str(path) for path in sorted((ROOT / "native").rglob("*.[ch]")) if "build" not in path.parts]
LINTS = {
    "mypy": [sys.executable, "-m", "mypy"],
    "reference": [sys.executable, "docs/generate.py", "--check"],
    "clang-format": ["clang-format", "--dry-run", "--Werror", *C_SOURCES],
    "ruff check": [sys.executable, "-m", "ruff", "check", "."],
}


@pytest.mark.parametrize("name", LINTS)
def test_it_has_nothing_to_say(name):
    done = subprocess.run(
        LINTS[name],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
