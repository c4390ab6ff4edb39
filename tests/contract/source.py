"""The tracked files, as the contract tests read them."""

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def tracked() -> tuple[Path, ...]:
    """Return all files that git tracks and that are there, relative to the checkout."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(Path(name) for name in names.split("\0") if name and (ROOT / name).is_file())


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
def tree(path: Path) -> ast.Module:
    """Parse a file."""
    return ast.parse(text(path), str(path))
