"""Which of its APIs a Tacker has: it is asked, since its document of versions names `v1.0` in all releases."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from tackerclient.common import exceptions as tacker_errors

from nfvbed.cloud.tacker.connection import asking, is_missing, status
from nfvbed.errors import OnboardError, UnsupportedError

LAST_WITH_LEGACY = "Tacker 10.0.0 (OpenStack 2023.2)"
"""From 11.0.0 on its `v1.0` has nothing but VIMs (`RESOURCE_ATTRIBUTE_MAP` of `tacker.extensions.vnfm`)."""
FIRST_WITH_SOL = "Tacker 3.0.0 (OpenStack Ussuri)"
"""The first one with VNF instances (`tacker.api.vnflcm.v1`)."""
FIRST_WITH_V2 = "Tacker 6.0.0 (OpenStack Xena)"
"""The first one with `tacker.sol_refactored`."""
_FORBIDDEN = 403


@dataclass(frozen=True)
class ServedApis:
    """The APIs that a Tacker has."""

    legacy: bool
    """VNFDs and VNFs below `/v1.0`."""
    sol: bool
    """VNF packages and VNF instances below `/vnfpkgm/v1` and `/vnflcm/v1`."""
    sol_v2: bool = False
    """VNF instances below `/vnflcm/v2`, beside those of v1."""

    def has(self, api: str) -> bool:
        """Return whether it has an API: `legacy`, `sol` or `sol-v2`."""
        return {"legacy": self.legacy, "sol": self.sol, "sol-v2": self.sol_v2}[api]

    def require(self, api: str) -> None:
        """Refuse an API that this Tacker does not have.

        Args:
            api: `legacy`, `sol` or `sol-v2`.

        Raises:
            UnsupportedError: it does not have it; with the release that has.
        """
        if not self.has(api):
            raise self.lacking(api)

    def lacking(self, api: str) -> UnsupportedError:
        """Return the error for an API that this Tacker does not have."""
        if api == "legacy":
            return UnsupportedError(
                "this Tacker has no legacy API",
                observed=f"GET /v1.0/vnfs: 404; the last release that takes templates is {LAST_WITH_LEGACY}",
                fix="the SOL form: onboarding: sol in the site's file, a SOL001 package (CSAR) for a VNF of your own",
            )
        if api == "sol-v2":
            return UnsupportedError(
                "this Tacker has no version 2 of the SOL API",
                observed=f"GET /vnflcm/v2/api_versions: 404; the first release that has it is {FIRST_WITH_V2}",
                fix="onboarding: sol in the site's file, which is version 1",
            )
        return UnsupportedError(
            "this Tacker has no SOL API",
            observed=f"GET /vnflcm/v1/vnf_instances: 404; the first release that has it is {FIRST_WITH_SOL}",
            fix="the legacy form: onboarding: legacy in the site's file, a template for a VNF of your own",
        )


def probe(tacker: Any) -> ServedApis:
    """Ask a Tacker for the VNFs of each API; 404 is the answer of one that does not have it.

    Raises:
        OnboardError: it does not answer, or has neither.
    """
    with asking("which APIs Tacker has"):
        sol = _answers(tacker.list_vnf_instances)
        found = ServedApis(
            _answers(tacker.list_vnfs), sol, sol and _answers(partial(tacker.show_vnf_lcm_versions, "v2"))
        )
    if not (found.legacy or found.sol):
        raise OnboardError(
            "what answers at Tacker's address has none of its APIs",
            observed="GET /v1.0/vnfs and GET /vnflcm/v1/vnf_instances: 404",
            fix="correct the endpoint of nfv-orchestration (openstack endpoint list); it ends with the port",
        )
    return found


def _answers(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except tacker_errors.TackerException as failure:
        if is_missing(failure):
            return False
        if status(failure) != _FORBIDDEN:
            raise
    return True
