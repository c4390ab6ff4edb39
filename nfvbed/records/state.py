"""What a deployment's room has written of it: typed inside the room, plain JSON in the record.

A record (`Deployment.control`, `VnfHandle.control`) outlives the process that made it and knows no room, so it holds a
mapping. A room has a model of its part of it, writes it with `as_control` and reads it with `of`; the mapping may hold
several such parts. Nothing else reads it by key.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Final, Self

from pydantic import BeforeValidator, JsonValue, PlainSerializer, ValidationError

from nfvbed.errors import DeployError, InternalError
from nfvbed.records.trial import Deployment, Record, VnfHandle

ON_COMPUTE = "compute"
"""Fact of a VNF: the compute of a cloud that it is on."""


def _split(value: object) -> object:
    return [part for part in value.split(",") if part] if isinstance(value, str) else value


def _join(parts: tuple[object, ...]) -> str:
    return ",".join(map(str, parts))


def _parse(value: object) -> object:
    return json.loads(value) if isinstance(value, str) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_split), PlainSerializer(_join, return_type=str)]
"""Written with commas."""
Cores = Annotated[tuple[int, ...], BeforeValidator(_split), PlainSerializer(_join, return_type=str)]
"""Written with commas."""
NESTED = BeforeValidator(_parse)
"""Parses a field that is a model: deployments of nfvbed before this one, which may still run, have it as text."""
_EMPTY: Final[tuple[JsonValue, ...]] = ("", [], {}, None)


class State(Record):
    """A part of what is written down; its fields' names are the keys."""

    @classmethod
    def of(cls, record: Deployment | VnfHandle) -> Self:
        """Return this part of a record.

        Raises:
            DeployError: it is not in there, or not as this nfvbed writes it.
        """
        try:
            return cls.model_validate({key: record.control[key] for key in cls.written_keys() if key in record.control})
        except ValidationError as failure:
            wrong = ", ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in failure.errors())
            raise DeployError(
                "what was written down of a deployment cannot be read",
                where=f"control of {record.id if isinstance(record, Deployment) else record.name}",
                observed=wrong,
                fix="another version of nfvbed deployed it: nfvbed destroy, then deploy again",
            ) from failure

    @classmethod
    def written_keys(cls) -> tuple[str, ...]:
        """Return the keys of its fields: their names, but for a key that is no name in Python."""
        return tuple(field.serialization_alias or name for name, field in cls.model_fields.items())

    def as_control(self) -> dict[str, JsonValue]:
        """Return the state as the record's JSON keys; what is None is left out."""
        written: dict[str, JsonValue] = self.model_dump(mode="json", by_alias=True)
        return {name: value for name, value in written.items() if value is not None}


class PlaneState(State):
    """The part of the state that every data plane may have, for all rooms: the ends of its path."""

    switch_netns: str | None = None
    """Path of the network namespace of the switch's links, where it has some."""
    generator_netns: str | None = None
    """Network namespace of the generator's links."""
    idle_port: str | None = None
    """What nfvgen opens at an end at which there is nothing for it."""
    destination_macs: Words | None = None
    """Two: the destinations of frames from the generator's port 0 and port 1, where the switch asks for some."""
    destination_mac_count: int | None = None
    """To how many addresses, one after the other, flows go in turn; None: one."""

    def generator_space(self) -> str:
        """Return the namespace of the generator's links.

        Raises:
            InternalError: there are none.
        """
        if self.generator_netns is None:
            raise InternalError("this deployment has no links of the generator's")
        return self.generator_netns


class VnfState(State):
    """The part of the state that every VNF may have, for all rooms."""

    destination_macs: Words | None = None
    """The addresses that frames into its first and last port must have: a router's own."""


def shown(control: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Yield what is written down as lines for a terminal: names and values; nothing of what is empty.

    Of a list of mappings each is a line.
    """
    for name, value in control.items():
        if value in _EMPTY:
            continue
        lines = value if isinstance(value, list) and any(isinstance(one, dict) for one in value) else [value]
        for line in lines:
            yield name, _in_words(line)


def _in_words(value: JsonValue) -> str:
    """Return a value as text: of a mapping `name value, name value`; lists in it have their entries in brackets."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_in_words(one)}" for name, one in value.items() if one not in _EMPTY)
    if isinstance(value, list):
        if any(isinstance(one, dict) for one in value):
            return " ".join(f"({_in_words(one)})" for one in value)
        return " ".join(map(_in_words, value))
    return value if isinstance(value, str) else json.dumps(value)
