"""Tables that others published: files of the package, so that a copied store is enough to show them."""

import functools
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from nfvbed.records.words import ResultKind
from nfvbed.spec.document import read_document
from nfvbed.spec.model import SpecModel
from nfvbed.spec.tests import KINDS
from nfvbed.spec.validate import build

UNITS: Final = {
    "Gbit/s": ("bit/s", 1e9),
    "Mbit/s": ("bit/s", 1e6),
    "Mpps": ("frames/s", 1e6),
    "µs": ("s", 1e-6),
    "cycles/packet": ("cycles/packet", 1.0),
}
"""Units of tables: what the store has them in, and how many of that one is."""

FEWEST: Final = 2
"""Repetitions that a column has at least."""
DELAY_VARIATION: Final = "delay variation"
"""P99 less the least delay (RFC 5481, section 4.2)."""
DELAYS: Final = ("P50", "P99", DELAY_VARIATION)
"""Quantities of `latency`: of the delays of one load's trial, both directions together."""


def _one_stream() -> dict[str, str | int | float]:
    return {"tool": "iperf3", "streams": 1}


class Measure(SpecModel):
    """A figure of a test: which row, and which quantity of it."""

    kind: str = "tcp-throughput"
    """Kind of the test."""
    quantity: str = "throughput"
    """Name of the quantity; of `mrr` there is one, the rate. `Hz/pps` of `cost`: the clock over the forwarded rate. Of
    `latency`: one of `DELAYS`."""
    parameters: dict[str, str | int | float] = Field(default_factory=_one_stream)
    """Parameters that the row has; without `direction` it is forward. Of `latency`: `fraction` of the load, without
    which it is the load that is the same for all variants."""
    row: str = ""
    """Label of the row, where parameters do not tell it; empty: any."""

    @model_validator(mode="after")
    def kind_is_known(self) -> Self:
        if self.kind not in KINDS:
            raise ValueError(f"kind {self.kind}: one of {', '.join(sorted(KINDS))}")
        return self

    @model_validator(mode="after")
    def delay_is_known(self) -> Self:
        if self.is_delay and self.quantity not in DELAYS:
            raise ValueError(f"quantity {self.quantity} of {self.kind}: one of {', '.join(DELAYS)}")
        return self

    @property
    def is_delay(self) -> bool:
        """Whether it is of the delays of a trial, of which there are histograms and no row."""
        return self.kind == ResultKind.LATENCY


class Subject(SpecModel):
    """Cells of an experiment here."""

    variant: str
    topology: str = "p2p"
    vnf: str = ""
    """Label of the VNF; empty: any."""
    frame_size: int | None = None
    """Frame size; None: any."""
    parameters: dict[str, str | int | float] = Field(default_factory=dict)
    """Further parameters of the row."""

    @property
    def words(self) -> str:
        """What is measured, in a few words."""
        more = [self.vnf, f"{self.frame_size} B" if self.frame_size else ""]
        more += [f"{key} {value}" for key, value in self.parameters.items()]
        return " ".join([f"{self.variant}/{self.topology}", *(part for part in more if part)])


class PublishedColumn(SpecModel):
    """One column: results of repetitions, and which cells here are of the same kind."""

    label: str
    """Name as it was published."""
    variant: str = ""
    """Variant that is measured here; empty: nothing of the kind is."""
    topology: str = ""
    """Path that is measured here."""
    vnf: str = ""
    """Label of the VNF that is measured here; empty: any."""
    parameters: dict[str, str | int | float] = Field(default_factory=dict)
    """Further parameters of the row that is measured here."""
    elsewhere: str = ""
    """Reason why nothing of the kind is measured here, where there is no variant."""
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
        if bool(self.variant) == bool(self.elsewhere) or bool(self.variant) != bool(self.topology):
            raise ValueError(f"column {self.label}: give variant and topology, or elsewhere: why there is none")
        return self


class PublishedTable(SpecModel):
    """One table or figure, with the experiment that measures the like here."""

    key: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    """Name in addresses."""
    title: str
    """Title with its number."""
    unit: str
    """Unit of the results."""
    where: str
    """Page, or section, of the source."""
    computed: str
    """How the source computed its figures, as far as it says."""
    measure: Measure = Measure()
    """Figure that is measured here: by default TCP between sockets (iperf3), one stream, forward."""
    columns: tuple[PublishedColumn, ...] = Field(min_length=1)
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


class ClaimRule(SpecModel):
    """One thing that has to be so where a claim holds."""

    rule: Literal["ratio", "steadier", "fewer-bad-runs"]
    """`ratio`: of over against lies between low and high; `steadier`: of spreads less than against; `fewer-bad-runs`:
    of has fewer runs below `bad` of its own median than against has."""
    of: Subject
    against: Subject
    low: float | None = Field(None, gt=0)
    high: float | None = Field(None, gt=0)
    published: float | None = Field(None, gt=0)
    """Ratio of the published figures."""
    bad: float = Field(0.9, gt=0, lt=1)
    """Part of the median of `of` below which a run is bad."""
    measure: Measure | None = None
    """Figure; None: the claim's."""

    @model_validator(mode="after")
    def bounds_are_a_ratios(self) -> Self:
        given = (self.low, self.high) != (None, None)
        if given != (self.rule == "ratio"):
            raise ValueError(f"low and high are bounds of rule ratio, which needs one at least; this is {self.rule}")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError(f"low {self.low:g} must be below high {self.high:g}")
        return self


class PublishedClaim(SpecModel):
    """A sentence that a publication concludes with, and what has to be so here where it holds."""

    key: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    text: str
    """Claim, in own words."""
    where: str
    """Page, or section, of the source."""
    experiment: str
    """Experiment that could show it here."""
    measure: Measure = Measure()
    parts: tuple[ClaimRule, ...] = ()
    """Rules, all of which hold where the claim does; none: it cannot be said by what is measured here."""
    bounds: str = ""
    """Reason for the bounds of the rules."""
    elsewhere: str = ""
    """Reason why it cannot be said in the lab, and where it can; a run on another site is judged all the same."""
    quick_has_power: bool = True
    """Whether the quick form of the experiment can decide it."""

    @model_validator(mode="after")
    def it_can_be_shown_or_has_a_reason(self) -> Self:
        if not self.parts and not self.elsewhere:
            raise ValueError(f"claim {self.key}: give parts, or elsewhere: why nothing here can say it")
        return self


class Breakdown(SpecModel):
    """A table of own figures beside a published one: where the work of a row is, and so why rows differ."""

    title: str
    experiment: str
    """Experiment that measures it."""
    kind: str = "tcp-throughput"
    """Kind of the test."""
    parameters: dict[str, str | int | float] = Field(default_factory=_one_stream)
    """Parameters that every row has."""
    rows: tuple[Subject, ...] = Field(min_length=2)
    """Rows; those of the first one's variant are what rows of others with the same parameters are compared with."""
    quantities: tuple[str, ...] = Field(min_length=1)
    """Names of the quantities, a column each."""
    reads: tuple[str, ...] = ()
    """Sentences on how to read it, which hold whatever the figures are."""

    @model_validator(mode="after")
    def kind_is_known(self) -> Self:
        if self.kind not in KINDS:
            raise ValueError(f"kind {self.kind}: one of {', '.join(sorted(KINDS))}")
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
    """Tables and figures with numbers, in the order of the source."""
    claims: tuple[PublishedClaim, ...] = ()
    """Claims in the order of the source."""
    breakdowns: tuple[Breakdown, ...] = ()
    """Tables of own figures that explain differences."""
    without_numbers: tuple[str, ...] = ()
    """Figures of which the text at hand has no numbers: nothing is read off a picture."""


@functools.cache
def publications() -> tuple[Publication, ...]:
    """Return all publications, sorted by name; they are files of the package, and are read once.

    Raises:
        ConfigurationError: a file is not valid.
    """
    folder = files("nfvbed.spec").joinpath("publications")
    paths = sorted(Path(str(entry)) for entry in folder.iterdir() if entry.name.endswith(".yml"))
    return tuple(build(read_document(path), Publication) for path in paths)
