"""The base of all models read from files: frozen, unknown keys refused."""

from pydantic import BaseModel, ConfigDict


class SpecModel(BaseModel):
    """A declared thing, as a file holds it."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
