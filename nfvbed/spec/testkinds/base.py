"""What the kinds of tests share."""

from abc import abstractmethod
from typing import Annotated

from pydantic import Field

from nfvbed.spec.model import SpecModel

MRR = "mrr"
"""The kind and label of the test that every experiment has where its file names none, and what fractions may be of."""
TEST_NAME = r"^[a-z0-9][a-z0-9-]{0,40}$"
LOAD_REFERENCE = r"^(mrr|[A-Za-z0-9][A-Za-z0-9._-]{0,20})$"

Fraction = Annotated[float, Field(gt=0, le=2)]


class NamedTest(SpecModel):
    """A test beside the MRR; its class adds `kind` and what else a file may say."""

    name: str | None = Field(None, pattern=TEST_NAME)
    """Label of its results; None: its kind."""

    @abstractmethod
    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""

    @property
    def builds_on(self) -> tuple[str, ...]:
        """The loads that it takes parts of, measured by a test before: `mrr`, or goals of a search."""
        return ()


def check_one_load(load_pps: int | None, fraction: float | None) -> None:
    """Make sure that a load is given in exactly one way.

    Raises:
        ValueError: it is not.
    """
    if (load_pps is None) == (fraction is None):
        raise ValueError("give either load_pps or fraction")
