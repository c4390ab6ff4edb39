"""A disk of a few KiB, in a mount namespace of a child's own."""

import os
import subprocess
import sys
from pathlib import Path

_MOUNT = 'mount -t tmpfs -o size=64k,mode=700 none "$1" && shift && exec "$@"'
"""As `sh -c`: what follows the folder is run where the folder is the small disk."""


def run_on_small_disk(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a Python program to which the folder is an empty disk of 64 KiB; its arguments begin with the folder."""
    namespace = ["--mount"] if os.geteuid() == 0 else ["--map-root-user", "--mount"]
    inside = [sys.executable, "-c", program, str(folder), *arguments]
    return subprocess.run(
        ["unshare", *namespace, "sh", "-c", _MOUNT, "sh", str(folder), *inside],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[1],
        check=False,
    )
