"""What a search's controller ends with: the bounds that it found."""

from dataclasses import dataclass

from nfvbed.search.stop import SearchStopped


@dataclass(frozen=True)
class Bounds:
    """What the library knows for a goal; loads in frames/s."""

    lower: float | None
    upper: float | None
    conditional_throughput: float | None


@dataclass(frozen=True)
class SearchEnd:
    """How a controller ended."""

    bounds: tuple[Bounds, ...]
    """In the order of the goals."""
    stopped: SearchStopped | None
