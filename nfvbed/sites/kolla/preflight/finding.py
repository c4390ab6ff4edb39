"""One fault of a rack, as the preflight finds it."""

from collections.abc import Collection, Iterable

from nfvbed.records import Record


class Finding(Record):
    """A fault, with what has to be changed. While one stands nothing is deployed."""

    machine: str
    """Name of the machine in the site's file; empty: it is no machine's."""
    what: str
    """What is wrong, in one sentence."""
    key: str
    """File and key that says otherwise: `deploy/sites/rack.yml hosts.compute1.nics[1].pci`."""
    observed: str
    """What was seen, and where."""
    fix: str
    """What to change."""
    prepared_by: str = ""
    """Name of nfvbed's role that makes it so when it prepares the machine (`nfvbed_host`): such a finding stands in the
    way of Kolla's deployment, and not of that role. Empty: nobody does."""
    stops: bool = True
    """Whether nothing may be deployed while it stands; otherwise it is something that the cloud will not be able to
    do."""


def blocking(findings: Iterable[Finding], roles: Collection[str] = ()) -> list[Finding]:
    """Return those that stand in the way of what is to be deployed.

    Args:
        findings: of the preflight.
        roles: that are going to run before, and make so what they are named for.
    """
    return [finding for finding in findings if finding.stops and finding.prepared_by not in roles]
