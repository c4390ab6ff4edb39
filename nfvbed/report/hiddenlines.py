"""Says which figures may rest on trials that left their placement class and came back."""

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.hidden import HiddenShare
from nfvbed.report import wording

WORTH_TELLING = 0.05
"""Part of a row's or test's trials that hide a change, at most, from which on it is said."""
MOST = 6
"""So many are named, the worst first."""


def hidden_lines(comparison: Comparison) -> tuple[str, ...]:
    """Return one line on rows, searches and other tests alike; none where all are below `WORTH_TELLING`."""
    shares = [share for share in comparison.hidden if share.at_most >= WORTH_TELLING]
    if not shares:
        return ()
    worst = sorted(shares, key=lambda share: share.at_most, reverse=True)
    named = "; ".join(_share(share) for share in worst[:MOST])
    more = f"; and {len(worst) - MOST} more" if len(worst) > MOST else ""
    return (f"Trials that look whole and left their placement class meanwhile, estimated: {named}{more}.",)


def _share(share: HiddenShare) -> str:
    estimated, at_most = wording.percent(share.estimated), wording.percent(share.at_most)
    return f"{share.cell}, {share.test}: {estimated}, at most {at_most}"
