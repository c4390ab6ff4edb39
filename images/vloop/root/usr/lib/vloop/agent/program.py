"""Runs programs of the guest: argument lists, no shell."""

import subprocess

from agent.refusal import Refusal


def run(*argv: str) -> str:
    """Run a program and return its output; what fails is refused with its words."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        observed = (done.stderr or done.stdout).strip()[-400:]
        raise Refusal(f"{argv[0]} failed (exit {done.returncode})", where=" ".join(argv), observed=observed)
    return done.stdout


def write(path: str, text: str) -> None:
    """Write a file of sysfs or procfs."""
    try:
        with open(path, "w") as file:
            file.write(text)
    except OSError as error:
        raise Refusal("the kernel refused a setting", where=path, observed=f"{text!r}: {error.strerror}") from error


def read(path: str, default: str = "") -> str:
    """Read a file of sysfs or procfs, or return the default where there is none."""
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return default
