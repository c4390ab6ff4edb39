"""Starts VSPERF on a kernel that lacks files which it reads whatever the test is: then it fails, or writes no report.

They read as empty there: no module is loaded, and no board has a name, which is the truth. Usage: missing_files.py
PROGRAM ARGUMENT...
"""

import builtins
import io
import runpy
import sys
from pathlib import Path
from typing import Any

READ = ("/proc/modules", "/sys/class/dmi/id/board_vendor", "/sys/class/dmi/id/board_name")
_open = builtins.open


def open_or_empty(file: Any, *arguments: Any, **keywords: Any) -> Any:
    """Open a file as usual, but give an empty one for those that are missing."""
    lacks = isinstance(file, str) and file in READ and not Path(file).exists()
    return io.StringIO() if lacks else _open(file, *arguments, **keywords)


if __name__ == "__main__":
    builtins.open = open_or_empty
    del sys.argv[0]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
