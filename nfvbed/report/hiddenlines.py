"""Says which figures may rest on trials that left their placement class and came back."""

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.hidden import HiddenShare
from nfvbed.report import wording

WORTH_TELLING = 0.05
"""Part of a row's or test's trials that hide a change, at most, from which on it is said."""
MOST = 6
"""So many are named, the worst first."""
BEGINNING = "Trials that look whole and left their placement class meanwhile, estimated"


def hidden_lines(comparison: Comparison) -> tuple[str, ...]:
    """Return one line on rows, searches and other tests alike; none where all are below `WORTH_TELLING`."""
    shares = [share for share in comparison.hidden if share.at_most >= WORTH_TELLING]
    if not shares:
        return ()
    worst = sorted(shares, key=lambda share: share.at_most, reverse=True)
    words = {_words(share) for share in worst}
    if len(worst) > MOST and len(words) == 1:
        return (f"{BEGINNING}: {words.pop()} of each of {len(worst)} rows and tests.",)
    named = "; ".join(f"{share.cell}, {share.test}: {_words(share)}" for share in worst[:MOST])
    more = f"; and {len(worst) - MOST} more" if len(worst) > MOST else ""
    return (f"{BEGINNING}: {named}{more}.",)


def _words(share: HiddenShare) -> str:
    return f"{wording.percent(share.estimated)}, at most {wording.percent(share.at_most)}"
