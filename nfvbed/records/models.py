"""The base of pydantic's models that are built at their first use, out of reach of Ctrl-C.

pydantic builds a model in Rust, which calls Python: an interrupt that arrives there becomes a `SchemaError`, or is
swallowed and leaves a validator that refuses what is right.
"""

from functools import cache
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter

from nfvbed.signals import signals_held

Built = TypeVar("Built", bound=BaseModel)

_FRAMES_BETWEEN = 1
"""The one frame on the stack between the caller of `model_rebuild`, in whose names annotations are looked up, and
pydantic's.
"""


class DeferredModel(BaseModel):
    """A frozen model, unknown keys refused, built when it is first used; interrupts wait until it is."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def model_rebuild(cls, *, _parent_namespace_depth: int = 2, **keys: Any) -> bool | None:
        """Build the model, as pydantic does."""
        with signals_held():
            return super().model_rebuild(_parent_namespace_depth=_parent_namespace_depth + _FRAMES_BETWEEN, **keys)


def build_models() -> None:
    """Build all imported models that are not built yet, so that a server's first request need not wait."""
    waiting: list[type[DeferredModel]] = [DeferredModel]
    while waiting:
        model = waiting.pop()
        waiting += model.__subclasses__()
        if not model.__pydantic_complete__:
            model.model_rebuild()


@cache
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    """Return pydantic's adapter of a type, as `Annotated` unions of models are; interrupts wait until it is built.

    It is built once: that takes as long as reading a file does.
    """
    with signals_held():
        adapter = TypeAdapter(kind)
        adapter.rebuild()  # that of a deferred model is deferred too
        return adapter


def assembled(model: type[Built], values: dict[str, Any]) -> Built:
    """Return a record of values that are valid already; none is looked at.

    It is `model_construct` without its loop over the fields, for thousands of records.

    Args:
        values: one for each field of the model, which the record keeps.
    """
    made = model.__new__(model)
    for name, value in (
        ("__dict__", values),
        ("__pydantic_fields_set__", fields_of(model)),
        ("__pydantic_extra__", None),
        ("__pydantic_private__", None),
    ):
        object.__setattr__(made, name, value)
    return made


@cache
def fields_of(model: type[BaseModel]) -> set[str]:
    """Return the names of a model's fields, which frozen records that have all of them share."""
    return set(model.model_fields)
