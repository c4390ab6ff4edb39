"""The policy function (PCRF) of a mobile core, and the number of UEs that it attaches."""

from typing import Final, Literal

PcrfKind = Literal["nextepc", "stand-in"]
"""`nextepc`: its pcrfd, unmodified. `stand-in`: nfvbed's own, which gives the same answers on Gx."""
NEXTEPC: Final = "nextepc"
STAND_IN: Final = "stand-in"
MOST_ATTACHED: Final[dict[PcrfKind, int]] = {NEXTEPC: 40, STAND_IN: 50}
"""UEs of one start of the functions: nextepc 0.3.10 takes from pools that it does not refill. Its PCRF ends behind the
50th attach; with another one the MME stalls behind the 52nd, or the 50th where several are on their way."""

MOST_CYCLED: Final = 36
"""The same where each UE detaches again, with either PCRF: detaches take from the MME's pool too, which ends behind the
38th."""


def most_attached(pcrf: PcrfKind | None) -> int:
    """Return how many UEs one start of the functions attaches; None is nextepc's PCRF."""
    return MOST_ATTACHED[pcrf or NEXTEPC]
