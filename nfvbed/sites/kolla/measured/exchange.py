"""Twins that exchange their variants between rounds: the rack is taken down and deployed again."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nfvbed.compare.differences.descriptions import differences
from nfvbed.errors import UnsupportedError
from nfvbed.plan.order import is_exchanged
from nfvbed.sites.kolla.executor import deploying, destroying, succession
from nfvbed.sites.kolla.executor import journal as journals
from nfvbed.sites.kolla.executor.deploying import RackRequest
from nfvbed.sites.kolla.measured import twins
from nfvbed.sites.kolla.measured.cloud import DeployedRack
from nfvbed.sites.kolla.pinning import Pinning, pinned_by
from nfvbed.sites.stages import LoggedProgress
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec

_log = logging.getLogger(__name__)


def wanted_in(project: Project, site: KollaSiteSpec, number: int) -> Pinning:
    """Return which compute has which variant in a round, where twins exchange their variants (ABBA)."""
    return pinned_by(project, site.exchanged() if is_exchanged(number) else site)


def require_twins(site: KollaSiteSpec, described: Mapping[str, Mapping[str, Any]]) -> None:
    """Make sure that two computes are alike: otherwise their variants cannot be exchanged within one run.

    Args:
        described: its two pinned computes, described by `twins.describe`.

    Raises:
        UnsupportedError: their host hashes differ; with what differs.
    """
    (one, first), (other, second) = described.items()
    if twins.hash_of(first) == twins.hash_of(second):
        return
    raise UnsupportedError(
        f"{one} and {other} are no twins: their variants are not exchanged",
        where=f"deploy/sites/{site.name}.yml swap",
        observed="; ".join(differences(first, second)),
        fix="make them alike, or swap: never; what is measured on them then compares systems",
    )


def exchange(project: Project, rack: DeployedRack, pinning: Pinning) -> None:
    """Take a rack down, and deploy it with a changed pinning.

    Raises:
        BusyError, ConfigurationError, PrerequisiteError, StageFailed, InterruptedRunError: as `deploy` and `destroy`.
    """
    found = journals.read(rack.places)
    inventory = Path(found.inventory) if found and found.inventory else None
    progress = LoggedProgress()
    _log.info("site %s: %s", rack.site.name, pinning.name)
    wish = RackRequest(pinning, rack.site, rack.release, inventory)
    deploying.prepare(project, wish)  # before anything is taken down for it
    succession.require_machines(project, wish)
    for line in destroying.destroy(project, rack.site, progress):
        progress.say(line)
    deploying.deploy(project, wish, progress, succession.examine)
