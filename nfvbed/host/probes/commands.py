"""Short questions to programs, with a time limit; the answer is text or nothing."""

import subprocess
from collections.abc import Sequence

TIME_LIMIT_S = 10


def ask(argv: Sequence[str]) -> tuple[int, str] | None:
    """Run a program and return its exit status and output; None where it is missing or does not end."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIME_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.returncode, done.stdout.decode(errors="replace").strip()
