"""A VNF looped back alone on vhost-user ports: the generator is the vhost side of its sockets, and there is no switch.

The generator's thread also does what is the switch's part in a real trial: it copies every frame into and out of the
rings. Where the VNF shares the generator's core, what it reaches is a lower bound of what it could pass on beside a
switch that copies on a core of its own.
"""

from nfvbed.deploy.dataplane import DeployRequest
from nfvbed.deploy.dataplanes import vhost_user_ports
from nfvbed.deploy.dataplanes.loopback_vhost import LoopbackVhost
from nfvbed.deploy.dataplanes.switchless import SwitchlessVhostUser
from nfvbed.deploy.lab.timing import Steps
from nfvbed.deploy.wiring import end_name, refuse_many_vnfs, vnf_ports
from nfvbed.records import CellRole, Deployment, GeneratorPort, PortKind, Support
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
        vhost_user_ports.check_queue_size(options.ring_size)
        steps = Steps()
        with steps.timed("deploy.ports"):
            sockets = vhost_user_ports.sockets(directory, ("v1a", "v1b"))
        specs = [f"net_vhost{index},iface={path},client=1,queues=1" for index, path in enumerate(sockets.values())]
        return Deployment(
            id=request.workspace.id,
            variant=request.variant.name,
            site="lab",
            topology=plan.name,
            role=CellRole.VNF,
            ports=tuple(GeneratorPort(engine="dpdk", spec=spec, kind=PortKind.VHOST_USER) for spec in specs),
            vnf_ports=vnf_ports(
                plan, lambda end: vhost_user_ports.vnf_port(end, sockets[end_name(end)], options.ring_size)
            ),
            run_directory=str(directory),
            steps=steps.done,
        )
