"""The ceilings of vhost-user ports: the generator looped back, a VNF alone, and testpmd in the switch's place.

Looped back, port 0 is the virtio side (the server) and port 1 the vhost side (the client) of one socket. So the
generator's one thread also does what is the switch's part in a real trial: it copies every frame out of and into the
ring. Its rate is therefore a *lower bound* of what the generator can do beside a switch that copies on its own core; a
switch may well exceed it. The ceiling in the switch's own arrangement is the reference.

To a VNF alone the generator is the vhost side of its sockets, and copies as well. Where the VNF shares the generator's
core, its rate is a lower bound of what it could pass on beside a switch that copies on its own core.
"""

from pathlib import Path
from typing import ClassVar

from nfvbed.dataplanes.dataplane import Ceiling, DeployRequest
from nfvbed.dataplanes.ports import vhost_user
from nfvbed.dataplanes.ports.testpmd_io import TestpmdIo
from nfvbed.dataplanes.wiring import refuse_many_vnfs, vnf_ports
from nfvbed.errors import SwitchDiedError
from nfvbed.host.timing import Steps
from nfvbed.records import CellRole, Deployment, GeneratorPort, Hop, PortKind, SwitchCounters, VnfPort, WorkThread
from nfvbed.spec.layout import End


class SwitchlessVhostUser(Ceiling):
    """Vhost-user sockets in a run directory; the programs at both ends are not part of the deployment."""

    directory_is: ClassVar[str]
    """What its run directory is, for the message when it is gone."""

    def verify(self, deployment: Deployment) -> None:
        """Check that the run directory is still there; nothing else of the deployment itself is left."""
        if not Path(deployment.run_directory).is_dir():
            raise SwitchDiedError(f"{self.directory_is} is gone", where=deployment.run_directory, fix="deploy again")

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Return None: there is no switch."""
        return None

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Return no hops: nothing is between the two ends."""
        return ()

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return no threads: there is no switch."""
        return ()


class LoopbackVhost(SwitchlessVhostUser):
    """Only a place for the generator's socket: no switch, no core but the generator's."""

    kind = "loopback-vhost"
    directory_is = "the loopback's run directory"

    def deploy(self, request: DeployRequest) -> Deployment:
        """Choose the path of the socket that the generator's two ports share."""
        variant, workspace = request.variant, request.workspace
        options = variant.options
        steps = Steps()
        with steps.timed("deploy.ports"):
            path = workspace.directory / "loop.sock"
            vhost_user.refuse_busy(path)
        return Deployment(
            id=workspace.id,
            variant=variant.name,
            site="lab",
            topology=request.layout.name,
            role=CellRole.LOOPBACK,
            ports=self.ports(path, options.ring_size),
            run_directory=str(workspace.directory),
            steps=steps.done,
        )

    def ports(self, path: Path, size: int) -> tuple[GeneratorPort, GeneratorPort]:
        """Return both ends of a socket."""
        vhost = GeneratorPort(
            engine="dpdk", spec=f"net_vhost0,iface={path},client=1,queues=1", kind=PortKind.VHOST_USER
        )
        return vhost_user.server_port(0, path, size), vhost


class BareVhost(SwitchlessVhostUser):
    """Only places for the VNF's two sockets."""

    kind = "bare-vhost"
    directory_is = "the run directory"

    def deploy(self, request: DeployRequest) -> Deployment:
        """Choose the paths of the sockets, which the VNF makes."""
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
        """Return the generator's ports, the vhost side of the VNF's sockets.

        Args:
            size: descriptors of each ring, where the generator decides that.

        Args:
            size: descriptors of each ring, where the VNF makes the rings.
        """
        specs = [f"net_vhost{index},iface={path},client=1,queues=1" for index, path in enumerate(paths)]
        return tuple(GeneratorPort(engine="dpdk", spec=spec, kind=PortKind.VHOST_USER) for spec in specs)

    def vnf_port(self, end: End, path: Path, size: int) -> VnfPort:
        """Return the VNF's port on a socket."""
        return vhost_user.vnf_port(end, path, size)


CEILINGS = {CellRole.LOOPBACK: LoopbackVhost, CellRole.VNF: BareVhost, CellRole.REFERENCE: TestpmdIo}
