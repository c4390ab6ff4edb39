"""The path of what is deployed, with what was counted along it."""

from nfvbed.records import Deployment
from nfvbed.records.chain import ChainReport, ChainVnf
from nfvbed.records.readings import Part, Unavailable
from nfvbed.sites.deployed import DeploymentRecord
from nfvbed.sites.site import Site


def read_chain(site: Site, found: DeploymentRecord, deployment: Deployment) -> ChainReport:
    """Read the path of a deployment that stays.

    Args:
        found: record as it was found on the site.
        deployment: deployment as this command has it, with its VNFs.

    Raises:
        DeployError, SwitchDiedError, VnfDiedError: the path cannot be read.
    """
    control = site.chain(deployment)
    hops = site.look(deployment, Part.HOPS).hops
    names = [handle.name for handle in deployment.vnfs]
    return ChainReport(
        site=site.name,
        variant=deployment.variant,
        topology=deployment.topology,
        since=found.since,
        path=tuple(names[vnf] for vnf in deployment.order or range(len(names))),
        vnfs=tuple(
            ChainVnf(name=handle.name, kind=handle.kind.value, forwarding=handle.forwarding, cores=handle.cores)
            for handle in deployment.vnfs
        ),
        hops=() if isinstance(hops, Unavailable) else hops,
        uncounted=hops.reason if isinstance(hops, Unavailable) else "",
        cables=control.cables(),
        fixed=control.fixed,
        lengths=control.lengths,
    )
