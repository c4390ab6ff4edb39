"""One fault of a rack, found by the preflight."""

from collections.abc import Collection, Iterable

from nfvbed.records import Record


class Finding(Record):
    """A fault, with what has to be changed. While there is one, nothing is deployed."""

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
    """Name of nfvbed's role that makes it so when it prepares the machine (`nfvbed_host`): such a finding
    keeps Kolla from deploying, and not that role from being run. Empty: none does."""
    stops: bool = True
    """Whether nothing may be deployed while it is so; otherwise it is something that the cloud will not be able to
    do."""


def blocking(findings: Iterable[Finding], roles: Collection[str] = ()) -> list[Finding]:
    """Return the findings that keep a variant from being deployed.

    Args:
        roles: names of roles that run before, and repair what findings name them for.
    """
    return [finding for finding in findings if finding.stops and finding.prepared_by not in roles]
