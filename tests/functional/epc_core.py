"""The functions of a vEPC by themselves: their gateways' ports lead nowhere."""

import contextlib

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.vnfs.epc import network
from nfvbed.vnfs.epc.core import Core, FunctionCores

PROJECT = open_project()
BEYOND = "02:4e:46:58:00:00"
SEATS = FunctionCores((0,), (0, 1))


def _port(netns, name, lead):
    def work():
        links.add_veth(name, f"{name}x", ("02:4e:46:58:00:01", "02:4e:46:58:00:02"))
        links.silence_ipv6((name, f"{name}x"))
        links.set_up((name, f"{name}x"))
        lead(network.DataPort(name, BEYOND))

    inside(netns, work)


@contextlib.contextmanager
def running(subscribers, pcrf="nextepc"):
    """Start them with these subscribers and this PCRF; nothing of them is left."""
    workspace = Workspace.create()
    try:
        spaces = network.make(workspace, "vnf1")
        _port(spaces.functions["sgw"], "s1u", network.lead_s1u)
        _port(spaces.functions["pgw"], "sgi", network.lead_sgi)
        core = Core(workspace, "vnf1", pcrf)
        core.start(spaces, SEATS, PROJECT.root, subscribers)
        yield core
        core.kill()
    finally:
        assert workspace.close() == []
