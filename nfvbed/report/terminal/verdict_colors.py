"""The colour of each verdict in a terminal, the same on the screen and in its details."""

from typing import Final

from nfvbed.compare.verdict import Verdict

COLORS: Final = {
    Verdict.HIGHER: "green",
    Verdict.LOWER: "red",
    Verdict.SAME: "",
    Verdict.UNDECIDED: "yellow",
    Verdict.DEPENDS_ON_PLACEMENT: "yellow",
    Verdict.NOT_COMPARABLE: "magenta",
}
