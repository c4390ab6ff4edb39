"""What is refused: an error of its kind, with its place, what was observed and what to do next."""

from collections.abc import Callable
from typing import TypeVar

import pytest

from nfvbed.cli.main import main
from nfvbed.errors import ConfigurationError, NfvbedError

Refusal = TypeVar("Refusal", bound=NfvbedError)


def refusal(act: Callable[[], object], kind: type[Refusal], *parts: str, where: str = "") -> Refusal:
    """Return the error with which something is refused.

    Args:
        act: what has to be refused.
        kind: the error's class, with its exit code.
        parts: texts that the whole message has to have.
        where: a part of the place that the error names.
    """
    with pytest.raises(kind) as caught:
        act()
    error = caught.value
    assert error.exit_code == kind.exit_code
    assert error.observed and error.fix, str(error)
    assert where in error.where
    assert [part for part in parts if part not in str(error)] == [], str(error)
    return error


def misconfigured(act: Callable[[], object], *parts: str, where: str = "") -> ConfigurationError:
    """Return the error with which a file, or what it says, is refused."""
    return refusal(act, ConfigurationError, *parts, where=where)


def refused_command(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    """Return what a command that is refused says; no user is shown a traceback."""
    assert main(arguments) == code
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said
