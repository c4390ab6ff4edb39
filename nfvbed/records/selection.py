"""The selection of runs: measured, simulated, and hidden ones."""

from typing import Final

from pydantic import Field

from nfvbed.records.trial import Record


class Selection(Record):
    """Some of the runs."""

    simulated: bool | None = None
    """Only those, or only the others; None: both."""
    hidden: bool = True
    """Whether runs that people have hidden are among them."""


EVERY: Final = Selection()
MEASURED: Final = Selection(simulated=False, hidden=False)
"""What answers rest on, where nothing else is asked for."""
SIMULATED: Final = Selection(simulated=True, hidden=False)


class OmittedRuns(Record):
    """Runs that are not among the measured ones that are shown."""

    simulated: int = Field(default=0, ge=0)
    hidden: int = Field(default=0, ge=0)
    """Measured ones that people have hidden."""

    def __bool__(self) -> bool:
        return bool(self.simulated or self.hidden)

    @property
    def words(self) -> str:
        """Both numbers, as people write them; empty: there are none."""
        numbers = ((self.simulated, "simulated"), (self.hidden, "hidden"))
        named = [f"{number} {what} run{'' if number == 1 else 's'}" for number, what in numbers if number]
        return " and ".join(named)
