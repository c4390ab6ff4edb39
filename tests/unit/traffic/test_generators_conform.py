"""Generators that send nothing keep the laws of those that do: the simulated one, and TRex as its double counts."""

import os
import sys
from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.records import GeneratorPort, PortKind
from nfvbed.sites.simulated.site import SimulatedSite
from nfvbed.spec.remote import TrexSpec
from nfvbed.traffic.nfvgen import NfvgenClient
from nfvbed.traffic.trexoptions import TrexOptions, write_archive
from tests.generator_laws import LAWS, Engine, Opened
from tests.unit.traffic.trex.folder import CONFIGURATION, PORTS, install
from tests.unit.traffic.trex.processes import Started
from tests.unit.traffic.trex.trex_double import LOST_OF


def _simulated(folder):
    site, variant = SimulatedSite(), open_project().load_variant("simulated")
    options = variant.options.model_copy(update={"burst_probability_per_s": 0.0, "noise": 0.0})
    deployment = site.deploy(variant.model_copy(update={"options": options}), "p2p")
    yield Opened(site.open_generator(deployment), Engine(own_time=True, refuses_too_long=False, samples_latency=True))


def _trex(folder):
    trex = install(folder / "trex")
    write_archive(folder)
    options = TrexOptions(
        binary=Path(sys.executable),
        engine="dpdk",
        ports=tuple(GeneratorPort(engine="dpdk", spec=f"pci:{pci}", kind=PortKind.PCI) for pci in PORTS),
        core=1,
        socket_path=folder / "trex.sock",
        trex=TrexSpec(folder=str(trex), configuration=str(trex / CONFIGURATION)),
    )
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    process = Started(folder / "log", environment, folder)
    generator = NfvgenClient(options, process.spawn)
    yield Opened(generator, Engine(lost_of=LOST_OF, stamps=False, most_pps=4_000_000))
    generator.close()
    process.stop()


@pytest.fixture(scope="module", name="opened", params=[_simulated, _trex], ids=["simulated", "trex"])
def _opened(request, tmp_path_factory):
    yield from request.param(tmp_path_factory.mktemp("generator"))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(opened, law):
    law(opened)
