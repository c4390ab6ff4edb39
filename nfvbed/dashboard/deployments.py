"""What is deployed on the sites of the server's project, as it was written down; no site is asked."""

from collections.abc import Callable

from fastapi import APIRouter

from nfvbed.dashboard.api import PROBLEMS
from nfvbed.dashboard.results.shared import SharedReadings
from nfvbed.errors import UnsupportedError
from nfvbed.records import Record


class OnboardedVnf(Record):
    """A VNF on a deployed data plane."""

    name: str
    kind: str
    forwarding: str
    host: str = ""
    """Compute that its instance is on; empty: it runs on this host."""
    instance: str = ""
    """Nova's id."""
    stack: str = ""
    """Heat's id; empty: it has none, or it is not known."""
    tacker_api: str = ""
    """Which of Tacker's APIs onboarded it: `legacy` or `sol`; `existing`: it was there already."""
    tacker_id: str = ""
    """Tacker's id of the VNF or VNF instance."""


class DeploymentState(Record):
    """A deployment on a site, with its VNFs."""

    site: str
    id: str
    variant: str
    topology: str
    computes: tuple[str, ...]
    """Compute nodes of a cloud; none: the deployment is on this host, or they are not known."""
    vnfs: tuple[OnboardedVnf, ...]
    since: str
    """When it was deployed, and by which command."""


class UnreadableSite(Record):
    """A site of which it is not known what is deployed there."""

    site: str
    what: str
    observed: str
    fix: str


class DeploymentsAnswer(Record):
    """The deployments on all sites, and the sites that cannot be read."""

    deployments: tuple[DeploymentState, ...]
    not_readable: tuple[UnreadableSite, ...]


FRESH_S = 3.0
"""How long an answer is one for all who ask: files of all sites are read for it."""
FindDeployments = Callable[[], DeploymentsAnswer]


def no_sites() -> DeploymentsAnswer:
    """Raise, as the server knows a store alone and no sites.

    Raises:
        UnsupportedError: always.
    """
    raise UnsupportedError("this server knows no sites", where="/api/deployments", fix="start it as nfvbed dashboard")


def api_of_deployments(find: FindDeployments) -> APIRouter:
    """Return the route about what is deployed now."""
    router = APIRouter(prefix="/api", responses={**PROBLEMS, 409: PROBLEMS[400]})
    shared: SharedReadings[DeploymentsAnswer] = SharedReadings("what is deployed", FRESH_S)

    @router.get("/deployments")
    def get_deployments() -> DeploymentsAnswer:
        return shared.read(None, find)

    return router
