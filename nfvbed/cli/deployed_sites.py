"""What is deployed on all sites of a project, for the dashboard, which knows no site."""

import threading
from itertools import zip_longest

from nfvbed.dashboard.deployments import DeploymentsAnswer, DeploymentState, OnboardedVnf, UnreadableSite
from nfvbed.errors import NfvbedError, UnsupportedError
from nfvbed.records import VnfHandle
from nfvbed.sites.catalogue import open_site
from nfvbed.sites.deployed import DeploymentRecord, InstancePlacement
from nfvbed.spec.loader import Project


class DeployedSites:
    """Reads what each site of a project has written down; nothing is changed, and no lock is taken."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._one_at_a_time = threading.Lock()

    def __call__(self) -> DeploymentsAnswer:
        """Return what is deployed now; a site whose record cannot be read is listed with the reason.

        Several files may describe one place: what is deployed there is listed once, under the site it was deployed by.
        """
        with self._one_at_a_time:  # the first one imports what sites need
            found: dict[str, DeploymentState] = {}
            failed: dict[tuple[str, str], UnreadableSite] = {}
            for name in self._project.site_names:
                try:
                    deployed = self._find(name)
                except UnsupportedError:
                    continue  # a guest node's site, which this machine is not
                except NfvbedError as error:
                    known = UnreadableSite(site=name, what=error.what, observed=error.observed, fix=error.fix)
                    failed.setdefault((error.what, error.where), known)
                    continue
                if deployed is not None:
                    found[deployed.deployment.id] = state_of(deployed)
            return DeploymentsAnswer(deployments=tuple(found.values()), not_readable=tuple(failed.values()))

    def _find(self, name: str) -> DeploymentRecord | None:
        site = open_site(self._project.load_site(name), self._project.root)
        try:
            return site.find_deployed()
        finally:
            site.close()


def state_of(deployed: DeploymentRecord) -> DeploymentState:
    """Return what the dashboard says of a deployment."""
    deployment = deployed.deployment
    return DeploymentState(
        site=deployment.site,
        id=deployment.id,
        variant=deployed.variant.name,
        topology=deployment.topology,
        computes=deployed.computes,
        vnfs=tuple(_vnf(vnf, where) for vnf, where in zip_longest(deployment.vnfs, deployed.placed)),
        since=deployed.since,
    )


def _vnf(vnf: VnfHandle, where: InstancePlacement | None) -> OnboardedVnf:
    known = {}
    if where is not None:
        known = {
            "host": ", ".join(where.hosts),
            "instance": ", ".join(where.instances),
            "stack": where.stack,
            "tacker_api": where.tacker_api,
            "tacker_id": where.tacker_id,
        }
    return OnboardedVnf(name=vnf.name, kind=vnf.kind.value, forwarding=vnf.forwarding, **known)
