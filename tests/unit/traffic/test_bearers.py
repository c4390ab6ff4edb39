"""A generator all of whose trials go over bearers."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from nfvbed.errors import ConfigurationError
from nfvbed.records import Engine
from nfvbed.traffic.bearers import BearerGenerator
from nfvbed.traffic.generator import Addressing, BearerPath, Generator, GeneratorInfo, TrafficRequest
from tests.unit.traffic.bearer_tables import bearer_table

REQUEST = TrafficRequest(duration_ns=1_000_000, frame_size=64)


class Asked(Generator):
    """A double that keeps what it is asked, and sends nothing."""

    ports = ("port 0", "port 1")

    def __init__(self):
        self.requests, self.calls = [], []

    def hello(self):
        sizes = {"min_frame_size_bytes": 64, "max_frame_size_bytes": 1518}
        threads = {"pid": 1, "thread_id": 2, "core": 1, "tsc_hz": 1}
        engine = Engine(name="double", version="1")
        return GeneratorInfo(engine=engine, **threads, **sizes, max_flows=1_000_000, link_up=(True, True))

    def run(self, request):
        self.requests.append(request)
        return SimpleNamespace(of=request)

    def wait_until_ready(self):
        self.calls.append("wait_until_ready")

    def close(self):
        self.calls.append("close")


@pytest.mark.parametrize("flows", [1, 3])
def test_every_trial_goes_over_the_bearers_of_that_moment(flows):
    inner = Asked()
    generator = BearerGenerator(inner, BearerPath(bearer_table(3)))
    request = replace(REQUEST, rate_pps=5, flows=flows)
    generator.run(request)
    assert inner.requests == [replace(request, bearers=generator.path)]
    generator.path = BearerPath(bearer_table(1))
    generator.run(REQUEST)
    assert inner.requests[1].bearers == generator.path


def test_limits_are_those_of_the_longer_side_and_of_the_table():
    inner = Asked()
    info = BearerGenerator(inner, BearerPath(bearer_table(40))).hello()
    assert (info.min_frame_size_bytes, info.max_frame_size_bytes, info.max_flows) == (64, 1482, 40)


def test_the_generator_is_waited_for_and_closed_with_it():
    inner = Asked()
    generator = BearerGenerator(inner, BearerPath(bearer_table(1)))
    generator.wait_until_ready()
    generator.close()
    assert inner.calls == ["wait_until_ready", "close"]
    assert generator.ports == inner.ports


@pytest.mark.parametrize(
    ("change", "observed"),
    [
        ({"ip": 6}, "IPv6"),
        ({"vlan": 7}, "VLAN tag 7"),
        ({"flows": 2}, "2 flows"),
        ({"addressing": Addressing(flow_address="destination")}, "destination"),
    ],
)
def test_what_bearers_do_not_leave_to_be_chosen_is_refused(change, observed):
    inner = Asked()
    with pytest.raises(ConfigurationError, match=observed):
        BearerGenerator(inner, BearerPath(bearer_table(3))).run(replace(REQUEST, **change))
    assert not inner.requests
