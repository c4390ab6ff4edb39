"""`vsperf-conf/experiments/*.yml`: what is measured and how often."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from nfvbed.spec.model import SpecModel
from nfvbed.spec.variant import Topology
from nfvbed.units import MAX_FRAME_SIZE_BYTES, MIN_FRAME_SIZE_BYTES

SizeSpec = Annotated[int, Field(ge=MIN_FRAME_SIZE_BYTES, le=MAX_FRAME_SIZE_BYTES)] | Literal["imix"]


class TrafficSpec(SpecModel):
    """The traffic of every cell."""

    flows: int = Field(1, ge=1, le=1_000_000)
    bidirectional: bool = True
    ip: Literal[4, 6] = 4
    vlan: int | None = Field(None, ge=1, le=4094)


class TrialsSpec(SpecModel):
    """The trials of one repetition of a cell."""

    warmup_s: float = Field(0.2, ge=0, le=60)
    mrr_duration_s: float = Field(0.5, ge=0.05, le=3600)
    paced_duration_s: float = Field(1.0, ge=0.05, le=3600)
    paced_fraction: float = Field(0.5, gt=0, le=1)
    """Of the median MRR that this cell has shown so far in the run."""


class RepetitionsSpec(SpecModel):
    """How often, and when to stop waiting for a placement class."""

    needed: int = Field(5, ge=1, le=1000)
    """Repetitions that every cell must have in one placement class."""
    needed_ceilings: int = Field(3, ge=1, le=1000)
    """The same for the ceilings, at most `needed`; a ceiling bounds a result and is not compared with it."""
    max_rounds: int = Field(12, ge=1, le=10_000)
    time_limit_s: float = Field(360, gt=0)
    """No new round starts after it; what is missing then is `blocked`."""

    @model_validator(mode="after")
    def rounds_reach_what_is_needed(self) -> "RepetitionsSpec":
        if self.max_rounds < self.needed:
            raise ValueError(f"max_rounds ({self.max_rounds}) must be at least needed ({self.needed})")
        return self


class Experiment(SpecModel):
    """A matrix variants x topologies x frame sizes, its traffic and its trials."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    title: str
    site: str = "lab"
    variants: tuple[str, ...] = Field(min_length=1)
    baseline: str | None = None
    topologies: tuple[Topology, ...] = ("p2p",)
    frame_sizes: tuple[SizeSpec, ...] = (64, 1518)
    traffic: TrafficSpec = TrafficSpec()
    trials: TrialsSpec = TrialsSpec()
    repetitions: RepetitionsSpec = RepetitionsSpec()
    ceilings: bool = True
    """Measure the generator's loop-back and the reference switch beside the variants."""

    @model_validator(mode="after")
    def baseline_is_a_variant(self) -> "Experiment":
        if self.baseline is not None and self.baseline not in self.variants:
            raise ValueError(f"baseline {self.baseline!r} is none of the variants {list(self.variants)}")
        return self

    @model_validator(mode="after")
    def nothing_is_named_twice(self) -> "Experiment":
        for key in ("variants", "topologies", "frame_sizes"):
            values = getattr(self, key)
            if len(set(values)) != len(values):
                raise ValueError(f"{key} names something twice: {list(values)}")
        return self
