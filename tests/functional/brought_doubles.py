"""Doubles of programs that a user brings and this host has not: they forward frames, and answer as the programs do.

Nothing that runs on them is a test of netmap or of Lagopus.
"""

import sys
from pathlib import Path

import pytest

from nfvbed.dataplanes.lagopus import process as lagopus
from nfvbed.dataplanes.vale import control as vale


def _program(patch: pytest.MonkeyPatch, folder: Path, variable: str, module: str, options: str = "") -> None:
    """Put a double in a program's place; `options` are Python's."""
    program = folder / module
    source = Path(__file__).with_name(f"{module}.py").read_text()
    program.write_text(f"#!{sys.executable}{options}\n{source}")
    program.chmod(0o755)
    patch.setenv(variable, str(program))


def with_vale(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have this host look like one with netmap; its switches are bridges of the kernel."""
    patch.setattr(vale, "DEVICE", folder)
    _program(patch, folder, vale.TOOL_VARIABLE, "vale_ctl_double", " -IS")


def with_lagopus(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have this host look like one with Lagopus."""
    _program(patch, folder, lagopus.PROGRAM_VARIABLE, "lagopus_double")


DOUBLES = {"vale": with_vale, "lagopus-raw": with_lagopus}
"""What brings the double of a variant's program."""
