"""Finds the user's VSPERF: the folder in VSPERF_DIR, and a Python that can run it."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nfvbed.errors import PrerequisiteError
from nfvbed.vsperf.driver.plugin.missing_files import READ

DIRECTORY_VARIABLE: Final = "VSPERF_DIR"
PYTHON_VARIABLE: Final = "VSPERF_PYTHON"
PROGRAM: Final = "vsperf"
NEEDED: Final = (PROGRAM, "conf/00_common.conf", "core/loader/loader.py", "tools/pkt_gen/trafficgen")
OWN_ENVIRONMENT: Final = Path("vsperfenv/bin/python3")
"""Where VSPERF's own set-up puts its Python, below the user's home."""
MISSING_FILES: Final = Path(__file__).parent / "plugin" / "missing_files.py"
_PATIENCE_S: Final = 120.0
_WORDS: Final = 300
_GET_IT: Final = "git clone https://github.com/opnfv/vswitchperf, set VSPERF_DIR to it, and see docs/howto/vsperf.md"


@dataclass(frozen=True)
class Installation:
    """A VSPERF that starts."""

    directory: Path
    python: Path
    version: str
    """What it says of itself, and the commit where it is known."""

    @property
    def configuration(self) -> Path:
        """The folder of its stock settings."""
        return self.directory / "conf"

    def argv(self, *arguments: str) -> list[str]:
        """Return the command line that runs it."""
        before = [] if all(Path(name).exists() for name in READ) else [str(MISSING_FILES)]
        return [str(self.python), *before, str(self.directory / PROGRAM), *arguments]


def find_vsperf(environment: Mapping[str, str] = os.environ) -> Installation:
    """Find VSPERF, and run it once as a check that it starts.

    Raises:
        PrerequisiteError: none is named, it is none, or it does not start; with its own words.
    """
    named = environment.get(DIRECTORY_VARIABLE)
    if not named:
        raise PrerequisiteError(
            "there is no VSPERF to run", where=DIRECTORY_VARIABLE, observed="the variable is not set", fix=_GET_IT
        )
    directory = Path(named).expanduser().absolute()
    missing = [name for name in NEEDED if not (directory / name).exists()]
    if missing:
        raise PrerequisiteError(
            f"{DIRECTORY_VARIABLE} is no folder of VSPERF",
            where=str(directory),
            observed=f"no {missing[0]}",
            fix=_GET_IT,
        )
    python = _find_python(environment)
    said = _run([str(python), str(directory / PROGRAM), "--version"], directory)
    if said.returncode:
        raise PrerequisiteError(
            "VSPERF does not start",
            where=f"{python} {directory / PROGRAM}",
            observed=_log_end(said.stderr or said.stdout),
            fix=f"set {PYTHON_VARIABLE} to a Python (3.8 to 3.11) in which VSPERF's requirements.txt is installed",
        )
    words = (said.stdout.split() or ["unknown"])[-1]
    return Installation(directory, python, f"{words}{_commit(directory)}")


def _find_python(environment: Mapping[str, str]) -> Path:
    named = environment.get(PYTHON_VARIABLE)
    home = Path(environment.get("HOME", "/")) / OWN_ENVIRONMENT
    found = named or (str(home) if home.is_file() else shutil.which("python3"))
    if not found or not os.access(found, os.X_OK):
        raise PrerequisiteError(
            "there is no Python to run VSPERF with",
            where=PYTHON_VARIABLE if named else "PATH",
            observed=f"{found!r} cannot be executed" if found else "no python3",
            fix=f"set {PYTHON_VARIABLE} to the Python of VSPERF's virtual environment",
        )
    # The link is kept: a virtual environment is known by where its Python was called.
    return Path(found).absolute()


def _commit(directory: Path) -> str:
    git = shutil.which("git")
    if git is None or not (directory / ".git").exists():
        return ""
    argv = [git, "-c", f"safe.directory={directory}", "-C", str(directory), "rev-parse", "--short=12", "HEAD"]
    done = _run(argv, directory)
    return f" ({done.stdout.strip()})" if done.returncode == 0 else ""


def _run(argv: list[str], directory: Path) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    # nfvbed's own code must not be imported by VSPERF: it has packages of the same names (`tools`, `conf`).
    environment.pop("PYTHONPATH", None)
    try:
        return subprocess.run(
            argv,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PrerequisiteError("VSPERF does not start", where=" ".join(argv), observed=str(error)) from error


def _log_end(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[-1] if lines else "it said nothing")[:_WORDS]
