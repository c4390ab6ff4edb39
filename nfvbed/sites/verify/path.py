"""Sends a probe frame through an instance, and reads what can be read only while one runs."""

from collections.abc import Callable

from nfvbed.errors import NfvbedError
from nfvbed.records.findings import Finding, State
from nfvbed.sites.deployed import DeploymentRecord
from nfvbed.sites.site import Site
from nfvbed.spec.commands import TracedPath, trace_command
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.units import MIN_FRAME_SIZE_BYTES, NS_PER_S

TOPIC = "probe frame"
PATH = "pvp"
"""Path of an instance that is booted."""
_PROBED = "sent frames both ways"


def verify_with_path(
    site: Site, deployed: DeploymentRecord, variant: Variant, choice: Callable[[], VnfChoice | None] | None
) -> tuple[Finding, ...]:
    """Verify a deployment, then send frames through its instances, or one that is booted for that.

    Readings count from before: setting the path up writes the variant's settings to the switch again.

    Args:
        variant: as its file has it: the keys that are written there decide what a cloud can have.
        choice: returns the VNF that is booted where none runs; None: no frame is sent.

    Raises:
        UnsupportedError: the site cannot be verified.
    """
    found = {one.topic: one for one in site.inspect(deployed)}
    if choice is None:
        found[TOPIC] = Finding(topic=TOPIC, state=State.UNKNOWN, summary="none was sent", probed="not tried")
        return tuple(found.values())
    try:
        running = deployed.vnf is not None
        path = deployed.deployment.topology if running else PATH
        live = site.deploy(variant, path, vnf=deployed.vnf if running else choice())
        steps = dict(live.steps)
        waited = f", {steps['onboard.first-frame'] / NS_PER_S:.1f} s after it was asked for" if not running else ""
        what = "through the instances that run" if running else "through an instance that was booted for it"
        summary = f"frames came {what} ({path}){waited}"
        found[TOPIC] = Finding(topic=TOPIC, state=State.PRESENT, summary=summary, probed=_PROBED)
        again = {one.topic: one for one in site.inspect(deployed)}
        found |= {topic: again[topic] for topic, one in found.items() if one.state is State.UNKNOWN and topic in again}
    except NfvbedError as failure:
        observed = "; ".join(part for part in (failure.what, failure.where, failure.observed) if part)
        found[TOPIC] = Finding(
            topic=TOPIC,
            state=State.ABSENT,
            summary=observed,
            probed=_PROBED,
            fix=failure.fix or _traced(site, deployed, variant),
        )
    return tuple(found.values())


def _traced(site: Site, deployed: DeploymentRecord, variant: Variant) -> str:
    path = deployed.deployment.topology if deployed.vnf is not None else PATH
    return trace_command(TracedPath(variant.name, path, MIN_FRAME_SIZE_BYTES, deployed.vnf, site.name))
