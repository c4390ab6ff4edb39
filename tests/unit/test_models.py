"""Ctrl-C while a model is built: it waits, and the model is whole."""

import os
import signal
from typing import Annotated, Any

import pytest
from pydantic import GetCoreSchemaHandler, ValidationError

from nfvbed.records.models import DeferredModel, adapter_of


class CtrlC:
    """An annotation that interrupts the process that builds a model with it."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return handler(source)


def test_an_interrupt_waits_until_a_model_is_built() -> None:
    class Interrupted(DeferredModel):
        count: Annotated[int, CtrlC()]

    assert not Interrupted.__pydantic_complete__
    with pytest.raises(KeyboardInterrupt):
        Interrupted(count=1)
    assert Interrupted.__pydantic_complete__
    assert Interrupted(count=2).count == 2
    with pytest.raises(ValidationError, match="other"):
        Interrupted.model_validate({"count": 2, "other": 3})


def test_an_interrupt_waits_until_an_adapter_is_built() -> None:
    with pytest.raises(KeyboardInterrupt):
        adapter_of(Annotated[int, CtrlC()])

    class Interrupted(DeferredModel):
        count: Annotated[int, CtrlC()]

    with pytest.raises(KeyboardInterrupt):
        adapter_of(Interrupted)
    assert adapter_of(int).validate_python(4) == 4


def test_an_adapter_is_built_once() -> None:
    built = []

    class Counted:
        def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
            built.append(source)
            return handler(source)

    kind = Annotated[int, Counted()]
    assert [adapter_of(kind).validate_python(4) for _ in range(3)] == [4, 4, 4]
    assert built == [int]


def test_names_of_the_function_that_made_a_model_are_found_when_it_is_built() -> None:
    class Part(DeferredModel):
        name: str

    class Whole(DeferredModel):
        part: "Part"

    assert Whole(part=Part(name="x")).part.name == "x"
