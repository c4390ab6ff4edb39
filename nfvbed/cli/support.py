"""Whether this host can run what a command is about to set up."""

from nfvbed.deploy.lab.standing import find_standing
from nfvbed.onboard.site import OnboardingSite
from nfvbed.spec.variant import Variant


def require_host(lab: OnboardingSite, variant: Variant) -> None:
    """Probe a variant before it is set up: what a host lacks is told as such, not as a deployment that failed.

    What stands shows that the host can, and is not disturbed by a probe; whether it is the right one, `deploy` says.

    Raises:
        UnsupportedError, PrerequisiteError: this host cannot run it; with the probe's reason and fix.
        BusyError: another nfvbed is at work.
    """
    lab.begin()
    if find_standing() is None:
        lab.require(variant)
