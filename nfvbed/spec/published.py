"""Tables that others published: files of the package, so that a copied store is enough to show them."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from nfvbed.spec.document import read_document
from nfvbed.spec.model import SpecModel
from nfvbed.spec.validate import build

UNITS: Final = {"Gbit/s": ("bit/s", 1e9), "Mbit/s": ("bit/s", 1e6)}
"""Units of tables: what the store has them in, and how many of that one is."""

FEWEST: Final = 2
"""Repetitions that a column has at least."""


class PublishedColumn(SpecModel):
    """One column: results of repetitions, and which cells here are of the same kind."""

    label: str
    """Name as it was published."""
    variant: str
    """Variant that is measured here."""
    topology: str
    """Path that is measured here."""
    vnf: str = ""
    """Label of the VNF that is measured here; empty: any."""
    results: tuple[float, ...] = ()
    """Results, one for each repetition, two at least; none where the source gives no more than `about`."""
    about: tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]] | None = None
    """Least and greatest that a text states, equal where it states one figure; only in place of results."""

    @model_validator(mode="after")
    def is_one_or_the_other(self) -> Self:
        """Refuse a column unless it has either enough results of repetitions or what a text says."""
        if (self.about is None) != (len(self.results) >= FEWEST):
            raise ValueError(
                f"column {self.label}: give results of {FEWEST} repetitions or more, or about: [LOW, HIGH]"
            )
        if self.about is not None and (self.results or self.about[0] > self.about[1]):
            raise ValueError(f"column {self.label}: about is [LOW, HIGH], without results")
        return self


class PublishedTable(SpecModel):
    """One table, with the experiment that measures the like here: TCP between sockets (iperf3), one stream, forward."""

    key: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    """Name in addresses."""
    title: str
    """Title with its number."""
    unit: str
    """Unit of the results."""
    columns: tuple[PublishedColumn, ...] = Field(min_length=2)
    """Columns in the order of the source."""
    experiment: str
    """Experiment that measures the like here."""
    differs: tuple[str, ...] = ()
    """Sentences on what of that experiment is not as it was published."""

    @property
    def has_repetitions(self) -> bool:
        """Whether results of repetitions were published, which alone can be tested."""
        return all(column.results for column in self.columns)

    @model_validator(mode="after")
    def unit_is_known(self) -> Self:
        if self.unit not in UNITS:
            raise ValueError(f"unit {self.unit}: one of {', '.join(UNITS)}")
        if len({column.about is None for column in self.columns}) > 1:
            raise ValueError("columns with results and columns with about: make two tables of them")
        return self


class Publication(SpecModel):
    """Published tables, with their authors and the measured system."""

    name: str
    """Name of its file."""
    title: str
    """Title."""
    source: str
    """Source, so that it can be found."""
    host: str
    """Hosts that it was measured on."""
    versions: str
    """Versions of what was measured."""
    method: str
    """Method, as the source states it."""
    tables: tuple[PublishedTable, ...] = Field(min_length=1)
    """Tables in the order of the source."""


def publications() -> tuple[Publication, ...]:
    """Return all publications, sorted by name.

    Raises:
        ConfigurationError: a file is not valid.
    """
    folder = files("nfvbed.spec").joinpath("publications")
    paths = sorted(Path(str(entry)) for entry in folder.iterdir() if entry.name.endswith(".yml"))
    return tuple(build(read_document(path), Publication) for path in paths)
