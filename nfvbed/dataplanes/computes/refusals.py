"""Refuses, by name, options that do not reach a compute of a cloud, and paths that it does not have."""

from collections.abc import Mapping

from nfvbed.cloud.devcloud.contents import NETWORKS
from nfvbed.errors import UnsupportedError
from nfvbed.spec.layout import Layout, chain_length
from nfvbed.spec.variant import Variant

Others = Mapping[str, tuple[object, str]]
"""Options that do not reach it, by key: the value that they have all the same (a tuple: one of these), and why."""
LONGEST = 1 + sum(network.kind == "local" for network in NETWORKS)
"""VNFs of the longest chain: such networks join them."""
JOINED = "data0 and data1 are two networks, link1 and link2 join VNFs"
"""Why other paths than chains are none."""
_BARE = "p2p"
"""The topology of a data plane that is deployed without VNFs."""


def refuse(variant: Variant, key: str, fits: object, why: str) -> None:
    """Refuse an option unless it has the value that it has in the cloud anyhow.

    Args:
        fits: the only value, or a tuple of those that fit.
        why: reason why it cannot have another value.

    Raises:
        UnsupportedError: with the key, its value and what it would have to be.
    """
    value = getattr(variant.options, key)
    fitting = fits if isinstance(fits, tuple) else (fits,)
    if value not in fitting:
        raise UnsupportedError(
            f"{key} of {variant.name} does not reach a compute of a cloud",
            where=f"options.{key}",
            observed=f"{value!r}; {why}",
            fix=f"{key}: {' or '.join(map(repr, fitting))}; or measure it on site lab",
        )


def refuse_all(variant: Variant, others: Others) -> None:
    """Refuse each of these options, by key: the values that fit, and why."""
    for key, (fits, why) in others.items():
        refuse(variant, key, fits, why)


def require_chain(plan: Layout, longest: int, why: str) -> None:
    """Refuse paths that are no chain of so many VNFs between two ports.

    Raises:
        UnsupportedError: it is another path, or too long.
    """
    if plan.name == _BARE:
        return
    length = chain_length(plan.name)
    if length is None or length > longest:
        raise UnsupportedError(
            f"topology {plan.name} has no path there",
            where="topology",
            observed=why,
            fix="pvp" + ("" if longest == 1 else f", or a chain of at most {longest} VNFs"),
        )
