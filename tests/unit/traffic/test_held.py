"""A generator that frees its ports, and is another process afterwards."""

from typing import ClassVar

import pytest

from nfvbed.errors import GeneratorError, SwitchDiedError, UnsupportedError
from nfvbed.traffic.generator import Generator
from nfvbed.traffic.reopenable import ReopenableGenerator


class Opened(Generator):
    """Counts those that are open."""

    made: ClassVar[list["Opened"]] = []
    """Emptied by every test."""
    ports = ()

    def __init__(self):
        self.open = True
        Opened.made.append(self)

    def hello(self):
        return self

    def run(self, request):
        return self, request

    def close(self):
        self.open = False


@pytest.fixture(autouse=True)
def _none_made():
    Opened.made.clear()


def test_ports_are_free_within_and_taken_again_after():
    held = ReopenableGenerator(Opened)
    with held.ports_free():
        assert [one.open for one in Opened.made] == [False]
    assert [one.open for one in Opened.made] == [False, True]
    assert held.hello() is Opened.made[1]
    assert held.run("load") == (Opened.made[1], "load")
    held.close()
    assert not Opened.made[1].open


def test_after_what_keeps_the_deployment_it_is_opened_again():
    held = ReopenableGenerator(Opened)
    with pytest.raises(UnsupportedError), held.ports_free():
        raise UnsupportedError("no macvlan")
    assert Opened.made[-1].open


@pytest.mark.parametrize("error", [SwitchDiedError("gone"), GeneratorError("iperf3 failed")])
def test_after_what_ends_the_deployment_it_stays_closed(error):
    held = ReopenableGenerator(Opened)
    with pytest.raises(type(error)), held.ports_free():
        raise error
    assert [one.open for one in Opened.made] == [False]
    held.close()
