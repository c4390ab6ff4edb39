"""All that one page shows: each part, or what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from nfvbed_horizon.address import address_of
from nfvbed_horizon.asking import Asking
from nfvbed_horizon.rows import Deployments, Runs, deployments_of, runs_of
from nfvbed_horizon.trouble import Trouble


@dataclass(frozen=True)
class Look:
    """One look at nfvbed; what is None could not be read, for the reason in `troubles`."""

    url: str = ""
    """Of the dashboard; empty: none is named."""
    deployments: Deployments | None = None
    runs: Runs | None = None
    troubles: tuple[Trouble, ...] = ()


def look(settings: object) -> Look:
    """Ask the dashboard that Horizon's settings name; whatever fails is a part of the answer."""
    try:
        address = address_of(settings)
    except Trouble as trouble:
        return Look(troubles=(trouble,))
    asking = Asking(address)
    deployments, runs = None, None
    troubles: list[Trouble] = []
    try:
        deployments = deployments_of(asking.get("/api/deployments"), address.sites)
    except Trouble as trouble:
        troubles.append(trouble)
    try:
        runs = runs_of(asking.get("/api/overview"), address.url)
    except Trouble as trouble:
        if trouble.what not in {one.what for one in troubles}:
            troubles.append(trouble)
    return Look(address.url, deployments, runs, tuple(troubles))
