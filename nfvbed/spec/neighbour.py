"""The noisy neighbour of an experiment: a load beside every trial, as VSPERF has it."""

from typing import Annotated, Literal

from pydantic import Field

from nfvbed.spec.model import SpecModel

MAX_RESERVED = 1024
Part = Annotated[int, Field(ge=1, le=100)]


class NeighbourSpec(SpecModel):
    """Workers of stress-ng that run beside every deployment of a run, ceilings included."""

    workers: dict[Literal["cpu", "io", "memory"], Part] = Field(min_length=1)
    """Kinds of workers, each with its part of them: `{cpu: 2, memory: 1}`."""
    load_percent: float = Field(100, gt=0, le=100)
    """Number of workers, as a part of the cores that count; at least one of each kind."""
    reserved_cores: int = Field(0, ge=0, le=MAX_RESERVED)
    """Cores of the machine that do not count; at least one does."""
    memory_percent: float | None = Field(None, gt=0, le=100)
    """Memory of all memory workers together, as a part of the machine's; None: stress-ng's own, 256 MiB each."""
    cores: tuple[int, ...] = ()
    """Cores that the workers run on; none: those on which neither switch, VNFs nor generator are, and where there is no
    such core all of them."""
