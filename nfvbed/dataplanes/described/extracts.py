"""What is read of a command's output: by a JSON pointer (RFC 6901) or a regular expression, in bounded time."""

import json
from typing import Any, Self

import jsonpointer
import regex
from pydantic import Field, model_validator

from nfvbed.dataplanes.described.words import Scope, Values, fill, fill_pattern, joined, names_in_pattern, scope_of
from nfvbed.errors import DeployError
from nfvbed.spec.model import SpecModel

PATTERN_TIME_S = 1.0
"""A search that takes longer is given up: some expressions take for ever on some text."""
_SHOWN = 300
"""Characters of an output in messages."""


class Extract(SpecModel):
    """A place in a command's output; exactly one of its keys is given."""

    pointer: str | None = Field(None, max_length=1000)
    """JSON pointer into an output that is one JSON document (`/0/packets`)."""
    pattern: str | None = Field(None, max_length=1000)
    """Regular expression of Python that is searched for in the output; its one group is what is read."""

    @model_validator(mode="after")
    def one_way_to_read(self) -> Self:
        if (self.pointer is None) == (self.pattern is None):
            raise ValueError("say pointer (into JSON) or pattern (a regular expression), one of them")
        if self.pointer is not None:
            scope_of([self.pointer])
            _require_pointer(self.pointer)
        if self.pattern is not None:
            _require_pattern(self.pattern)
        return self

    @property
    def scope(self) -> Scope:
        """What its placeholders are of."""
        if self.pointer is not None:
            return scope_of([self.pointer])
        return joined(_scopes(self.pattern or ""))

    def text(self, output: str, values: Values, where: str) -> str:
        """Return what the place holds.

        Raises:
            DeployError: the output has no such place, or takes too long to search.
        """
        found = self._pointed(output, values, where) if self.pointer is not None else self._found(output, values, where)
        if isinstance(found, str | int) and not isinstance(found, bool):
            return str(found)
        raise _unread("holds neither a number nor a text", self, where, json.dumps(found))

    def count(self, output: str, values: Values, where: str) -> int:
        """Return the whole number, 0 or more, that the place holds.

        Raises:
            DeployError: it holds something else.
        """
        found = self.text(output, values, where)
        if not (found.isascii() and found.isdigit()):
            raise _unread("holds no whole number", self, where, found)
        return int(found)

    def _pointed(self, output: str, values: Values, where: str) -> Any:
        escaped = {name: jsonpointer.escape(value) for name, value in values.items()}
        try:
            return jsonpointer.resolve_pointer(json.loads(output), fill(self.pointer or "", escaped))
        except jsonpointer.JsonPointerException as failure:
            raise _unread(f"is not there ({failure})", self, where, output) from failure
        except (ValueError, RecursionError) as failure:
            raise _unread("is not found: the output is no JSON document", self, where, output) from failure

    def _found(self, output: str, values: Values, where: str) -> str | None:
        try:
            found = regex.search(fill_pattern(self.pattern or "", values), output, timeout=PATTERN_TIME_S)
        except TimeoutError as failure:
            what = f"is not found within {PATTERN_TIME_S:g} s: the expression tries too many ways"
            raise _unread(what, self, where, output) from failure
        if found is None or found[1] is None:
            raise _unread("is not there", self, where, output)
        return str(found[1])


def _unread(what: str, extract: Extract, where: str, output: str) -> DeployError:
    asked = f"pointer {extract.pointer}" if extract.pointer is not None else f"pattern {extract.pattern}"
    return DeployError(
        f"what is read of a command's output {what}",
        where=f"{where}; {asked}",
        observed=output[:_SHOWN] + ("..." if len(output) > _SHOWN else "") or "no output",
        fix="compare what is read (pointer, pattern) with that output, and correct the variant's file",
    )


def _require_pointer(pointer: str) -> None:
    try:
        jsonpointer.JsonPointer(pointer)
    except jsonpointer.JsonPointerException as failure:
        raise ValueError(f"pointer {pointer!r} is no JSON pointer: {failure}") from failure


def _require_pattern(pattern: str) -> None:
    _scopes(pattern)
    try:
        compiled = regex.compile(pattern)
    except regex.error as failure:
        raise ValueError(f"pattern {pattern!r} is no regular expression: {failure}") from failure
    if compiled.groups != 1:
        raise ValueError(f"pattern {pattern!r} has {compiled.groups} groups; one, in parentheses, is what is read")


def _scopes(pattern: str) -> tuple[Scope, ...]:
    return tuple(scope_of([f"{{{name}}}"]) for name in names_in_pattern(pattern))
