"""One fault of a rack, as the preflight finds it."""

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
    """nfvbed's role that makes it so when it prepares the machine (`nfvbed_host`): such a finding stands in the way of
    Kolla's deployment, and not of that role. Empty: nobody does."""


def blocking(findings: "list[Finding]", roles: tuple[str, ...] = ()) -> "list[Finding]":
    """Return those that stand in the way.

    Args:
        findings: of the preflight.
        roles: that are going to run before what they would stand in the way of.
    """
    return [finding for finding in findings if finding.prepared_by not in roles or not finding.prepared_by]
