"""The tracked files, as the contract tests read them."""

import ast
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def assert_none(faults: Iterable[str], hint: str = "") -> None:
    """Fail with each fault on a line of its own; of a list that is compared, pytest shows the beginning."""
    lines = sorted(faults) if isinstance(faults, set) else list(faults)
    if lines:
        pytest.fail("\n".join([hint, *lines] if hint else lines), pytrace=False)


@cache
def tracked() -> tuple[Path, ...]:
    """Return all files that git tracks and that are there, relative to the checkout."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(Path(name) for name in names.split("\0") if name and (ROOT / name).is_file())


@cache
def text(path: Path) -> str:
    """Return a tracked file's text; binary files are empty."""
    try:
        return (ROOT / path).read_text()
    except UnicodeDecodeError:
        return ""


def python_files(*folders: str) -> list[Path]:
    """Return the Python files below the folders, or all."""
    return [path for path in tracked() if path.suffix == ".py" and (not folders or path.parts[0] in folders)]


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Parse a file and return all of its syntax, from the outside in."""
    return tuple(ast.walk(ast.parse(text(path), str(path))))
