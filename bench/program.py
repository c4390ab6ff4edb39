"""How a benchmark ends: with its own exit status, or an error's words and its exit code."""

import sys
from collections.abc import Callable
from typing import NoReturn

from nfvbed.errors import NfvbedError


def run(main: Callable[[], int]) -> NoReturn:
    """Run a benchmark and end the process."""
    try:
        sys.exit(main())
    except NfvbedError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
