"""The loop-back on vhost-user ports: both ends of one socket in the generator itself.

Port 0 is the virtio side (the server) and port 1 the vhost side (the client), so the generator's one thread also does
what is the switch's part in a real trial: it copies every frame out of and into the ring. What it reaches is therefore
a *lower bound* of what the generator can do beside a switch that does the copying on its own core; a switch may well
exceed it. The ceiling in the switch's own arrangement is the reference, testpmd io (`testpmd_io.py`).
"""

from pathlib import Path

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ports import vhost_user
from nfvbed.dataplanes.ports.switchless import SwitchlessVhostUser
from nfvbed.errors import NfvbedError
from nfvbed.host.native import native_binary
from nfvbed.host.timing import Steps
from nfvbed.records import (
    CellRole,
    Deployment,
    GeneratorPort,
    PortKind,
    Readiness,
    Support,
)
from nfvbed.spec.variant import Variant


class LoopbackVhost(SwitchlessVhostUser):
    """Nothing but a place for the generator's socket: no switch, no core but the generator's."""

    kind = "loopback-vhost"
    directory_is = "the loop-back's run directory"

    def probe(self, variant: Variant) -> Support:
        """It needs the generator alone."""
        try:
            native_binary("nfvgen")
        except NfvbedError as failure:
            return Support.unsupported(variant.name, failure.what, failure.fix)
        return Support(variant=variant.name, readiness=Readiness.READY)

    def deploy(self, request: DeployRequest) -> Deployment:
        """Name the socket that the generator's ports share."""
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
        """Give both ends of a socket."""
        vhost = GeneratorPort(
            engine="dpdk", spec=f"net_vhost0,iface={path},client=1,queues=1", kind=PortKind.VHOST_USER
        )
        return vhost_user.server_port(0, path, size), vhost
