"""Which VNF runs where: from a deployment's ports and the arrangement of cores to placements."""

from pathlib import Path

from nfvbed.deploy.lab.arrangement import Arrangement
from nfvbed.deploy.lab.workspace import Workspace
from nfvbed.onboard.vnf import SINK, SOURCE, VnfPlacement
from nfvbed.records import Deployment
from nfvbed.spec.layout import EndKind, Layout
from nfvbed.spec.vnf import VnfChoice


def placements(
    deployment: Deployment, plan: Layout, choice: VnfChoice, host: tuple[Workspace, Arrangement, Path]
) -> tuple[VnfPlacement, ...]:
    """Give every VNF its place, in the order of the path.

    Args:
        deployment: the data plane that stands, with the ports of the VNFs.
        plan: its topology.
        choice: the VNF; all places run the same.
        host: the workspace it starts in, the arrangement of cores, the root of the project.
    """
    workspace, arrangement, root = host
    cores = arrangement.vnf_cores
    used = [cores[index % len(cores)] for index in range(len(deployment.vnf_ports))]
    return tuple(
        VnfPlacement(
            index=index,
            choice=choice,
            does=_does(plan, index, choice),
            ports=ports,
            workspace=workspace,
            cores=(used[index],),
            control_cores=arrangement.control_cores,
            shares_core=used[index] == arrangement.generator_core or used.count(used[index]) > 1,
            root=root,
        )
        for index, ports in enumerate(deployment.vnf_ports)
    )


def _does(plan: Layout, index: int, choice: VnfChoice) -> str:
    """Tell what a VNF does: an end of the path sends or receives, whatever it could forward."""
    if index == 0 and plan.ends[0] is EndKind.SOURCE:
        return SOURCE
    if index == plan.vnfs - 1 and plan.ends[1] is EndKind.SINK:
        return SINK
    return choice.forwarding
