"""Lets Python read an empty list of modules where the kernel has none: a module of the machines' own Python.

`community.general.modprobe` opens /proc/modules and fails without it; procfs takes no new files. What is built in, it
reads in `modules.builtin`, which a machine of a box has.
"""

import builtins
import os
from pathlib import Path
from typing import Any

_MODULES = "/proc/modules"
_real_open = builtins.open


def install() -> None:
    """Replace Python's `open`, where the kernel has no such file."""
    if not Path(_MODULES).exists():
        builtins.open = _open


def _open(file: Any, *arguments: Any, **options: Any) -> Any:
    return _real_open(os.devnull if file == _MODULES else file, *arguments, **options)
