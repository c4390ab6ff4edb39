"""The base of all models read from files: frozen, unknown keys refused."""

from pydantic import ConfigDict

from nfvbed.records.models import DeferredModel


class MisfitError(ValueError):
    """A value that the others of its model do not allow; raised by a model's validator, for a message of its place."""

    def __init__(self, key: str, allowed: str) -> None:
        """Make the error for a key, with what it may be beside the others."""
        super().__init__(allowed)
        self.key = key


class SpecModel(DeferredModel):
    """A declared thing, as a file holds it."""

    model_config = ConfigDict(allow_inf_nan=False)
