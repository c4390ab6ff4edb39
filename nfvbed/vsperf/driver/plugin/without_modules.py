"""Starts VSPERF on a kernel without loadable modules, where it fails as /proc/modules is missing.

The file then reads as empty: no module is loaded, which is the truth. Usage: without_modules.py PROGRAM ARGUMENT...
"""

import builtins
import io
import runpy
import sys
from pathlib import Path
from typing import Any

MODULES = "/proc/modules"
_open = builtins.open


def open_with_empty_modules(file: Any, *arguments: Any, **keywords: Any) -> Any:
    """Open a file as usual, but give an empty one for the missing /proc/modules."""
    return io.StringIO() if file == MODULES else _open(file, *arguments, **keywords)


if __name__ == "__main__":
    builtins.open = open_with_empty_modules
    del sys.argv[0]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
