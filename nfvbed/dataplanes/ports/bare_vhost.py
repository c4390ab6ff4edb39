"""A VNF looped back alone on vhost-user ports: the generator is the vhost side of its sockets, and there is no switch.

The generator's thread also does what is the switch's part in a real trial: it copies every frame into and out of the
rings. Where the VNF shares the generator's core, what it reaches is a lower bound of what it could pass on beside a
switch that copies on a core of its own.
"""

from pathlib import Path

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ports import vhost_user
from nfvbed.dataplanes.ports.loopback_vhost import LoopbackVhost
from nfvbed.dataplanes.ports.switchless import SwitchlessVhostUser
from nfvbed.dataplanes.wiring import refuse_many_vnfs, vnf_ports
from nfvbed.host.timing import Steps
from nfvbed.records import CellRole, Deployment, GeneratorPort, PortKind, Support, VnfPort
from nfvbed.spec.layout import End
from nfvbed.spec.variant import Variant


class BareVhost(SwitchlessVhostUser):
    """Nothing but places for the VNF's two sockets."""

    kind = "bare-vhost"
    directory_is = "the run directory"

    def probe(self, variant: Variant) -> Support:
        """It needs the generator alone; whether the VNF runs is the VNF's business."""
        return LoopbackVhost().probe(variant)

    def deploy(self, request: DeployRequest) -> Deployment:
        """Name the sockets; the VNF makes them."""
        plan, directory = request.layout, request.workspace.directory
        refuse_many_vnfs(plan)
        options = request.variant.options
        steps = Steps()
        with steps.timed("deploy.ports"):
            sockets = vhost_user.sockets(directory, ("v1a", "v1b"))
        return Deployment(
            id=request.workspace.id,
            variant=request.variant.name,
            site="lab",
            topology=plan.name,
            role=CellRole.VNF,
            ports=self.ports(tuple(sockets.values()), options.ring_size),
            vnf_ports=vnf_ports(plan, lambda end: self.vnf_port(end, sockets[end.name], options.ring_size)),
            run_directory=str(directory),
            steps=steps.done,
        )

    def ports(self, paths: tuple[Path, ...], size: int) -> tuple[GeneratorPort, ...]:
        """Give the generator's ports, the vhost side of the VNF's sockets; `size`: of rings that it makes."""
        specs = [f"net_vhost{index},iface={path},client=1,queues=1" for index, path in enumerate(paths)]
        return tuple(GeneratorPort(engine="dpdk", spec=spec, kind=PortKind.VHOST_USER) for spec in specs)

    def vnf_port(self, end: End, path: Path, size: int) -> VnfPort:
        """Give the VNF's port on a socket."""
        return vhost_user.vnf_port(end, path, size)
