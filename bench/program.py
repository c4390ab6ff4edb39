"""How a benchmark ends: with its own exit status, or an error's words and its exit code."""

import argparse
import sys
from collections.abc import Callable
from typing import NoReturn

from nfvbed.errors import NfvbedError

SMOKE_S = 0.1
"""A trial of a smoke run, in seconds."""


def add_smoke(parser: argparse.ArgumentParser) -> None:
    """Add the option that its test is run with."""
    parser.add_argument(
        "--smoke", action="store_true", help="as short as it can be: fails where nothing is measured, judges no aim"
    )


def ended(problems: list[str]) -> int:
    """Print what an aim is missed by, or what could not be measured.

    Returns:
        The exit status: 1 where there is something to print.
    """
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def run(main: Callable[[], int]) -> NoReturn:
    """Run a benchmark and end the process."""
    try:
        sys.exit(main())
    except NfvbedError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
