"""A small nfvbed in a process of its own, to be interrupted and killed. Its data plane makes one of each kind of thing.

lab_driver.py hold|once|fail|verb VERB ARGUMENT...
"""

import sys
import time
from importlib import import_module

from nfvbed.dataplanes.catalogue import CATALOGUE, open_project
from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest
from nfvbed.errors import DeployError, NfvbedError, SwitchDiedError
from nfvbed.host.fitness import Fitness
from nfvbed.host.ledger.entries import LinkEntry
from nfvbed.host.network import links, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.sites.lab.planes import LabPlanes
from nfvbed.spec.variant import Variant

HOST_LINK = "nfvbedt0"


class FullPlane(DataPlane):
    """Namespace, links, hugepages, a process and a child of it, and a link of the host."""

    kind = "full"
    fails = False

    def probe(self, variant: Variant) -> Fitness:
        return Fitness()

    def deploy(self, request: DeployRequest) -> Deployment:
        workspace = request.workspace
        netns = workspace.network_namespace("one")
        inside(netns, lambda: links.add_veth("g0", "g1", (veth.MACS["g0"], veth.MACS["g1"])))
        workspace.ledger.record(LinkEntry(name=HOST_LINK))
        links.add_veth(HOST_LINK, "nfvbedt1", ("02:4e:46:56:02:00", "02:4e:46:56:02:01"))
        workspace.hugepages(16)
        # The shell's child leaves its group and session: only the cgroup still knows it.
        argv = ["sh", "-c", "setsid sleep 600 & exec sleep 600"]
        switch = workspace.spawn("switch", argv, cores=request.arrangement.switch_cores, netns=netns)
        if self.fails:
            raise DeployError("the switch does not come up", observed=switch.log_tail())
        return Deployment(
            id=workspace.id,
            variant=request.variant.name,
            site="lab",
            topology=request.layout.name,
            ports=veth.generator_ports(netns),
            run_directory=str(workspace.directory),
        )

    def verify(self, deployment: Deployment) -> None:
        from pathlib import Path

        if not Workspace.attach(Path(deployment.run_directory)).process("switch").alive():
            raise SwitchDiedError("the switch is dead")

    counters = hops = work_threads = lambda self, deployment: None  # type: ignore[assignment]


def main(action: str, *arguments: str) -> None:
    """Do it, as the command line does."""
    CATALOGUE._subject = lambda _variant: FullPlane()
    FullPlane.fails = action == "fail"
    if action == "verb":
        verb, *rest = arguments
        import_module(f"nfvbed.cli.{verb}").command.main(rest, standalone_mode=False)
        return
    project = open_project()
    site = LabPlanes(LabMachine(project.load_site("lab"), project.root))
    print("started", flush=True)
    deployment = site.deploy(project.load_variant("linux-bridge"), "p2p")
    print("deployed", flush=True)
    if action == "hold":
        time.sleep(600)
    site.destroy(deployment)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except NfvbedError as failure:
        print(failure, file=sys.stderr)
        sys.exit(failure.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
