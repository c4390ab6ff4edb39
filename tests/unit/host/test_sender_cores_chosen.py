"""A generator on kernel ports gets a second core where the arrangement has one and a measurement says so."""

from types import SimpleNamespace

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.host import generator as module
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.cores.topology import CpuTopology
from nfvbed.host.generator import GeneratorStarter
from nfvbed.records import Deployment, GeneratorPort, PortKind
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.traffic.nfvgen import NfvgenOptions
from nfvbed.units import NS_PER_S

PROJECT = open_project()
VETH = GeneratorPort(engine="xdp", spec="g0", kind=PortKind.VETH, netns="/run/netns/x")
RATES = {1: 5e6, 2: 8e6}


class Sender:
    """Sends as fast as so many cores do, and is closed once."""

    def __init__(self, options: NfvgenOptions, opened: list[tuple[int, ...]]) -> None:
        self._cores = 1 + len(options.more_cores)
        opened.append((options.core, *options.more_cores))

    def wait_until_ready(self) -> None:
        """Do nothing: this sender is ready at once."""

    def run(self, request):
        each = RATES[self._cores] * request.duration_ns / NS_PER_S / 2
        return SimpleNamespace(duration_ns=request.duration_ns, directions=[SimpleNamespace(in_time=each)] * 2)

    def close(self) -> None:
        """Do nothing: no process runs."""


@pytest.fixture(name="opened")
def _opened(monkeypatch):
    opened: list[tuple[int, ...]] = []
    monkeypatch.setattr(module, "NfvgenClient", lambda options, spawn, wait: Sender(options, opened))
    monkeypatch.setattr(module, "native_binary", lambda name, root: root / name)
    return opened


def starter(tmp_path, more):
    arrangement = Arrangement(switch_cores=(2,), generator_core=3, more_generator_cores=more, control_cores=(0,))
    workspace = SimpleNamespace(id="w", directory=tmp_path)
    return GeneratorStarter(workspace, arrangement, 128, tmp_path)


def deployment(topology="p2p"):
    return Deployment(id="1", variant="linux-bridge", site="lab", topology=topology, ports=(VETH, VETH))


def test_it_is_measured_once_for_a_deployment_and_told(tmp_path, opened, caplog):
    here = starter(tmp_path, more=(4,))
    here.start(deployment())
    assert opened == [(3,), (3, 4), (3, 4), (3,), (3, 4)]
    assert "from a core for each port: 8 Mpps" in caplog.text
    here.start(deployment())
    assert opened[5:] == [(3, 4)]


def test_a_host_without_a_free_core_measures_nothing(tmp_path, opened):
    starter(tmp_path, more=()).start(deployment())
    assert opened == [(3,)]


@pytest.mark.parametrize(("cores", "more"), [(2, 0), (3, 0), (4, 1), (8, 1)])
def test_a_core_for_the_second_port_is_one_that_nobody_else_has(cores, more):
    site = LabMachine(PROJECT.load_site("lab"), PROJECT.root)
    every = tuple(range(cores))
    site.topology = CpuTopology(allowed=every, nodes=(every,), siblings=tuple((core,) for core in every))
    found = site.arrangement(PROJECT.load_variant("linux-bridge"))
    assert len(found.more_generator_cores) == more
    assert not {*found.more_generator_cores} & {*found.switch_cores, found.generator_core, *found.control_cores}
    assert site.arrangement(PROJECT.load_variant("ovs-dpdk")).more_generator_cores == ()
