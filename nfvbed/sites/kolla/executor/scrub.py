"""Takes secrets out of all that is shown or kept."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from nfvbed.errors import ConfigurationError
from nfvbed.spec import boundedyaml

HIDDEN = "********"
_WHOLE_WORDS_BELOW = 8
"""Shorter secrets, which only users make, are hidden where they are words: else they would take parts of others."""


class Scrubber:
    """Replaces values wherever they are in a text: as they are, in JSON, in base64, or with lines of their own.

    Args:
        secrets: the values; empty ones are skipped.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        ordered = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_expression, ordered))) if ordered else None

    def __call__(self, text: str) -> str:
        """Return a text without secrets."""
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)


def secrets_in(text: str, passwords: Path) -> tuple[str, ...]:
    """Return all values of Kolla's passwords.

    Args:
        text: decrypted text of the file.

    Raises:
        ConfigurationError: it is not such a text.
    """
    try:
        found = boundedyaml.load(text)
    except yaml.YAMLError as failure:
        # What the parser says would show the line.
        raise _not_readable(passwords, type(failure).__name__) from None
    if not isinstance(found, dict):
        raise _not_readable(passwords, "it is no mapping of names to passwords")
    return tuple(dict.fromkeys(_values(found)))


def _not_readable(passwords: Path, observed: str) -> ConfigurationError:
    return ConfigurationError(
        "the file of passwords cannot be read",
        where=str(passwords),
        observed=observed,
        fix="put the file back that the machines were deployed with; where nothing was deployed, delete it. A file is"
        " encrypted as a whole (ansible-vault encrypt), and no value by itself",
    )


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _values(one)
    elif isinstance(value, list):
        for one in value:
            yield from _values(one)
    elif value is not None and not isinstance(value, bool) and str(value).strip():
        yield str(value)


def _forms(secret: str) -> Iterator[str]:
    yield secret.strip()
    yield json.dumps(secret)[1:-1]
    yield base64.b64encode(secret.encode()).decode()
    lines = [line.strip() for line in secret.splitlines()]
    yield from (line for line in lines if len(lines) > 1 and len(line) >= _WHOLE_WORDS_BELOW and "KEY--" not in line)


def _expression(form: str) -> str:
    if len(form) < _WHOLE_WORDS_BELOW:
        return rf"(?<!\w){re.escape(form)}(?!\w)"
    # Ansible folds its warnings at hyphens.
    return re.escape(form).replace(r"\-", r"\-\s*")
