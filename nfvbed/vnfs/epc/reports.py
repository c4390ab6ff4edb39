"""The outcome of attaching and detaching UEs, and the rates and times that the functions allow."""

from collections import Counter

from nfvbed.patience import patient
from nfvbed.records import Record
from nfvbed.spec.bearers import Bearer

ANSWER_S = patient(5.0)
"""How long the MME may take to answer: one whose pools are empty does not answer at all."""
NO_ANSWER = "no answer"
BURST, BURST_NS = 20, 9_500_000_000
"""Attaches in any such time: each holds three of the serving gateway's 64 GTP transactions for 9 s, and what finds none
free is not answered."""


class Outcome(Record):
    """The outcome of one UE's attach or detach."""

    imsi: str
    duration_ns: int
    """From the UE's first message to its last, or until the wait for it ended."""
    failure: str = ""
    """Why it did not succeed, in the words of TS 24.301 and TS 36.413, or `no answer`; empty: it did."""


class AttachReport(Record):
    """The outcome of attaching UEs, or of detaching them."""

    outcomes: tuple[Outcome, ...]
    busy_ns: int
    """In which at least one UE was on its way: pauses that the functions need are left out."""
    mme_answers: bool = True
    """Whether the MME answered an S1 Setup after a UE had got no answer; True as well where it was not asked."""
    malformed: int = 0
    """Messages of the MME's that could not be read, or were not signed: they are left out and logged."""

    @property
    def attached(self) -> int:
        """How many succeeded."""
        return sum(1 for outcome in self.outcomes if not outcome.failure)

    @property
    def failures(self) -> dict[str, int]:
        """How many did not, by cause."""
        return dict(Counter(outcome.failure for outcome in self.outcomes if outcome.failure))


class CarriedBearers(Record):
    """The bearers that there are."""

    sgw: str
    """The serving gateway's address on S1-U; empty: there are none."""
    bearers: tuple[Bearer, ...]
