"""A chain as it runs: the VNFs in the order of the path, what was counted at each hop, and the switch's rules.

And what an order is, before anything is asked to forward by it.
"""

from collections.abc import Sequence

from nfvbed.errors import UsageError
from nfvbed.records.trial import Hop, Record


class ChainCable(Record):
    """Two ports of the switch that rules join, and the frames that these have matched since they were written."""

    first: str
    """Port nearer to outside end 0: `p0`, `v2b`."""
    second: str
    forward_packets: int
    """From the first to the second."""
    backward_packets: int
    cookies: tuple[int, ...]
    """Cookies of its rules in the switch."""


class ChainVnf(Record):
    """A VNF of the chain."""

    name: str
    kind: str
    forwarding: str
    cores: tuple[int, ...] = ()


class ChainReport(Record):
    """The deployment on a site, as a path."""

    site: str
    variant: str
    topology: str
    since: str
    """When and by whom it was deployed."""
    path: tuple[str, ...]
    """VNFs from outside end 0 to outside end 1."""
    vnfs: tuple[ChainVnf, ...]
    """The VNFs, in the order of their numbers."""
    hops: tuple[Hop, ...] = ()
    """In the order of the path; none where `uncounted` says why."""
    uncounted: str = ""
    cables: tuple[ChainCable, ...] = ()
    """In the order of the path; none where the switch forwards by no rules of nfvbed's."""
    fixed: str = ""
    """Why the order cannot be changed while it runs; empty: it can."""
    lengths: tuple[int, ...] = ()
    """Chains that it could be deployed again as, in VNFs; none: not from here."""


def order_of(names: Sequence[str], vnfs: Sequence[str]) -> tuple[int, ...]:
    """Return an order of VNF names as their numbers.

    Args:
        names: the VNFs in the order that is asked for.
        vnfs: those that run, as they are numbered.

    Raises:
        UsageError: a name is missing, unknown or there twice.
    """
    wrong = [f"{name} is not running" for name in dict.fromkeys(names) if name not in vnfs]
    wrong += [f"{name} is named {names.count(name)} times" for name in vnfs if names.count(name) > 1]
    wrong += [f"{name} is missing" for name in vnfs if name not in names]
    if wrong:
        raise UsageError(
            "an order names every VNF that runs exactly once",
            where=",".join(names) or "an empty order",
            observed="; ".join(wrong),
            fix=f"order these: {', '.join(vnfs)}; for another number of VNFs deploy again: nfvbed steer --length",
        )
    return tuple(vnfs.index(name) for name in names)
