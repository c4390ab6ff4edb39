"""What probes find of what a host can run, and the answer that a site makes of it."""

from collections.abc import Callable

from nfvbed.errors import NfvbedError
from nfvbed.records import Readiness, Record, Support


class Fitness(Record):
    """What a probe found of something that this host can run; for what it cannot run, the probe raises."""

    limited: bool = False
    """Whether it runs with less than it asks for: the reason says how, the fix what to do."""
    reason: str = ""
    fix: str = ""


def support_of(name: str, probe: Callable[[], Fitness]) -> Support:
    """Run a probe for a site; whatever it raises becomes the reason and the fix."""
    try:
        found = probe()
    except NfvbedError as failure:
        return refused(name, failure)
    readiness = Readiness.DEGRADED if found.limited else Readiness.READY
    return Support(variant=name, readiness=readiness, reason=found.reason, fix=found.fix)


def refused(name: str, failure: NfvbedError) -> Support:
    """Return that something cannot run on a site, with a failure's reason and fix."""
    reason = f"{failure.what}: {failure.observed}" if failure.observed else failure.what
    return Support(variant=name, readiness=Readiness.UNSUPPORTED, reason=reason, fix=failure.fix)
