"""The speed of NICs is kept with a run: a rate is read against it."""

import dataclasses

import pytest

from nfvbed.records import Deployment, PortKind
from nfvbed.records.trial import PORTS
from nfvbed.store import Store
from nfvbed.traffic.generator import Generator, GeneratorInfo
from tests.unit.run.simulated_runs import WatchedSite, only_run, runner, study


class OnNics(WatchedSite):
    """Its generator's ports are NICs, of which one tells its speed."""

    def open_generator(self, deployment: Deployment) -> Generator:
        generator = super().open_generator(deployment)
        generator.ports = tuple(port.model_copy(update={"kind": PortKind.PCI}) for port in generator.ports)
        hello = generator.hello

        def told() -> GeneratorInfo:
            return dataclasses.replace(hello(), raw={"ports": [{"speed_mbps": 25_000}, {"speed_mbps": None}]})

        generator.hello = told
        return generator


@pytest.fixture
def store(place: str) -> Store:
    with Store.open(place) as opened:
        yield opened


def test_speeds_of_nics_are_kept_and_those_of_virtual_ports_are_not(store: Store) -> None:
    runner(store, OnNics).start(study())
    told = [fact.detail for fact in store.facts(only_run(store).id) if fact.step == PORTS]
    assert [(detail["variant"], detail["speeds_mbps"]) for detail in told[:1]] == [("sim-a", [25_000, None])]


def test_virtual_ports_tell_none(store: Store) -> None:
    runner(store).start(study())
    assert PORTS not in [fact.step for fact in store.facts(only_run(store).id)]
