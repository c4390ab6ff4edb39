# SPDX-License-Identifier: Apache-2.0
"""nfvgen's engines keep the laws of every generator, on real ports that are each other's peer; one process an engine.

What only one engine has is in `test_nfvgen_dpdk*.py` and `test_nfvgen_xdp*.py`.
"""

from contextlib import contextmanager

import pytest

from nfvbed.host.workspace.workspace import Workspace
from nfvbed.measure.trial import wait_for_links
from nfvbed.records import GeneratorPort, PortKind
from nfvbed.traffic.nfvgen import NfvgenClient, NfvgenOptions
from tests.functional.dpdk_driver import BINARY, CORE, NEEDED_PAGES, loop_ports
from tests.functional.xdp_driver import Namespace
from tests.generator_laws import LAWS, Opened

LINKS = ("nfvta", "nfvtb")
KINDS = {"vhost": PortKind.VHOST_USER, "memif": PortKind.MEMIF}


@contextmanager
def client(engine, ports):
    workspace = Workspace.create()
    try:
        if engine == "dpdk":
            workspace.hugepages(NEEDED_PAGES * 2)
        pair = ports(workspace)
        options = NfvgenOptions(
            binary=BINARY,
            engine=engine,
            ports=pair,
            core=CORE,
            socket_path=workspace.directory / "nfvgen.sock",
            file_prefix=f"nfvbed-{workspace.id}",
        )

        def spawn(argv):
            return workspace.spawn("nfvgen", argv, cores=(CORE,), netns=pair[0].netns)

        generator = NfvgenClient(options, spawn)
        wait_for_links(generator)
        yield Opened(generator)
        generator.close()
    finally:
        assert workspace.close() == []


@contextmanager
def dpdk(kind):
    def ports(workspace):
        specs = loop_ports(kind, workspace.directory)
        return tuple(GeneratorPort(engine="dpdk", spec=spec, kind=KINDS[kind]) for spec in specs)

    with client("dpdk", ports) as opened:
        yield opened


@contextmanager
def xdp():
    namespace = Namespace()
    try:
        namespace.pair(*LINKS)
        netns = f"/run/netns/{namespace.name}"
        ports = tuple(GeneratorPort(engine="xdp", spec=link, kind=PortKind.VETH, netns=netns) for link in LINKS)
        with client("xdp", lambda workspace: ports) as opened:
            yield opened
        assert namespace.attached() == set()
    finally:
        namespace.close()


ENGINES = {"dpdk-vhost": lambda: dpdk("vhost"), "dpdk-memif": lambda: dpdk("memif"), "xdp": xdp}


@pytest.fixture(scope="module", name="opened", params=ENGINES)
def _opened(request):
    with ENGINES[request.param]() as opened:
        yield opened


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(opened, law):
    law(opened)
