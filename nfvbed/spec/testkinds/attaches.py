"""What a file may say of tests of a mobile core's control plane: attaches, sessions, functions that die."""

from abc import abstractmethod
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.pcrf import MOST_ATTACHED, MOST_CYCLED, NEXTEPC
from nfvbed.spec.testkinds.base import NamedTest

MOST_UES = max(MOST_ATTACHED.values())
"""UEs of one start of the functions, with the PCRF that lets most of them attach."""
USUAL_UES = MOST_ATTACHED[NEXTEPC]
AT_ONCE = 20
"""Attaches that the serving gateway has transactions for at once."""
ATTACHES_PER_S = 2.1
"""Estimate: 20 attaches take 9.5 s."""
START_S = 5.0
"""Estimate of the start of all functions."""
FRAMES_PER_S = 2_000
"""Over the bearers, one way after the other."""

Ues = Annotated[int, Field(ge=1, le=MOST_UES)]


class CoreTest(NamedTest):
    """A test of the mobile core of topology `vepc`; elsewhere there is none."""

    limited_by: ClassVar[str] = "ues"
    """Keys that say how many UEs attach between two starts of the functions."""

    @property
    @abstractmethod
    def most_ues(self) -> int:
        """The most attaches of one start of the functions."""


class AttachRateTest(CoreTest):
    """UEs attach to the mobile core: attaches per second, their latency, failures by cause."""

    limited_by: ClassVar[str] = "ues_per_start"
    kind: Literal["attach-rate"]
    attaches: int = Field(200, ge=1, le=10_000)
    """Number of attaches of each row."""
    in_flight: tuple[Annotated[int, Field(ge=1, le=AT_ONCE)], ...] = Field((1,), min_length=1)
    """Numbers of UEs that attach at the same time, a row each."""
    ues_per_start: Ues = USUAL_UES
    """Attaches until the functions are restarted; they take 40, and 50 with pcrf stand-in."""

    @property
    def most_ues(self) -> int:
        """The most attaches of one start of the functions."""
        return min(self.attaches, self.ues_per_start)

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of attaching and restarting, and the rows."""
        starts = -(-self.attaches // self.ues_per_start)
        return len(self.in_flight) * (self.attaches / ATTACHES_PER_S + starts * START_S), len(self.in_flight)


class SessionsTest(CoreTest):
    """UEs stay attached while frames go over the bearer of each; then they detach and attach again."""

    limited_by: ClassVar[str] = "ues, and cycles times cycle_ues,"
    kind: Literal["sessions"]
    ues: tuple[Ues, ...] = Field((10, 20, 40), min_length=1)
    """Numbers of UEs, a row each, on functions that have just been started."""
    hold_s: float = Field(5, ge=0, le=600)
    """Seconds for which they stay attached between the frames and those that are sent once more."""
    frames: int = Field(100, ge=1, le=10_000)
    """Frames over each bearer, each way."""
    cycles: int = Field(3, ge=0, le=MOST_CYCLED)
    """Number of cycles of attach and detach in one more row; 0: no such row."""
    cycle_ues: Ues = 10
    """Number of UEs in each cycle."""

    @model_validator(mode="after")
    def cycles_fit_the_pools(self) -> Self:
        if self.cycles * self.cycle_ues > MOST_CYCLED:
            raise ValueError(
                f"{self.cycles} cycles of {self.cycle_ues} UEs are {self.cycles * self.cycle_ues} attaches;"
                f" one start of the functions takes {MOST_CYCLED} that detach again"
            )
        return self

    @property
    def most_ues(self) -> int:
        """The most attaches of one start of the functions."""
        return max(*self.ues, self.cycles * self.cycle_ues)

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of attaching and of frames, and the rows."""
        attached = sum(self.ues) + 2 * self.cycles * self.cycle_ues
        over_bearers = 4 * self.frames * (sum(self.ues) + self.cycles * self.cycle_ues) / FRAMES_PER_S
        rows = len(self.ues) + (1 if self.cycles else 0)
        return attached / ATTACHES_PER_S + over_bearers + rows * START_S + len(self.ues) * self.hold_s, rows


CoreFunction = Literal["store", "hss", "pcrf", "mme", "sgw", "pgw"]


class RestorationTest(CoreTest):
    """Each function of the mobile core is killed under its bearers: which of them go on, and how long until all do."""

    kind: Literal["restoration"]
    functions: tuple[CoreFunction, ...] = Field(("store", "hss", "pcrf", "mme", "sgw", "pgw"), min_length=1)
    """Functions that are killed, a row each."""
    ues: Ues = 8
    """Number of UEs that are attached."""
    frames: int = Field(20, ge=1, le=10_000)
    """Frames over each bearer, each way, whenever it is looked at."""
    settle_s: float = Field(2, ge=0, le=600)
    """Seconds from the kill until the bearers are looked at: the other functions may act on it."""

    @property
    def most_ues(self) -> int:
        """The most attaches of one start of the functions."""
        return self.ues

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of attaching, restarting and waiting, and the rows."""
        once = 2 * (START_S + self.ues / ATTACHES_PER_S) + self.settle_s + 6 * self.frames * self.ues / FRAMES_PER_S
        return len(self.functions) * once, len(self.functions)
