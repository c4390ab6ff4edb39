"""The loop-back on vhost-user ports: both ends of one socket in the generator itself.

Port 0 is the virtio side (the server) and port 1 the vhost side (the client), so the generator's one thread also does
what is the switch's part in a real trial: it copies every frame out of and into the ring. What it reaches is therefore
a *lower bound* of what the generator can do beside a switch that does the copying on its own core; a switch may well
exceed it. The ceiling in the switch's own arrangement is the reference, testpmd io (`testpmd_io.py`).
"""

from pathlib import Path

from nfvbed.deploy.dataplane import DeployRequest
from nfvbed.deploy.dataplanes import vhost_user_ports
from nfvbed.deploy.dataplanes.switchless import SwitchlessVhostUser
from nfvbed.deploy.lab.timing import Steps
from nfvbed.deploy.native import native_binary
from nfvbed.errors import NfvbedError
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
            return Support(variant=variant.name, readiness=Readiness.UNSUPPORTED, reason=failure.what, fix=failure.fix)
        return Support(variant=variant.name, readiness=Readiness.READY)

    def deploy(self, request: DeployRequest) -> Deployment:
        """Name the socket that the generator's ports share."""
        variant, workspace = request.variant, request.workspace
        options = variant.options
        steps = Steps()
        with steps.timed("deploy.ports"):
            path = workspace.directory / "loop.sock"
            vhost_user_ports.refuse_busy(path)
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
        return vhost_user_ports.server_port(0, path, size), vhost
